package conform

// The adapter of session_end.fizz: compares the beginning and the end of a session with coord/session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// sessionEndMachine returns the adapter of session_end.fizz.
func sessionEndMachine() sessionSpec {
	return sessionSpec{
		Spec:   "session_end",
		Next:   session.Next,
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

// sessionEndEvents returns the events that session_end.fizz models.
func sessionEndEvents(s session.State) []Labelled[moment] {
	var o offers
	o.transport(s)
	o.createOrCancel(s)
	open := turn.Open(s.Turn)
	o.add("ClientCandidate", session.OfTurn{Event: turn.ClientCandidate{}})
	o.speech(open, session.OfTranscription{Event: transcription.Done{Turn: open}})
	o.add("WorkerExits", session.OfSynthesis{Event: synthesis.WorkerExited{}})
	o.add("Finish", session.OfSynthesis{Event: synthesis.Finish{}})
	runs := body(s.Response)
	if s.Queued.Len() == 0 {
		o.add("Begin", session.OfPlayout{Event: playout.Begin{Resp: runs}})
	}
	if _, said := s.Synthesis.(synthesis.Closed); said {
		o.bodyEnds(runs)
	}
	o.add("BodyEnds twice", session.OfResponse{Event: response.BodyEnded{ID: nobody, Status: response.Completed}})
	o.add("Drained", session.OfPlayout{Event: playout.Drained{Resp: playout.Sounding(s.Playout), Gen: genOf(s.Playout)}})
	o.notForOutside()
	return o
}

// transport adds the events of the network and of the server's operator. It leaves out to switch the detector on while it is on,
// which changes nothing (conn.fizz).
func (o *offers) transport(s session.State) {
	o.add("Opened", session.OfConn{Event: conn.Opened{VAD: true}})
	o.add("OpenedWithoutVAD", session.OfConn{Event: conn.Opened{}})
	o.add("Lost", session.OfConn{Event: conn.Lost{}})
	o.add("Restored", session.OfConn{Event: conn.Restored{}})
	o.add("GraceExpired", session.OfConn{Event: conn.GraceExpired{Gen: genOf(s.Conn)}})
	o.add("GraceExpired before", session.OfConn{Event: conn.GraceExpired{Gen: genOf(s.Conn) - 1}})
	o.add("Close", session.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	if on := detects(s.Conn); !on || !conn.Up(s.Conn) {
		o.add("VADOn", session.OfConn{Event: conn.SetVAD{On: true}})
	}
	if on := detects(s.Conn); on || !conn.Up(s.Conn) {
		o.add("VADOff", session.OfConn{Event: conn.SetVAD{}})
	}
}
