package speaking

// Out-of-band responses: conversation "none". Each has a response machine and a synthesis machine of its own, reads the input of
// its request, or the conversation if the request has none, adds nothing to the conversation, and is never spoken over WebRTC.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	maxOutOfBand   = 8                    // how many may run at a time
	firstOutOfBand = response.ID(1) << 63 // their ids; those of the conversation count up from 1
)

// The machines of an out-of-band response.
var (
	ownResponse = room.Machine[response.State, response.Event, response.Effect, response.Seen]{
		Name: "response", Table: response.Table, Monitor: response.Monitor,
	}
	ownSynthesis = room.Machine[synthesis.State, synthesis.Event, synthesis.Effect, synthesis.Seen]{
		Name: "synthesis", Table: synthesis.Table, Monitor: synthesis.Monitor,
	}
)

// outOfBand has the machines of one out-of-band response.
type outOfBand struct {
	response  response.State
	synthesis synthesis.State
	seen      response.Seen // when invariants are checked
}

// CreateOutOfBand begins an out-of-band response, or returns the failure that says why it may not begin.
func (g *Generator) CreateOutOfBand(q *wire.ResponseParams) (room.List, *room.Failure) {
	if g.Player.ServerPaced() && len(q.OutputModalities) > 0 && q.OutputModalities[0] == modalityAudio {
		return nil, room.Refuse(wire.CodeInvalidValue, "response.output_modalities",
			"over WebRTC a response outside the conversation is text: its voice would sound over the conversation's; want [\"text\"]")
	}
	live := g.OutOfBand()
	if live >= maxOutOfBand {
		return nil, room.Refuse("too_many_responses", "response.conversation",
			fmt.Sprintf("%d responses outside the conversation run already: wait for the response.done of one", live))
	}
	g.lastOwn++
	r := g.newResponse(firstOutOfBand+g.lastOwn, cause{request: q}, nil)
	r.own = &outOfBand{response: response.Idle{}, synthesis: synthesis.Closed{}}
	g.responses[r.id] = r
	return g.respond(r, response.Create{ID: r.id}), nil
}

// OutOfBand returns how many out-of-band responses run.
func (g *Generator) OutOfBand() (live int) {
	for _, r := range g.responses {
		if r.OutOfBand() {
			live++
		}
	}
	return live
}

// CancelOutOfBand cancels the response of, if it is out of band. ok is false if it is not.
func (g *Generator) CancelOutOfBand(of response.ID) (out room.List, ok bool) {
	r := g.responses[of]
	if r == nil || !r.OutOfBand() {
		return nil, false
	}
	return g.respond(r, response.Cancel{Target: of}), true
}

// NotActive returns the failure of a response.cancel that meets no active response.
func NotActive() *room.Failure {
	return &room.Failure{Code: "response_cancel_not_active", Message: "Cancellation failed: no active response found"}
}

// ShutOutOfBand ends every out-of-band response, with the session.
func (g *Generator) ShutOutOfBand() (out room.List) {
	for _, r := range g.inOrder() {
		if r.OutOfBand() {
			out = append(out, g.respond(r, response.Shutdown{})...)
		}
	}
	return out
}

// respond runs an event through the response machine that serves r: the session's, or r's own.
func (g *Generator) respond(r *Response, e response.Event) room.List {
	own := r.own
	if own == nil {
		return room.List{room.Step{Event: coord.OfResponse{Event: e}}}
	}
	effects, st := ownResponse.Step(&own.response, &own.seen, e, g.Broken)
	g.note(r, st)
	var out room.List
	for _, f := range effects {
		out = append(out, g.performOwn(r, f)...)
	}
	return out
}

// synthesize runs an event through the synthesis machine that serves r: the session's, or r's own.
func (g *Generator) synthesize(r *Response, e synthesis.Event) room.List {
	own := r.own
	if own == nil {
		return room.List{room.Step{Event: coord.OfSynthesis{Event: e}}}
	}
	effects, st := ownSynthesis.Step(&own.synthesis, nil, e, nil)
	g.note(r, st)
	for _, f := range effects {
		g.performSynthesis(r, f)
	}
	return nil
}

// performOwn performs an effect of r's own response machine.
func (g *Generator) performOwn(r *Response, f response.Effect) room.List {
	switch f := f.(type) {
	case response.EmitCreated:
		return g.announce(r)
	case response.EmitTerminal:
		return g.End(f)
	case response.StartBody:
		g.note(r, coord.Step{Machine: "synthesis", From: r.own.synthesis, Event: f, To: synthesis.Open{}, Action: "Begin"})
		r.own.synthesis = synthesis.Open{}
		return g.step(r, generation.Ask{})
	case response.CancelBody:
		out := g.step(r, generation.Cancel{})
		if r.body != nil && !r.body.never {
			out = append(out, g.synthesize(r, synthesis.Cancel{})...)
		}
		return out
	case response.RejectNotActive:
		return room.List{room.Fail{Failure: NotActive()}}
	case response.RejectActive: // an out-of-band response has a machine of its own
	}
	return nil
}

// note logs a step and gives it to the trace. There, r is a session of its own within this one.
func (g *Generator) note(r *Response, st coord.Step) {
	g.log(r, st)
	if g.Trace != nil {
		g.Trace(r.object.ID, st)
	}
}

// log logs a step of a machine that belongs to r alone.
func (g *Generator) log(r *Response, st coord.Step) {
	room.LogStep(g.Log.With("response", r.object.ID), st)
}
