package conform

// The adapter of session_queue.fizz: compares a session in which up to four responses wait to be played with coord/session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// sessionQueueMachine returns the adapter of session_queue.fizz.
func sessionQueueMachine() sessionSpec {
	return sessionSpec{
		Spec:   "session_queue",
		Next:   session.Next,
		First:  []session.Config{{Interrupt: true}},
		Begin:  []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}},
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

// sessionQueueEvents returns the events that session_queue.fizz models.
func sessionQueueEvents(s session.State) []Labelled[moment] {
	var o offers
	o.createOrCancel(s)
	o.add("CancelAnother", session.OfResponse{Event: response.Cancel{Target: nobody}})
	o.add("ClearOutput", session.OfPlayout{Event: playout.Clear{}})
	open, runs, sounds := turn.Open(s.Turn), body(s.Response), playout.Sounding(s.Playout)
	o.speech(open, session.OfTranscription{Event: transcription.Done{Turn: open}})
	o.add("Begin", session.OfPlayout{Event: playout.Begin{Resp: runs}})
	o.add("Begin of one that waits", session.OfPlayout{Event: playout.Begin{Resp: s.Queued[0]}})
	o.add("Drained", session.OfPlayout{Event: playout.Drained{Resp: sounds, Gen: genOf(s.Playout)}})
	o.add("Drained of one that waits", session.OfPlayout{Event: playout.Drained{Resp: s.Queued[0], Gen: genOf(s.Playout)}})
	o.bodyEnds(runs, session.OfSynthesis{Event: synthesis.WorkerExited{}})
	return o
}
