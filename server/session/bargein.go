package session

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/output"
	"github.com/antiphon-rt/antiphon/wire"
)

// The events of a client that predicts barge-ins, and what the player posts. The player knows what was played
// (package output), the machines decide, and this file carries events from one to the other.

// mayReport reports whether the client in hand has said that it predicts barge-ins. One that has not gets an error.
func (s *Session) mayReport() bool {
	if !s.reports || s.side != nil {
		s.fail(failure{
			code: "unsupported_event", param: "type",
			message: "antiphon.barge_in events are for clients that predict interruptions: send antiphon.hello with barge_in first",
		})
	}
	return s.reports && s.side == nil
}

// candidate takes the report of the client's detector that somebody may be interrupting. Every report is answered, but
// for one about a response that was cut a short time ago: the events of that cut are on their way and are the answer.
func (s *Session) candidate(e *wire.AntiphonBargeInCandidate) {
	if !s.mayReport() || s.player.WasCut(e.ResponseID) {
		return
	}
	fresh, opens := s.player.TakeCandidate(e.Candidate, e.ResponseID, s.state.Playout)
	if opens {
		s.open(e)
	}
	s.send(s.player.Acknowledge(e.ID()))
	if fresh && s.player.Judged() { // there is nothing to interrupt, or the client may not
		s.send(s.player.RejectNewest())
	}
}

// open has the machines take the client's newest candidate.
func (s *Session) open(e *wire.AntiphonBargeInCandidate) {
	was := turn.Open(s.state.Turn)
	s.stepAt(s.player.DuckedAt(e.RTPTimestamp), coord.OfTurn{Event: turn.ClientCandidate{}})
	c, is := s.state.Turn.(turn.Candidate)
	if !is {
		return
	}
	s.player.Opened(c.Turn)
	if c.Turn != was {
		h, held := s.state.Playout.(playout.Held)
		s.input.OpenPredicted(c.Turn, held && h.Tail)
	}
}

// ready takes the client's report that it plays at full level again.
func (s *Session) ready(e *wire.AntiphonBargeInReady) {
	if !s.mayReport() {
		return
	}
	if ev, ok := s.player.Ready(e.Candidate, e.RTPTimestamp, s.state.Playout); ok {
		s.step(ev)
	}
}

// heard takes the client's report of what it played of a response that was cut.
func (s *Session) heard(e *wire.AntiphonBargeInHeard) {
	if !s.mayReport() || !s.player.ServerPaced() {
		return
	}
	cut, waits := s.state.Playout.(playout.Cut)
	if !waits || s.target(e.ResponseID) != cut.Resp {
		return
	}
	if ev, ok := s.player.Heard(s.replies[cut.Resp].track, e.RTPTimestamp); ok {
		s.step(ev)
	}
}

// fromPlayer takes what the player has posted.
func (s *Session) fromPlayer(e output.Event) {
	switch e := e.(type) {
	case output.Drained:
		s.do(s.player.Drained(e.Gen))
	case output.ReadyDue:
		s.estimate(s.player.EstimateReady(e))
	case output.HeardDue:
		if cut, ok := s.state.Playout.(playout.Cut); ok {
			s.estimate(s.player.EstimateHeard(e, s.replies[cut.Resp].track, cut.At))
		}
	case output.TailOver:
		s.player.TailOver(e.Resp)
		if r := s.replies[e.Resp]; r != nil {
			s.forget(r)
		}
	}
}

// estimate has the server's estimate stand in for a report that has not come in time.
func (s *Session) estimate(e output.Estimate) {
	before := s.state.Playout
	s.step(e.Event)
	if s.state.Playout == before {
		return
	}
	s.player.CountEstimate()
	s.log.Warn("a client did not report in time what it played: the server uses its estimate", "report", e.Report,
		"uncertain_ms", e.Uncertain.Milliseconds(), "estimates", s.player.Estimates())
}

// rejected tells the client that its candidate is rejected; e is nil where there is nothing to tell.
func (s *Session) rejected(e *wire.AntiphonBargeInRejected) {
	if e != nil {
		s.send(e)
	}
}

// replyOnAir is the response whose audio plays, nil for none.
func (s *Session) replyOnAir() *reply {
	if t := s.player.OnAir(); t != nil {
		return s.replies[t.Response()]
	}
	return nil
}
