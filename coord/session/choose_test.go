package session

// The choice of the next event in a random schedule of a session.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// choose returns the next event. The groups of events have weights, so that most schedules are like conversations.
func (w *world) choose() Event {
	switch w.s.Conn.(type) {
	case conn.Connecting:
		return choice(w, OfConn{conn.Opened{VAD: w.pick(8) > 0}}, OfConn{conn.Opened{VAD: true}}, Event(OfTurn{turn.Onset{}}),
			asks(w.s), OfConn{conn.Close{Reason: conn.ByClient}})
	case conn.Live, conn.Interrupted, conn.Closing, conn.Closed:
	}
	switch n := w.pick(40); {
	case n < 12:
		return w.voice()
	case n < 18 && w.s.Config.Reports && w.pick(2) == 0:
		return w.reports()
	case n < 18:
		return w.client()
	case n < 25:
		return w.recogniser()
	case n < 33:
		return w.worker()
	case n < 37:
		return w.speaker()
	case n < 39:
		return w.settings()
	}
	return w.network()
}

func choice(w *world, of ...Event) Event { return of[w.pick(len(of))] }

// voice returns an event of the detector or of its timers.
func (w *world) voice() Event {
	t := turn.Open(w.s.Turn)
	switch w.s.Turn.(type) {
	case turn.Candidate:
		return choice(w, OfTurn{turn.Sustained{Turn: t}}, OfTurn{turn.Sustained{Turn: t}}, OfTurn{turn.Misfire{Turn: t}},
			OfTurn{turn.EndOfUtterance{Turn: t}})
	case turn.Speaking, turn.Confirming:
		if w.paused {
			return choice(w, OfTurn{turn.VoiceResumed{Turn: t}}, w.late(), OfTurn{turn.EndOfUtterance{Turn: t, Gate: w.pick(2) == 0}})
		}
		return choice(w, OfTurn{turn.Silence{Turn: t}}, OfTurn{turn.Silence{Turn: t, FallbackMS: 4000}},
			OfTurn{turn.EndOfUtterance{Turn: t, Voiced: w.pick(2) == 0, Gate: w.pick(2) == 0}}, w.late(), OfTurn{turn.Onset{}})
	case turn.Idle:
	}
	return choice(w, OfTurn{turn.Onset{}}, OfTurn{turn.Onset{}}, OfTurn{turn.Onset{}}, OfTurn{turn.IdleTimeout{}}, w.late(),
		OfTurn{turn.ClientCandidate{}})
}

// late returns an event of a timer or an answer of the gate, for the open turn or for an older one.
func (w *world) late() Event {
	if len(w.gates) > 0 && w.pick(2) == 0 {
		g := w.gates[w.pick(len(w.gates))]
		return choice(w, OfTurn{turn.GatePassed(g)}, OfTurn{turn.NoSpeech(g)}, OfTurn{turn.GateRefused{Turn: g.Turn, Gen: g.Gen, FallbackMS: 4000}})
	}
	if len(w.timers) > 0 {
		return OfTurn{w.timers[w.pick(len(w.timers))]}
	}
	return OfTurn{turn.Misfire{Turn: w.s.LastTurn}}
}

func (w *world) client() Event {
	return choice(w, asks(w.s), asks(w.s), OfResponse{response.Cancel{}},
		OfResponse{response.Cancel{Target: response.ID(w.pick(int(w.s.LastResponse) + 2))}}, OfTurn{turn.Commit{}},
		OfTurn{turn.Clear{}}, OfPlayout{playout.Clear{}},
		OfPlayout{playout.Missed{Resp: w.s.LastResponse, From: playout.Position{Item: 1, MS: uint32(w.pick(400))}}})
}

// reports is what a client says that lowers the agent itself: in time, too late, or not at all.
func (w *world) reports() Event {
	at := playout.Position{Item: 1, MS: uint32(w.pick(400))}
	switch p := w.s.Playout.(type) {
	case playout.Held:
		return choice(w, OfPlayout{playout.Ready{Candidate: p.Client, At: at}}, OfPlayout{playout.Ready{Candidate: p.Client - 1, At: at}},
			OfPlayout{playout.ReadyExpired{Candidate: p.Client}}, OfTurn{turn.ClientCandidate{}})
	case playout.Cut:
		return choice(w, OfPlayout{playout.Heard{Resp: p.Resp, At: at}}, OfPlayout{playout.Heard{Resp: p.Resp + 1, At: at}},
			OfPlayout{playout.HeardExpired{Resp: p.Resp}}, OfTurn{turn.ClientCandidate{}})
	case playout.Silent, playout.Playing, playout.Terminated:
	}
	return choice(w, OfTurn{turn.ClientCandidate{}}, OfTurn{turn.ClientCandidate{}}, OfPlayout{playout.Ready{Candidate: w.s.LastTurn}},
		OfPlayout{playout.Heard{Resp: w.s.LastResponse}})
}

