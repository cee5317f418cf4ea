package session

// The invariants of the whole session: one function for each, which reports whether one event keeps it. Identifiers count up, so one number
// stands for all older ones.

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

// each reports whether holds is true for every effect of e. holds gets what the monitor remembers right before the effect.
func each(before Seen, e Edge, holds func(Seen, Effect) bool) bool {
	g := before.event(e)
	for _, f := range e.Effects {
		if !holds(g, f) {
			return false
		}
		g = g.effect(e, f)
	}
	return true
}

// atMostOneLive: no response is announced while another one is live.
func atMostOneLive(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		_, created := f.(response.EmitCreated)
		return !created || g.Live == 0
	})
}

// atMostOneBody: no body starts while another one runs.
func atMostOneBody(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		_, starts := f.(response.StartBody)
		return !starts || g.Body == 0
	})
}

// terminalAfterCreated: no response ends before it was announced.
func terminalAfterCreated(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		end, terminal := f.(response.EmitTerminal)
		return !terminal || end.ID <= g.Newest
	})
}

// exactlyOneTerminal: a response ends only while it is live, so it ends once. The response machine and the monitor agree on which response is live.
func exactlyOneTerminal(before, after Seen, e Edge) bool {
	return response.Live(e.To.Response) == after.Live && each(before, e, func(g Seen, f Effect) bool {
		end, terminal := f.(response.EmitTerminal)
		return !terminal || end.ID == g.Live
	})
}

// freshIDs: a response that is announced has a new number. A turn that opens or is committed has a number above those of all turns that have ended.
func freshIDs(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		switch f := f.(type) {
		case response.EmitCreated:
			return f.ID > g.Newest
		case turn.OpenCandidate:
			return f.Turn > g.Ended
		case turn.OpenTurn:
			return f.Turn > g.Ended
		case turn.CommitTurn:
			return f.Turn > g.Ended
		}
		return true
	})
}

// createdForItsRequest: a response is announced with its request: that of the client's Create, or the turn that waits for its
// response, or the request of an earlier response that a false barge-in has ended.
func createdForItsRequest(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		created, is := f.(response.EmitCreated)
		return !is || created.Request == g.wanted(e.Event)
	})
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

// voiceFollowsBody: after a step that starts a body, the synthesis accepts clauses. After a step that cancels a body, it accepts none. If a step
// does both, the later effect counts.
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

// noChildStartsAfterTeardown: no response, stream or turn begins once the session closes.
func noChildStartsAfterTeardown(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool { return !g.Down || !starts(f) })
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

// childrenDieWithParent: when the session is closed, every other machine has ended. When they all have ended, a closing session is closed.
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

// answeredWithWords: no response is announced while a turn that is to get a response still waits for its text.
func answeredWithWords(before, _ Seen, e Edge) bool {
	return each(before, e, func(g Seen, f Effect) bool {
		_, created := f.(response.EmitCreated)
		return !created || g.Due == 0 || g.Words
	})
}

// noReplyLost: a response that waits to be played begins, or still waits, or is dropped and truncated. So does a response whose first audio comes, if it
// is live and has not begun. The end of a body drops no response: the audio that the body has made is played, also if the body failed. No response waits
// while nothing plays.
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

// oneReplyAtATime: in the order of the effects, the end of an older response comes before the beginning of a newer one.
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

// nothingOwedWhenIdle: when the session is idle, every response that a false barge-in has ended was created again, and the session stores no request of
// a response.
func nothingOwedWhenIdle(_, g Seen, e Edge) bool {
	return !g.idle(e.To) || !g.Taken && e.To.Owed == machine.Request{}
}

// noOverlap: while a turn is open and interrupt_response is on, no response plays, unless the turn was open when the settings changed.
func noOverlap(_, g Seen, e Edge) bool {
	_, playing := e.To.Playout.(playout.Playing)
	open := turn.Open(e.To.Turn)
	return !e.To.Config.Interrupt || !playing || open == 0 || open == g.Loose
}

// heldOnlyInTurn: a response is held only while its turn is open, or after that turn was rejected, until the client is ready.
func heldOnlyInTurn(_, _ Seen, e Edge) bool {
	held, ok := e.To.Playout.(playout.Held)
	return !ok || held.Candidate == turn.Open(e.To.Turn) || held.Rejected
}

// soundStopsFirst: a step that holds or drops the response that plays begins with its Pause. There is no other Pause.
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

// interruptionInOrder: the events of an interruption come in this order: speech_started, output_audio_buffer.cleared, the end of
// the response, truncated, the commit of the turn, and then a new response.
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
