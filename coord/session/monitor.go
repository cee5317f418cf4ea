package session

// The monitor of a session: what it remembers of earlier events, and the list of invariants that it checks.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Edge is one event of a session, with the states before and after it and its effects.
type Edge struct {
	From    State
	Event   Event
	To      State
	Effects []Effect
}

// Seen is what the monitor remembers of earlier events. The zero value is for a new session. It is made from events and
// effects, so that the monitor notices a wrong state. Only Due, Given, For and Loose also depend on a state.
type Seen struct {
	Live   response.ID     // the response that is announced and has not ended; 0 is none
	Newest response.ID     // the response that was announced last
	Body   response.ID     // the response whose body runs; 0 is none
	Ended  turn.ID         // the newest turn that was committed, discarded or rejected
	Due    turn.ID         // the turn that the detector committed and that has no response yet; 0 is none
	Words  bool            // the text of Due is there
	Given  response.ID     // the newest response that the client has cancelled or cleared, with all older ones
	Heard  response.ID     // the newest response that was sent to its end
	Taken  bool            // a turn has ended a response, and the response was neither cancelled by the client nor created again
	For    machine.Request // the request of the newest response, until the response is over
	Loose  turn.ID         // the turn that was open when the settings changed: the agent may speak during this turn
	Down   bool            // teardown has begun
}

// Invariant is one thing that must hold after every event.
type Invariant struct {
	Name  string // as in the formal spec
	Holds func(before, after Seen, e Edge) bool
}

// Watch returns what the monitor remembers after e, and the name of the first invariant that does not hold, or "".
func Watch(before Seen, e Edge) (Seen, string) {
	after := See(before, e)
	for _, inv := range Invariants {
		if !inv.Holds(before, after, e) {
			return after, inv.Name
		}
	}
	return after, ""
}

// See returns what the monitor remembers after e, if it remembered g before.
func See(g Seen, e Edge) Seen {
	g = g.event(e)
	for _, f := range e.Effects {
		g = g.effect(e, f)
	}
	if _, silent := e.To.Playout.(playout.Silent); silent && e.To.Queued == (Queue{}) {
		g.Given = 0 // no audio of it is left
	}
	if g.idle(e.To) && !g.Taken {
		g.For = machine.Request{} // the response is over
	}
	return g
}

// idle reports whether in s no turn is open or waits for its response, no response is live, and no audio plays.
func (g Seen) idle(s State) bool {
	silent := playout.Sounding(s.Playout) == 0 && s.Queued == Queue{}
	return conn.Up(s.Conn) && turn.Open(s.Turn) == 0 && g.Live == 0 && silent && g.Due == 0
}

// event returns what the monitor remembers after the event of e, before its effects.
func (g Seen) event(e Edge) Seen {
	switch ev := e.Event.(type) {
	case OfResponse:
		if b, ended := ev.Event.(response.BodyEnded); ended && b.ID == g.Body {
			g.Body = 0
		}
	case OfPlayout:
		if _, clears := ev.Event.(playout.Clear); clears && g.Live == 0 {
			g.Given, g.Taken = g.Newest, false
		}
	case Configure:
		g.Loose = turn.Open(e.To.Turn)
	case OfConn, OfTurn, OfSynthesis, OfTranscription:
	}
	return g
}

// effect returns what the monitor remembers after the effect f of e.
func (g Seen) effect(e Edge, f Effect) Seen {
	switch f := f.(type) {
	case response.EmitCreated:
		g.Live, g.Newest, g.For, g.Taken = f.ID, f.ID, f.Request, false
		g.Due, g.Words = 0, false
	case response.EmitTerminal:
		g.Live = 0
		switch f.Status {
		case response.TurnDetected:
			g.Taken = true
		case response.ClientCancelled:
			g.Given, g.Taken = g.Newest, false
		case response.Completed, response.Incomplete, response.Failed, response.SessionEnded:
		}
	case response.StartBody:
		g.Body = f.ID
	case playout.EmitStopped:
		g.Heard = f.Resp
	case playout.Drop:
		g.Taken = g.Taken || f.Resp > max(g.Given, g.Heard) && byVoice(e.Event)
	case turn.RejectCandidate:
		g.Ended = f.Turn
	case turn.DiscardTurn:
		g.Ended = f.Turn
	case turn.CommitTurn:
		g.Ended = f.Turn
		switch {
		case !f.ByClient && e.From.Config.CreateResponse:
			g.Due, g.Words = f.Turn, f.Wordless
		case g.Live == 0:
			g.Taken = false // the client has to ask for a response again
		}
	case transcription.DeliverText:
		g = g.text(f.Turn, !f.Empty)
	case transcription.DeliverFailure:
		g = g.text(f.Turn, false)
	case conn.StopChildren:
		g.Down, g.Due, g.Words, g.Taken = true, 0, false, false
	}
	return g
}

// text returns what the monitor remembers after the text of turn t has come. A turn without words gets no response.
func (g Seen) text(t turn.ID, words bool) Seen {
	if t == g.Due {
		g.Words = words
		if !words {
			g.Due = 0
		}
	}
	return g
}

// byVoice reports whether a turn, and not the client, causes the event to drop a response.
func byVoice(e Event) bool {
	switch e.(type) {
	case OfTurn, OfTranscription, Configure:
		return true
	case OfResponse, OfPlayout, OfConn, OfSynthesis:
	}
	return false
}