func (w *world) recogniser() Event {
	open := w.open()
	if len(open) == 0 {
		return OfTranscription{transcription.Done{Turn: w.s.LastTurn}} // of a stream that was given up
	}
	t := open[w.pick(len(open))]
	st := w.streams[t]
	switch {
	case !st.ready:
		return choice(w, OfTranscription{transcription.Ready{Turn: t}}, OfTranscription{transcription.Ready{Turn: t}},
			OfTranscription{transcription.Ready{Turn: t}}, OfTranscription{transcription.Refuse{Turn: t}},
			OfTranscription{transcription.Failed{Turn: t}})
	case !st.ended:
		return choice(w, OfTranscription{transcription.EOU{Turn: t}}, OfTranscription{transcription.Resumed{Turn: t}},
			OfTranscription{transcription.Failed{Turn: t}}, OfTranscription{transcription.Done{Turn: t}})
	case st.whole && w.pick(4) == 0:
		return OfTranscription{transcription.Refuse{Turn: t}}
	}
	return choice(w, OfTranscription{transcription.Done{Turn: t}}, OfTranscription{transcription.Done{Turn: t}},
		OfTranscription{transcription.Done{Turn: t, Empty: true}}, OfTranscription{transcription.Failed{Turn: t}})
}

// worker is the body that runs: it writes, is said, and ends.
func (w *world) worker() Event {
	switch {
	case w.body == 0:
		return OfResponse{response.BodyEnded{ID: w.s.LastResponse, Status: response.Completed}} // twice
	case w.texts && w.voiced && w.pick(12) == 0: // it breaks
		return OfSynthesis{synthesis.WorkerExited{}}
	case w.texts && w.pick(3) > 0:
		w.clauses++
		return OfSynthesis{synthesis.Enqueue{Clause: w.clauses}}
	case w.texts:
		return OfSynthesis{synthesis.Finish{}}
	case !w.begun && w.pick(4) > 0:
		return OfPlayout{playout.Begin{Resp: w.body}}
	case w.voiced:
		return OfSynthesis{synthesis.WorkerExited{}}
	}
	return choice(w, OfResponse{response.BodyEnded{ID: w.body, Status: response.Completed}},
		OfResponse{response.BodyEnded{ID: w.body, Status: response.Completed}}, OfResponse{response.BodyEnded{ID: w.body, Status: response.Failed}},
		OfResponse{response.BodyEnded{ID: w.body, Status: response.Incomplete}})
}

// speaker reports segments, the ones that were held or dropped meanwhile too; and audio begins.
func (w *world) speaker() Event {
	if w.body != 0 && !w.begun && w.pick(2) == 0 {
		return OfPlayout{playout.Begin{Resp: w.body}}
	}
	if len(w.segments) == 0 {
		return OfPlayout{playout.Drained{Resp: w.s.LastResponse, Gen: 1}}
	}
	return OfPlayout{w.segments[w.pick(len(w.segments))]}
}

func (w *world) settings() Event {
	if w.pick(3) == 0 {
		return OfConn{conn.SetVAD{On: w.pick(3) > 0}}
	}
	reports := w.s.Config.Reports
	if w.pick(8) == 0 { // a client says hello once; it would have to be seen all the same
		reports = !reports
	}
	return Configure{Config{Interrupt: w.pick(3) > 0, CreateResponse: w.pick(4) > 0, Reports: reports}}
}

func (w *world) network() Event {
	switch w.s.Conn.(type) {
	case conn.Live:
		if w.pick(6) == 0 {
			return OfConn{conn.Close{Reason: conn.TimeLimit}}
		}
		return OfConn{conn.Lost{}}
	case conn.Interrupted:
		if len(w.graces) > 0 && w.pick(3) == 0 {
			return OfConn{conn.GraceExpired{Gen: w.graces[w.pick(len(w.graces))]}}
		}
		if w.pick(6) == 0 {
			return OfConn{conn.Close{Reason: conn.Failed}}
		}
		return OfConn{conn.Restored{}}
	case conn.Connecting, conn.Closing, conn.Closed:
	}
	return OfConn{conn.Close{Reason: conn.ByClient}}
}
