package conform

// The events that each specification of a session models, and those beside them that must change nothing.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// nobody is an identifier that no session of a comparison has.
const nobody = 1 << 40

// sessionEvents returns the events that session.fizz models: one turn at a time waits for its text, and one response waits behind
// the one that plays.
func sessionEvents(s session.State) []Labelled[moment] {
	var o offers
	o.add("Create", session.OfResponse{Event: response.Create{Request: freshRequest(s)}})
	o.add("Cancel", session.OfResponse{Event: response.Cancel{}})
	o.add("ClearInput", session.OfTurn{Event: turn.Clear{}})
	o.add("ClearOutput", session.OfPlayout{Event: playout.Clear{}})
	o.add("ClientCandidate", session.OfTurn{Event: turn.ClientCandidate{}})
	o.add("IdleTimeout", session.OfTurn{Event: turn.IdleTimeout{}})
	o.add("Close", session.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	if conn.Up(s.Conn) {
		o.add("InterruptOff", session.Configure{Config: session.Config{Interrupt: false, CreateResponse: true}})
		o.add("InterruptOn", session.Configure{Config: session.Config{Interrupt: true, CreateResponse: true}})
	}
	o.voice(s)
	o.committed(s)
	o.bodyAndAudio(s)
	o.notForOutside()
	return o
}

// createOrCancel adds the client's request for a response, or its cancel if a response is live.
func (o *offers) createOrCancel(s session.State) {
	if response.Live(s.Response) == 0 {
		o.add("Create", session.OfResponse{Event: response.Create{Request: freshRequest(s)}})
	} else {
		o.add("Cancel", session.OfResponse{Event: response.Cancel{}})
	}
}

// speech adds the detector's events about the turn open. The events of after follow the end of the turn.
func (o *offers) speech(open machine.Turn, after ...session.Event) {
	o.add("Onset", session.OfTurn{Event: turn.Onset{}})
	o.add("Sustained", session.OfTurn{Event: turn.Sustained{Turn: open}})
	o.add("Misfire", session.OfTurn{Event: turn.Misfire{Turn: open}})
	o.add("Silence", append([]session.Event{session.OfTurn{Event: turn.Silence{Turn: open}}}, after...)...)
}

// voice adds the detector's events about the open turn and about another one.
func (o *offers) voice(s session.State) {
	o.add("Onset", session.OfTurn{Event: turn.Onset{}})
	of := func(suffix string, t machine.Turn) {
		o.add("Sustained"+suffix, session.OfTurn{Event: turn.Sustained{Turn: t}})
		o.add("Misfire"+suffix, session.OfTurn{Event: turn.Misfire{Turn: t}})
		if !wordsAwaited(s) || t != turn.Open(s.Turn) {
			o.add("Silence"+suffix, session.OfTurn{Event: turn.Silence{Turn: t}})
		}
	}
	of("", turn.Open(s.Turn))
	of(" of another turn", nobody)
	o.gate(s)
}

// gate adds the end of an utterance and the gate's answers. While the gate is asked, the utterance does not end again (turn.fizz has that).
func (o *offers) gate(s session.State) {
	open, gen := turn.Open(s.Turn), genOf(s.Turn)
	o.add("EndOfUtterance", session.OfTurn{Event: turn.EndOfUtterance{Turn: open, Gate: true}})
	if !wordsAwaited(s) {
		o.add("GatePassed", session.OfTurn{Event: turn.GatePassed{Turn: open, Gen: gen}})
	}
	o.add("GatePassed of an older asking", session.OfTurn{Event: turn.GatePassed{Turn: open, Gen: gen - 1}})
	o.add("GateRefused", session.OfTurn{Event: turn.GateRefused{Turn: open, Gen: gen, FallbackMS: 4000}})
	o.add("GateRefused of another turn", session.OfTurn{Event: turn.GateRefused{Turn: nobody, Gen: gen}})
	o.add("NoSpeech", session.OfTurn{Event: turn.NoSpeech{Turn: open, Gen: gen}})
	o.add("NoSpeech of an older asking", session.OfTurn{Event: turn.NoSpeech{Turn: open, Gen: gen - 1}})
	o.add("NoSpeech of another turn", session.OfTurn{Event: turn.NoSpeech{Turn: nobody, Gen: gen}})
}

// committed adds a commit of the client, whose text comes at once, and the text of a turn that the detector has committed.
func (o *offers) committed(s session.State) {
	if !wordsAwaited(s) {
		t := turn.Open(s.Turn)
		if t == 0 {
			t = s.LastTurn + 1
		}
		o.add("Commit", session.OfTurn{Event: turn.Commit{}}, session.OfTranscription{Event: transcription.Done{Turn: t}})
	}
	final := transcription.TurnOf(s.Final)
	o.add("Words", session.OfTranscription{Event: transcription.Done{Turn: final}})
	o.add("NoWords", session.OfTranscription{Event: transcription.Done{Turn: final, Empty: true}})
	o.add("Words of another turn", session.OfTranscription{Event: transcription.Done{Turn: nobody}})
}

// bodyAndAudio adds the events about the body that runs and about the audio that plays.
func (o *offers) bodyAndAudio(s session.State) {
	runs := body(s.Response)
	if s.Queued.Len() == 0 {
		o.add("Begin", session.OfPlayout{Event: playout.Begin{Resp: runs}})
	}
	o.add("BodyEnds of another", session.OfResponse{Event: response.BodyEnded{ID: nobody, Status: response.Completed}})
	o.bodyEnds(runs, session.OfSynthesis{Event: synthesis.WorkerExited{}})
	sounds, segment := playout.Sounding(s.Playout), genOf(s.Playout)
	o.add("Drained", session.OfPlayout{Event: playout.Drained{Resp: sounds, Gen: segment}})
	o.add("Drained of an older segment", session.OfPlayout{Event: playout.Drained{Resp: sounds, Gen: segment - 1}})
	o.add("Drained of another", session.OfPlayout{Event: playout.Drained{Resp: nobody, Gen: segment}})
}

// bodyEnds adds each way in which the body of runs may end, after the events of before. It adds nothing if no body runs.
func (o *offers) bodyEnds(runs machine.Response, before ...session.Event) {
	if runs == 0 {
		return
	}
	for _, end := range []struct {
		label  string
		status response.Status
	}{{"BodyEnds", response.Completed}, {"BodyIsCutShort", response.Incomplete}, {"BodyFails", response.Failed}} {
		ended := session.OfResponse{Event: response.BodyEnded{ID: runs, Status: end.status}}
		o.add(end.label, append(slices.Clone(before), ended)...)
	}
}

// notForOutside adds events that only the composition may send to its machines. From the driver they are ignored.
func (o *offers) notForOutside() {
	o.add("Close of the turn", session.OfTurn{Event: turn.Shutdown{}})
	o.add("Close of the response", session.OfResponse{Event: response.Shutdown{}})
	o.add("Close of the playout", session.OfPlayout{Event: playout.Shutdown{}})
	o.add("Create by a turn", session.OfResponse{Event: response.CreateByTurn{ID: nobody, Interrupt: true}})
	o.add("Sustained by hand", session.OfResponse{Event: response.BargeIn{}})
	o.add("Onset by hand", session.OfPlayout{Event: playout.Candidate{Candidate: nobody}})
}

// sessionTextEvents returns the events that session_text.fizz models.
func sessionTextEvents(s session.State) []Labelled[moment] {
	var o offers
	o.createOrCancel(s)
	o.add("Commit", session.OfTurn{Event: turn.Commit{}})
	o.speech(turn.Open(s.Turn))
	o.add("Silence of another turn", session.OfTurn{Event: turn.Silence{Turn: nobody}})
	o.recogniser(s)
	o.bodyEnds(body(s.Response), session.OfSynthesis{Event: synthesis.WorkerExited{}})
	o.add("Close", session.OfConn{Event: conn.Close{Reason: conn.ByClient}})
	return o
}

// recogniser adds the events about each stream, also about one that does not exist. Only a decoding of the whole audio fails.
func (o *offers) recogniser(s session.State) {
	live := transcription.TurnOf(s.Live)
	o.add("Refused", session.OfTranscription{Event: transcription.Refuse{Turn: live}})
	o.add("Words before their end", session.OfTranscription{Event: transcription.Done{Turn: live}})
	o.add("Words of another turn", session.OfTranscription{Event: transcription.Done{Turn: nobody}})
	o.add("TextFails of another turn", session.OfTranscription{Event: transcription.Failed{Turn: nobody}})
	o.words("", s.Final)
	o.words("Older", s.Older)
}

// words adds the events about the stream of a committed turn.
func (o *offers) words(prefix string, stream transcription.State) {
	t := transcription.TurnOf(stream)
	o.add(prefix+"Words", session.OfTranscription{Event: transcription.Done{Turn: t}})
	o.add(prefix+"NoWords", session.OfTranscription{Event: transcription.Done{Turn: t, Empty: true}})
	if at, is := stream.(transcription.Finalizing); !is || at.Whole {
		o.add(prefix+"TextFails", session.OfTranscription{Event: transcription.Failed{Turn: t}})
	}
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
