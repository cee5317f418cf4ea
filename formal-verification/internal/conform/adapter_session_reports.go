package conform

// The adapter of session_reports.fizz: compares a session whose client reports what it has played with coord/session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// sessionReportsMachine returns the adapter of session_reports.fizz.
func sessionReportsMachine() sessionSpec {
	return sessionSpec{
		Spec:   "session_reports",
		Next:   session.Next,
		First:  []session.Config{{Interrupt: true, Reports: true}},
		Begin:  []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}},
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

// sessionReportsEvents returns the events that session_reports.fizz models.
func sessionReportsEvents(s session.State) []Labelled[moment] {
	var o offers
	o.createOrCancel(s)
	o.add("ClearOutput", session.OfPlayout{Event: playout.Clear{}})
	o.add("ClientCandidate", session.OfTurn{Event: turn.ClientCandidate{}})
	o.add("ClearInput", session.OfTurn{Event: turn.Clear{}})
	o.reports(s)
	open, runs := turn.Open(s.Turn), body(s.Response)
	o.speech(open, session.OfTranscription{Event: transcription.Done{Turn: open}})
	if s.Queued.Len() == 0 {
		o.add("Begin", session.OfPlayout{Event: playout.Begin{Resp: runs}})
	}
	o.add("Drained", session.OfPlayout{Event: playout.Drained{Resp: playout.Sounding(s.Playout), Gen: genOf(s.Playout)}})
	o.bodyEnds(runs, session.OfSynthesis{Event: synthesis.WorkerExited{}})
	return o
}

// reports adds the client's reports, their time-outs, and reports about other responses.
func (o *offers) reports(s session.State) {
	held, _ := s.Playout.(playout.Held)
	cut, _ := s.Playout.(playout.Cut)
	o.add("Ready", session.OfPlayout{Event: playout.Ready{Candidate: held.Client, At: held.At}})
	o.add("Ready of another", session.OfPlayout{Event: playout.Ready{Candidate: nobody}})
	o.add("ReadyExpired", session.OfPlayout{Event: playout.ReadyExpired{Candidate: held.Client}})
	o.add("ReadyExpired of another", session.OfPlayout{Event: playout.ReadyExpired{Candidate: nobody}})
	o.add("Heard", session.OfPlayout{Event: playout.Heard{Resp: cut.Resp, At: heardPosition}})
	o.add("Heard of another", session.OfPlayout{Event: playout.Heard{Resp: nobody, At: heardPosition}})
	o.add("HeardExpired", session.OfPlayout{Event: playout.HeardExpired{Resp: cut.Resp}})
	o.add("HeardExpired of another", session.OfPlayout{Event: playout.HeardExpired{Resp: nobody}})
}
