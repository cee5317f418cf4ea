package session

// The invariants of the whole session: one function for each, which reports whether one event keeps it. doc.go says what each means.
// Identifiers count up, so one number stands for all older ones.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Invariants are those of a whole session, in the words of the package comment.
var Invariants = []Invariant{
	{"AtMostOneLive", atMostOneLive},
	{"AtMostOneBody", atMostOneBody},
	{"TerminalAfterCreated", terminalAfterCreated},
	{"ExactlyOneTerminal", exactlyOneTerminal},
	{"FreshIDs", freshIDs},
	{"CreatedForItsRequest", createdForItsRequest},
	{"VoiceFollowsBody", voiceFollowsBody},
	{"NoChildStartsAfterTeardown", noChildStartsAfterTeardown},
	{"ChildrenDieWithParent", childrenDieWithParent},
	{"NoTurnLost", noTurnLost},
	{"AnsweredWithWords", answeredWithWords},
	{"NoReplyLost", noReplyLost},
	{"OneReplyAtATime", oneReplyAtATime},
	{"NothingOwedWhenIdle", nothingOwedWhenIdle},
	{"NoOverlap", noOverlap},
	{"HeldOnlyInTurn", heldOnlyInTurn},
	{"SoundStopsFirst", soundStopsFirst},
	{"InterruptionInOrder", interruptionInOrder},
}

// every reports whether holds is true for every effect of e that is a T. holds gets what the monitor remembers right before the effect.
func every[T Effect](before Seen, e Edge, holds func(Seen, T) bool) bool {
	g := before.event(e)
	for _, f := range e.Effects {
		if t, is := f.(T); is && !holds(g, t) {
			return false
		}
		g = g.effect(e, f)
	}
	return true
}

// atMostOneLive: no response is announced while another one is live.
func atMostOneLive(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, _ response.EmitCreated) bool { return g.Live == 0 })
}

// atMostOneBody: no body starts while another one runs.
func atMostOneBody(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, _ response.StartBody) bool { return g.Body == 0 })
}

// terminalAfterCreated: no response ends before it was announced.
func terminalAfterCreated(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, end response.EmitTerminal) bool { return end.ID <= g.Newest })
}

// exactlyOneTerminal: a response ends only while it is live, so it ends once. The response machine and the monitor agree on which response is live.
func exactlyOneTerminal(before, after Seen, e Edge) bool {
	return response.Live(e.To.Response) == after.Live && every(before, e, func(g Seen, end response.EmitTerminal) bool { return end.ID == g.Live })
}

func freshIDs(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, f response.EmitCreated) bool { return f.ID > g.Newest }) &&
		every(before, e, func(g Seen, f turn.OpenCandidate) bool { return f.Turn > g.Ended }) &&
		every(before, e, func(g Seen, f turn.OpenTurn) bool { return f.Turn > g.Ended }) &&
		every(before, e, func(g Seen, f turn.CommitTurn) bool { return f.Turn > g.Ended })
}

func createdForItsRequest(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, created response.EmitCreated) bool { return created.Request == g.wanted(e.Event) })
}

// wanted returns the request that a response must have if e announces it.
func (g Seen) wanted(e Event) machine.Request {
	if of, is := e.(OfResponse); is {
		if asked, creates := of.Event.(response.Create); creates {
			return asked.Request
		}
	}
	if g.Due != 0 {
		return machine.Request{Turn: g.Due}
	}
	return g.For
}

func voiceFollowsBody(_, _ Seen, e Edge) bool {
	_, open := e.To.Synthesis.(synthesis.Open)
	follows := true
	for _, f := range e.Effects {
		switch f.(type) {
		case response.StartBody:
			follows = open
		case response.CancelBody:
			follows = !open
		}
	}
	return follows
}

func noChildStartsAfterTeardown(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, f Effect) bool { return !g.Down || !starts(f) })
}

// starts reports whether f starts a response, a stream or a turn.
func starts(f Effect) bool {
	switch f.(type) {
	case response.EmitCreated, response.StartBody, turn.OpenTurn, turn.OpenCandidate, turn.CommitTurn,
		playout.Play, playout.RewindAndResume, transcription.OpenStream, transcription.DecodeWhole, synthesis.Say:
		return true
	}
	return false
}

func childrenDieWithParent(_, g Seen, e Edge) bool {
	ended := g.Body == 0 && g.Live == 0 && allEnded(e.To)
	switch e.To.Conn.(type) {
	case conn.Closed:
		return ended
	case conn.Closing:
		return !ended
	case conn.Connecting, conn.Live, conn.Interrupted:
	}
	return true
}

