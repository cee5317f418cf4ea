package conform

// The adapters of session.fizz and of the other specifications of a session, each of which leaves out other parts of it.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// opened is what happens before most of the specs begin.
var opened = []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}}

func sessionMachine() sessionSpec {
	return sessionSpec{
		Spec: "session", Next: session.Next,
		First:  []session.Config{{Interrupt: true, CreateResponse: true}},
		Begin:  opened,
		Events: sessionEvents,
		Vars: func(s session.State) map[string]any {
			held, _ := s.Playout.(playout.Held)
			return map[string]any{
				"conn": s.Conn.Name(), "turn": s.Turn.Name(), "resp": s.Response.Name(), "play": s.Playout.Name(),
				"heard": replyName(s, playout.Sounding(s.Playout)), "started": held.Started,
				"begun": begun(s), "queued": replyName(s, s.Queued[0]),
				"waiting": waitingFor(s), "owed": owed(s), "interrupt": s.Config.Interrupt,
			}
		},
		Odd: func(s session.State) string {
			if wordsAwaited(s) && s.Waiting != transcription.TurnOf(s.Final) {
				return "the words of a turn are awaited that is not to be answered"
			}
			return oddQueue(s) + oddBodyOrHold(s) + oddStreams(s)
		},
	}
}

// waitingFor returns what the committed turn that is to get a response waits for.
func waitingFor(s session.State) string {
	switch {
	case s.Waiting == 0:
		return ""
	case s.Texted:
		return "reply"
	}
	return "words"
}

func wordsAwaited(s session.State) bool { return transcription.TurnOf(s.Final) != 0 }

// begun reports whether the live response has begun to play.
func begun(s session.State) bool {
	live := response.Live(s.Response)
	return live != 0 && s.Begun == live
}

// oddQueue returns how a session differs from one in which one response at most waits behind the one that plays, or "".
func oddQueue(s session.State) string {
	if s.Queued.Len() > 1 {
		return "two replies wait to be heard"
	}
	return ""
}

// oddWords returns how a session differs from one in which no turn waits for its text or its response, or "".
func oddWords(s session.State) string {
	if s.Waiting != 0 || s.Texted || wordsAwaited(s) {
		return "a turn waits for its words"
	}
	return ""
}

// oddBodyOrHold returns what oddBody and oddHold return.
func oddBodyOrHold(s session.State) string { return oddBody(s) + oddHold(s) }

// oddBody returns how a session differs from one whose synthesis ends with its body, or "".
func oddBody(s session.State) string {
	want := synthesis.State(synthesis.Closed{})
	switch s.Response.(type) {
	case response.Active:
		want = synthesis.Open{}
	case response.Draining, response.Replacing, response.Terminating:
		want = synthesis.Closing{}
	case response.Idle, response.Terminated:
	}
	if s.Synthesis != want {
		return "the synthesis is " + s.Synthesis.Name() + ", the response " + s.Response.Name()
	}
	return ""
}

// oddHold returns how a session differs from one whose hold is for the open turn, or "".
func oddHold(s session.State) string {
	if held, is := s.Playout.(playout.Held); is && held.Candidate != turn.Open(s.Turn) {
		return "it is held for a turn that is not open"
	}
	return ""
}

// oddStreams returns how a session differs from one in which only the open turn has a stream, and only the newest committed turn
// waits for its text.
func oddStreams(s session.State) string {
	if s.Older != transcription.State(transcription.Closed{}) {
		return "two texts are awaited"
	}
	if transcription.TurnOf(s.Live) != turn.Open(s.Turn) {
		return "the stream is not the open turn's"
	}
	return ""
}

// sessionTextMachine returns the adapter of session_text.fizz.
func sessionTextMachine() sessionSpec {
	return sessionSpec{
		Spec: "session_text", Next: session.Next,
		First: []session.Config{
			{Interrupt: true, CreateResponse: true}, {Interrupt: false, CreateResponse: true}, {Interrupt: true},
		},
		Begin:  opened,
		Events: sessionTextEvents,
		Vars: func(s session.State) map[string]any {
			return map[string]any{
				"conn": s.Conn.Name(), "turn": s.Turn.Name(), "resp": s.Response.Name(), "live": streamName(s.Live),
				"final": streamName(s.Final), "older": streamName(s.Older), "waiting": answeredAfter(s), "owed": owed(s),
				"interrupt": s.Config.Interrupt, "answers": s.Config.CreateResponse,
			}
		},
		Odd: func(s session.State) string {
			_, silent := s.Playout.(playout.Silent)
			_, ended := s.Playout.(playout.Terminated)
			switch {
			case !silent && !ended, s.Begun != 0, s.Queued.Len() > 0:
				return "something is heard"
			case transcription.TurnOf(s.Live) != 0 && transcription.TurnOf(s.Live) != turn.Open(s.Turn):
				return "the stream is not the open turn's"
			}
			return oddBodyOrHold(s)
		},
	}
}

