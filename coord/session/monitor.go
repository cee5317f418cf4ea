package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
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

// Seen is what a monitor of a whole session remembers. The zero value has seen nothing.
type Seen struct {
	Live    response.ID // announced and not terminal; 0 is none
	Newest  response.ID // announced last
	Body    response.ID // whose goroutine runs
	Down    bool        // teardown has begun
	Changed bool        // the configuration has changed under way
}

// Invariant is one thing that must hold after every event.
type Invariant struct {
	Name  string // as in the formal spec
	Holds func(before, after Seen, e Edge) bool
}

// Watch returns what is seen after e, and the name of the first invariant that does not hold, or "".
func Watch(before Seen, e Edge) (Seen, string) {
	after, broken := see(before, e)
	if broken != "" {
		return after, broken
	}
	for _, inv := range Invariants {
		if !inv.Holds(before, after, e) {
			return after, inv.Name
		}
	}
	return after, ""
}

// see follows the effects one by one, since their order matters.
func see(g Seen, e Edge) (Seen, string) {
	if ended, ok := e.Event.(OfResponse); ok {
		if b, ok := ended.Event.(response.BodyEnded); ok && b.ID == g.Body {
			g.Body = 0
		}
	}
	if _, ok := e.Event.(Configure); ok {
		g.Changed = true
	}
	for _, f := range e.Effects {
		switch f := f.(type) {
		case response.EmitCreated:
			if g.Live != 0 {
				return g, "AtMostOneLive"
			}
			g.Live, g.Newest = f.ID, f.ID
		case response.EmitTerminal:
			if f.ID > g.Newest {
				return g, "TerminalAfterCreated"
			}
			if f.ID != g.Live {
				return g, "ExactlyOneTerminal"
			}
			g.Live = 0
		case response.StartBody:
			if g.Body != 0 {
				return g, "AtMostOneBody"
			}
			g.Body = f.ID
		case conn.StopChildren:
			g.Down = true
		}
		if g.Down && starts(f) {
			return g, "NoChildStartsAfterTeardown"
		}
	}
	return g, ""
}

func starts(f Effect) bool {
	switch f.(type) {
	case response.EmitCreated, response.StartBody, turn.OpenTurn, turn.OpenCandidate, turn.CommitTurn,
		playout.Play, playout.RewindAndResume, transcription.OpenStream, transcription.DecodeWhole, synthesis.Say:
		return true
	}
	return false
}

// Invariants are those of a whole session, in the words of the package comment.
var Invariants = []Invariant{
	{"ChildrenDieWithParent", func(_, g Seen, e Edge) bool {
		_, closed := e.To.Conn.(conn.Closed)
		return !closed || g.Body == 0 && g.Live == 0 && allEnded(e.To)
	}},
	{"HeldOnlyInTurn", func(_, _ Seen, e Edge) bool {
		held, ok := e.To.Playout.(playout.Held)
		return !ok || held.Candidate == turn.Open(e.To.Turn)
	}},
	{"NoOverlap", func(_, g Seen, e Edge) bool {
		_, playing := e.To.Playout.(playout.Playing)
		return g.Changed || !e.To.Config.Interrupt || !playing || turn.Open(e.To.Turn) == 0
	}},
	{"NothingOwedWhenIdle", func(_, g Seen, e Edge) bool {
		_, silent := e.To.Playout.(playout.Silent)
		return !e.To.Owed || turn.Open(e.To.Turn) != 0 || g.Live != 0 || !silent || e.To.Waiting != 0
	}},
	{"NoTurnLost", func(_, g Seen, e Edge) bool {
		w := e.To.Waiting
		return w == 0 || !e.To.Texted && (turnIn(e.To.Final) == w || turnIn(e.To.Older) == w) || e.To.Texted && !e.To.Config.Interrupt && g.Live != 0
	}},
	{"LiveIsLive", func(_, g Seen, e Edge) bool { return response.Live(e.To.Response) == g.Live }},
	{"InterruptionInOrder", func(_, _ Seen, e Edge) bool { return inOrder(e.Effects) }},
}

func allEnded(s State) bool {
	_, idle := s.Turn.(turn.Idle)
	_, terminated := s.Response.(response.Terminated)
	_, silent := s.Playout.(playout.Terminated)
	_, said := s.Synthesis.(synthesis.Closed)
	return idle && terminated && silent && said && turnIn(s.Live) == 0 && turnIn(s.Final) == 0 && turnIn(s.Older) == 0
}

// inOrder: speech_started, then output_audio_buffer.cleared, then the response's end, then truncated, and the turn's
// commit after all of it. A response that the same event begins comes after that.
func inOrder(effects []Effect) bool {
	last := 0
	for _, f := range effects {
		rank := 0
		switch f.(type) {
		case turn.EmitSpeechStarted:
			rank = 1
		case playout.EmitCleared:
			rank = 2
		case response.EmitTerminal:
			rank = 3
		case playout.Truncate:
			rank = 4
		case turn.CommitTurn:
			rank = 5
		case response.EmitCreated:
			rank = 6
		default:
			continue
		}
		if rank < last {
			return false
		}
		last = rank
	}
	return true
}