// allEnded reports whether every machine except the connection's has ended.
func allEnded(s State) bool {
	_, idle := s.Turn.(turn.Idle)
	_, terminated := s.Response.(response.Terminated)
	_, silent := s.Playout.(playout.Terminated)
	_, said := s.Synthesis.(synthesis.Closed)
	return idle && terminated && silent && said && s.Queued == Queue{} &&
		transcription.TurnOf(s.Live) == 0 && transcription.TurnOf(s.Final) == 0 && transcription.TurnOf(s.Older) == 0
}

// noTurnLost: the state and the monitor agree on the committed turn that is to get a response, and on whether its text is there. Without its text,
// a machine waits for the text. With it, the turn waits only for the end of a response that it must not interrupt.
func noTurnLost(_, g Seen, e Edge) bool {
	due := g.Due
	if due != e.To.Waiting || g.Words != e.To.Texted {
		return false
	}
	return due == 0 || !g.Words && (transcription.TurnOf(e.To.Final) == due || transcription.TurnOf(e.To.Older) == due) ||
		g.Words && !e.To.Config.Interrupt && g.Live != 0
}

func answeredWithWords(before, _ Seen, e Edge) bool {
	return every(before, e, func(g Seen, _ response.EmitCreated) bool { return g.Due == 0 || g.Words })
}

func noReplyLost(_, _ Seen, e Edge) bool {
	if _, down := e.To.Playout.(playout.Terminated); down {
		return true
	}
	waited := append(e.From.Queued[:e.From.Queued.Len():e.From.Queued.Len()], begins(e.Event))
	for _, id := range waited {
		if id > e.From.LastResponse || id == e.From.Begun && !e.From.Queued.Has(id) || id < e.From.Begun && !e.From.Queued.Has(id) ||
			!e.From.Queued.Has(id) && response.Live(e.From.Response) != id {
			continue // it was never announced, has begun already, or is over
		}
		if !e.To.Queued.Has(id) && (!heardOrDropped(e.Effects, id) || endsBody(e.Event)) {
			return false
		}
	}
	_, silent := e.To.Playout.(playout.Silent)
	return !silent || e.To.Queued == Queue{}
}

// endsBody reports whether e is the report that a body has ended.
func endsBody(e Event) bool {
	r, ok := e.(OfResponse)
	if !ok {
		return false
	}
	_, ended := r.Event.(response.BodyEnded)
	return ended
}

// begins returns the response whose first audio e reports, or 0.
func begins(e Event) response.ID {
	if p, ok := e.(OfPlayout); ok {
		if b, ok := p.Event.(playout.Begin); ok {
			return b.Resp
		}
	}
	return 0
}

// heardOrDropped reports whether the effects play the response id, or drop and truncate it.
func heardOrDropped(effects []Effect, id response.ID) bool {
	for _, f := range effects {
		switch f := f.(type) {
		case playout.Play:
			if f.Resp == id {
				return true
			}
		case playout.Hold:
			if f.Resp == id {
				return true
			}
		case playout.Drop:
			if f.Resp == id {
				return true
			}
		}
	}
	return false
}

func oneReplyAtATime(_, _ Seen, e Edge) bool {
	var begun response.ID
	for _, f := range e.Effects {
		switch f := f.(type) {
		case playout.Play:
			begun = f.Resp
		case playout.EmitStopped:
			if begun > f.Resp {
				return false
			}
		case playout.EmitCleared:
			if begun > f.Resp {
				return false
			}
		}
	}
	return true
}

func nothingOwedWhenIdle(_, g Seen, e Edge) bool {
	return !g.idle(e.To) || !g.Taken && e.To.Owed == machine.Request{}
}

func noOverlap(_, g Seen, e Edge) bool {
	_, playing := e.To.Playout.(playout.Playing)
	open := turn.Open(e.To.Turn)
	return !e.To.Config.Interrupt || !playing || open == 0 || open == g.Loose
}

func heldOnlyInTurn(_, _ Seen, e Edge) bool {
	held, ok := e.To.Playout.(playout.Held)
	return !ok || held.Candidate == turn.Open(e.To.Turn) || held.Rejected
}

func soundStopsFirst(_, _ Seen, e Edge) bool {
	playing, plays := e.From.Playout.(playout.Playing)
	for i, f := range e.Effects {
		if p, is := f.(Pause); is && (i > 0 || !plays || p.Resp != playing.Resp) {
			return false
		}
	}
	if !plays || !silences(e.Effects, playing.Resp) {
		return true
	}
	return e.Effects[0] == Effect(Pause{playing.Resp})
}

func interruptionInOrder(_, _ Seen, e Edge) bool {
	last := 0
	for _, f := range e.Effects {
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
