package session

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/wire"
)

// Responses beside the conversation: conversation "none". Each has machines of its own, reads what it is given, writes
// nothing into the conversation, and is never spoken over WebRTC.

const (
	maxBeside   = 8                    // at a time
	firstBeside = response.ID(1) << 63 // their ids: those of the conversation's count up from 1
)

// beside is what a response outside the conversation has for itself.
type beside struct {
	response  response.State
	synthesis synthesis.State
	seen      response.Seen // when invariants are checked
	waits     bool          // its body has not begun
}

// besideEnded is the end of a body that never began.
type besideEnded struct {
	id     response.ID
	status response.Status
}

// createBeside begins a response outside the conversation.
func (s *Session) createBeside(q *wire.ResponseParams) {
	if s.player.ServerPaced() && len(q.OutputModalities) > 0 && q.OutputModalities[0] == modalityAudio {
		s.fail(failure{
			code: wire.CodeInvalidValue, param: "response.output_modalities",
			message: "over WebRTC a response outside the conversation is text: its voice would sound over the conversation's; want [\"text\"]",
		})
		return
	}
	live := 0
	for _, r := range s.replies {
		if r.beside != nil {
			live++
		}
	}
	if live >= maxBeside {
		s.fail(failure{
			code: "too_many_responses", param: "response.conversation",
			message: fmt.Sprintf("%d responses outside the conversation run already: wait for the response.done of one", live),
		})
		return
	}
	s.lastBeside++
	r := s.newReply(firstBeside+s.lastBeside, cause{request: q}, nil)
	r.beside = &beside{response: response.Idle{}, synthesis: synthesis.Closed{}}
	s.replies[r.id] = r
	s.stepBeside(r, response.Create{ID: r.id})
}

// stepBeside runs one event through the machine of r.
func (s *Session) stepBeside(r *reply, e response.Event) {
	b := r.beside
	from := b.response
	next, effects, row := response.Table.Next(from, e)
	b.response = next
	if s.cfg.CheckInvariants {
		var broken string
		edge := machine.Edge[response.State, response.Event, response.Effect]{From: from, Event: e, To: next, Effects: effects}
		if b.seen, broken = response.Monitor.Watch(b.seen, edge); broken != "" {
			s.log.Error(invariantBroken, "invariant", broken, "event", e.Name())
		}
	}
	s.traced(r, coord.Step{
		Machine: "response", From: from, Event: e, To: next, Effects: named(effects),
		Action: response.Table[row].Action, Why: response.Table[row].Why,
	})
	for _, f := range effects {
		s.performBeside(r, f)
	}
}

// voiceBeside runs one event through the queue of clauses of r.
func (s *Session) voiceBeside(r *reply, e synthesis.Event) {
	b := r.beside
	from := b.synthesis
	next, effects, row := synthesis.Table.Next(from, e)
	b.synthesis = next
	s.traced(r, coord.Step{
		Machine: "synthesis", From: from, Event: e, To: next, Effects: named(effects),
		Action: synthesis.Table[row].Action, Why: synthesis.Table[row].Why,
	})
	for _, f := range effects {
		s.performSynthesis(r, f)
	}
}

func named[F machine.Named](effects []F) []coord.Effect {
	var out []coord.Effect
	for _, f := range effects {
		out = append(out, f)
	}
	return out
}

// traced records a step of r's own machines: in the trace r is a session of its own within this one.
func (s *Session) traced(r *reply, st coord.Step) {
	s.log.Debug("transition", "response", r.object.ID, "machine", st.Machine, "from", st.From.Name(), "event", st.Event.Name(),
		"action", st.Action, "to", st.To.Name(), "why", st.Why)
	if s.cfg.Trace != nil {
		s.cfg.Trace(s.id+"."+r.object.ID, st)
	}
}

// performBeside does what an effect of r's own machine says.
func (s *Session) performBeside(r *reply, f response.Effect) {
	switch f := f.(type) {
	case response.EmitCreated:
		s.announce(r)
	case response.EmitTerminal:
		s.terminal(r, f.Status)
	case response.StartBody:
		s.traced(r, coord.Step{Machine: "synthesis", From: r.beside.synthesis, Event: f, To: synthesis.Open{}, Action: "Begin"})
		r.beside.synthesis, r.beside.waits = synthesis.Open{}, true
		s.startWaiting()
	case response.CancelBody:
		if r.beside.waits {
			r.beside.waits = false
			s.again(besideEnded{r.id, response.ClientCancelled})
			return
		}
		s.voiceBeside(r, synthesis.Cancel{})
		r.body.cancel()
	case response.RejectNotActive:
		s.notActive()
	case response.RejectActive, response.ReportDone:
	}
}

// startBeside begins the bodies that wait.
func (s *Session) startBeside() {
	for _, r := range s.replies {
		if b := r.beside; b != nil && b.waits {
			b.waits = false
			s.start(r)
		}
	}
}

// shutBeside ends what runs beside the conversation, with the session.
func (s *Session) shutBeside() {
	for _, r := range s.replies {
		if r.beside != nil {
			s.stepBeside(r, response.Shutdown{})
		}
	}
}

// --- what a reply's events go to: the session's machines, or its own

func (s *Session) tellVoice(r *reply, e synthesis.Event) {
	if r.beside != nil {
		s.voiceBeside(r, e)
		return
	}
	s.step(coord.OfSynthesis{Event: e})
}

func (s *Session) bodyEnded(r *reply, status response.Status) {
	e := response.BodyEnded{ID: r.id, Status: status}
	if r.beside != nil {
		s.stepBeside(r, e)
		return
	}
	s.step(coord.OfResponse{Event: e})
}

// bodyless ends the wait for a body of r that never begins.
func (s *Session) bodyless(r *reply, status response.Status) {
	r.body = &body{id: r.id, cancel: func() {}, free: func() {}} // an interruption that comes first finds one to end
	if r.beside != nil {
		s.again(besideEnded{r.id, status})
		return
	}
	s.again(coord.OfSynthesis{Event: synthesis.WorkerExited{}})
	s.again(coord.OfResponse{Event: response.BodyEnded{ID: r.id, Status: status}})
}

func (s *Session) endedBeside(e besideEnded) {
	if r := s.replies[e.id]; r != nil {
		s.voiceBeside(r, synthesis.WorkerExited{})
		s.stepBeside(r, response.BodyEnded{ID: e.id, Status: e.status})
		s.forget(r)
	}
}

// besideRuns: the body of r has not ended.
func (b *beside) runs() bool {
	switch b.response.(type) {
	case response.Idle, response.Terminated:
		return false
	case response.Active, response.Draining, response.Replacing, response.Terminating:
	}
	return true
}

// cancel ends the response with that name, or the conversation's when it is empty.
func (s *Session) cancelResponse(name string) {
	id := s.target(name)
	if r := s.replies[id]; r != nil && r.beside != nil {
		s.stepBeside(r, response.Cancel{Target: id})
		return
	}
	s.step(coord.OfResponse{Event: response.Cancel{Target: id}})
}

func (s *Session) notActive() {
	s.fail(failure{code: "response_cancel_not_active", message: "Cancellation failed: no active response found"})
}
