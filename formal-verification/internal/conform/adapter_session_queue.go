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
				"turn": s.Turn.Name(), "resp": s.Response.Name(), "play": s.Playout.Name(), "heard": replyName(s, sounding(s.Playout)),
				"started": held.Started, "begun": live != 0 && s.Begun == live, "waits": waits,
				"last_live": live != 0 && waits > 0 && s.Queued[waits-1] == live, "owed": owed(s),
			}
		},
		Odd: func(s session.State) string {
			switch waits := s.Queued.Len(); {
			case waits > 1 && s.Queued[waits-2] == response.Live(s.Response):
				return "what is written last is not heard last"
			case s.Waiting != 0, s.Texted, streamOf(s.Final) != 0:
				return "a turn waits for its words"
			}
			return oddVoice(s) + oddStreams(s)
		},
	}
}

// sessionQueueEvents returns the events that session_queue.fizz models.
func sessionQueueEvents(s session.State) []Labelled[moment] {
	var o offers
	if response.Live(s.Response) == 0 {
		o.add("Create", session.OfResponse{Event: response.Create{Request: freshRequest(s)}})
	} else {
		o.add("Cancel", session.OfResponse{Event: response.Cancel{}})
	}
	o.add("CancelAnother", session.OfResponse{Event: response.Cancel{Target: nobody}})
	o.add("ClearOutput", session.OfPlayout{Event: playout.Clear{}})
	open, runs, sounds := turn.Open(s.Turn), body(s.Response), sounding(s.Playout)
	o.add("Onset", session.OfTurn{Event: turn.Onset{}})
	o.add("Sustained", session.OfTurn{Event: turn.Sustained{Turn: open}})
	o.add("Misfire", session.OfTurn{Event: turn.Misfire{Turn: open}})
	o.add("Silence", session.OfTurn{Event: turn.Silence{Turn: open}}, session.OfTranscription{Event: transcription.Done{Turn: open}})
	o.add("Begin", session.OfPlayout{Event: playout.Begin{Resp: runs}})
	o.add("Begin of one that waits", session.OfPlayout{Event: playout.Begin{Resp: s.Queued[0]}})
	o.add("Drained", session.OfPlayout{Event: playout.Drained{Resp: sounds, Gen: segmentOf(s)}})
	o.add("Drained of one that waits", session.OfPlayout{Event: playout.Drained{Resp: s.Queued[0], Gen: segmentOf(s)}})
	o.bodyEnds(runs, session.OfSynthesis{Event: synthesis.WorkerExited{}})
	return o
}
