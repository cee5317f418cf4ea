package conform

// The adapter of session.fizz: compares it with coord/session. It also has what the adapters of all session specifications share.

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

// sessionMachine returns the adapter of session.fizz.
func sessionMachine() sessionSpec {
	return sessionSpec{
		Spec:   "session",
		Next:   session.Next,
		First:  []session.Config{{Interrupt: true, CreateResponse: true}},
		Begin:  []session.Event{session.OfConn{Event: conn.Opened{VAD: true}}},
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