// streamName returns the spec's name of the state of a turn's stream.
func streamName(s transcription.State) string {
	switch s := s.(type) {
	case transcription.Closed:
		return ""
	case transcription.Finalizing:
		if s.Whole {
			return "Whole"
		}
	case transcription.Opening, transcription.Streaming, transcription.Unavailable:
	}
	return s.Name()
}

// answeredAfter returns what the turn that is to get a response waits for.
func answeredAfter(s session.State) string {
	switch {
	case s.Waiting == 0:
		return ""
	case s.Texted:
		return "reply"
	}
	return turnName(s, s.Waiting)
}

func sessionEndMachine() sessionSpec {
	return sessionSpec{
		Spec: "session_end", Next: session.Next,
		First:  []session.Config{{Interrupt: true}},
		Events: sessionEndEvents,
		Vars: func(s session.State) map[string]any {
			held, _ := s.Playout.(playout.Held)
			return map[string]any{
				"conn": s.Conn.Name(), "vad": detects(s.Conn), "turn": s.Turn.Name(), "resp": s.Response.Name(),
				"voice": s.Synthesis.Name(), "play": s.Playout.Name(), "heard": replyName(s, playout.Sounding(s.Playout)),
				"started": held.Started, "begun": begun(s), "queued": replyName(s, s.Queued[0]), "owed": owed(s),
			}
		},
		Odd: func(s session.State) string { return oddQueue(s) + oddWords(s) + oddHold(s) + oddStreams(s) },
	}
}

func detects(s conn.State) bool {
	switch s := s.(type) {
	case conn.Live:
		return s.VAD
	case conn.Interrupted:
		return s.VAD
	case conn.Connecting, conn.Closing, conn.Closed:
	}
	return false
}

// sessionQueueMachine returns the adapter of session_queue.fizz.
func sessionQueueMachine() sessionSpec {
	return sessionSpec{
		Spec: "session_queue", Next: session.Next,
		First:  []session.Config{{Interrupt: true}},
		Begin:  opened,
		Events: sessionQueueEvents,
		Vars: func(s session.State) map[string]any {
			held, _ := s.Playout.(playout.Held)
			live, waits := response.Live(s.Response), s.Queued.Len()
			return map[string]any{
				"turn": s.Turn.Name(), "resp": s.Response.Name(), "play": s.Playout.Name(), "heard": replyName(s, playout.Sounding(s.Playout)),
				"started": held.Started, "begun": begun(s), "waits": waits,
				"last_live": live != 0 && waits > 0 && s.Queued[waits-1] == live, "owed": owed(s),
			}
		},
		Odd: func(s session.State) string {
			if waits := s.Queued.Len(); waits > 1 && s.Queued[waits-2] == response.Live(s.Response) {
				return "what is written last is not heard last"
			}
			return oddWords(s) + oddBodyOrHold(s) + oddStreams(s)
		},
	}
}

// sessionReportsMachine returns the adapter of session_reports.fizz.
func sessionReportsMachine() sessionSpec {
	return sessionSpec{
		Spec: "session_reports", Next: session.Next,
		First:  []session.Config{{Interrupt: true, Reports: true}},
		Begin:  opened,
		Events: sessionReportsEvents,
		Vars: func(s session.State) map[string]any {
			held, _ := s.Playout.(playout.Held)
			last := heardLast(s)
			return map[string]any{
				"turn": s.Turn.Name(), "resp": s.Response.Name(), "play": s.Playout.Name(),
				"heard": replyName(s, max(playout.Sounding(s.Playout), awaitedOf(s.Playout))), "last": replyName(s, last),
				"started": held.Started, "tail": held.Tail, "client": turnName(s, held.Client), "awaits": held.Awaits, "rejected": held.Rejected,
				"begun": begun(s), "queued": replyName(s, s.Queued[0]), "owed": owed(s),
			}
		},
		Odd: func(s session.State) string {
			held, is := s.Playout.(playout.Held)
			if is && held.Candidate != turn.Open(s.Turn) && !held.Rejected {
				return "it is held for a turn that is not open"
			}
			return oddQueue(s) + oddWords(s) + oddBody(s) + oddStreams(s)
		},
	}
}

// awaitedOf returns the cut response about which the client still has to report, or 0.
func awaitedOf(s playout.State) machine.Response {
	cut, _ := s.(playout.Cut)
	return cut.Resp
}
