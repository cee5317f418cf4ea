package session

// The monitor of a session: what it remembers of earlier events, and the list of invariants that it checks.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Edge is one event with everything that it led to.
type Edge struct {
	From    State
	Event   Event
	To      State
	Effects []Effect
}

// Seen is what a monitor of a whole session remembers. The zero value has seen
// nothing. It follows events and effects alone, so that it and the state can disagree.
type Seen struct {
	Live   response.ID // announced and not terminal; 0 is none
	Newest response.ID // announced last
	Body   response.ID // whose goroutine runs
	Ended  turn.ID     // newest that was committed, discarded or rejected
	Due    turn.ID     // committed by the detector, to be answered; 0 is none
	Words  bool        // and its text is there
	Given  response.ID // newest that the client has given up, with those before it
	Heard  response.ID // newest that was sent to its end: what is cut off of it is its tail
	Taken  bool        // a reply was taken away by the user's voice, and neither given up nor made again
	For    id.Request  // of the newest response, until nothing of it is left
	Loose  turn.ID     // it was open when the configuration changed: it may lie beside the agent's voice
	Down   bool        // teardown has begun
}

// Invariant is one thing that must hold after every event.
type Invariant struct {
	Name  string // as in the formal spec
	Holds func(before, after Seen, e Edge) bool
}

// Watch returns what is seen after e, and the name of the first invariant that does not hold, or "".
func Watch(before Seen, e Edge) (Seen, string) {
	after := See(before, e)
	for _, inv := range Invariants {
		if !inv.Holds(before, after, e) {
			return after, inv.Name
		}
	}
	return after, ""
}

// See returns what is seen after e.
func See(g Seen, e Edge) Seen {
	g = g.event(e)
	for _, f := range e.Effects {
		g = g.effect(e, f)
	}
	if _, silent := e.To.Playout.(playout.Silent); silent && e.To.Queued == (Queue{}) {
		g.Given = 0 // nothing of it is left to be taken
	}
	if g.idle(e.To) && !g.Taken {
		g.For = id.Request{} // nothing of it can be lost any more
	}
	return g
}

// idle reports whether nobody speaks, works or is heard in s.
func (g Seen) idle(s State) bool {
	silent := sounding(s.Playout) == 0 && s.Queued == Queue{}
	return conn.Up(s.Conn) && turn.Open(s.Turn) == 0 && g.Live == 0 && silent && g.Due == 0
}

// event follows what the event itself says.
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

// effect follows one effect of e.
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
			g.Taken = false // it is the client's to ask for again
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

// text: the words of turn t are there, or there are none, and then there is nothing to answer.
func (g Seen) text(t turn.ID, words bool) Seen {
	if t == g.Due {
		g.Words = words
		if !words {
			g.Due = 0
		}
	}
	return g
}

// byVoice: a turn decides about the agent's voice, and no client.
func byVoice(e Event) bool {
	switch e.(type) {
	case OfTurn, OfTranscription, Configure:
		return true
	case OfResponse, OfPlayout, OfConn, OfSynthesis:
	}
	return false
}
