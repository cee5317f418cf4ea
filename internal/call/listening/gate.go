package listening

// The gate: at the end of an utterance the whole of it is recognised again, and must have an end too.

import (
	"slices"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// confirms is the part of the threshold of an end that the probability of the whole text must reach. The live text has reached the threshold already, a moment before, so that
// only words that speak against the end refuse it: by their weights in package endofturn they lower the odds of an end to a fifteenth or less.
const confirms = 0.5

// recheck is the question whether a turn's utterance has ended. The zero value is none.
type recheck struct {
	gen         uint32
	recognition *recognition // of the whole utterance; nil when it has ended
	refused     bool         // the answer was no, and neither speech nor words came after it
}

// AskGate has the turn of a question recognised again. pcm is the turn's audio so far, at room.InputRate; nobody changes it. Retranscribed reports the result.
func (s *Recognitions) AskGate(f turn.AskGate, c pipeline.TranscribeConfig, pcm []int16) {
	u := s.turns[f.Turn]
	if u == nil {
		return
	}
	u.closeGate()
	st := s.stage
	st.name, st.transcriber = pipeline.StageRetranscriber, s.retranscriber
	spoken, estimator := slices.Clone(u.spoken), s.gateEstimator(c.Language)
	u.gate.gen = f.Gen
	u.gate.recognition = st.recognise(c, f.Turn, pcm, nil, func(e RecognitionEvent) bool {
		r := Retranscribed{Turn: f.Turn, Gen: f.Gen}
		switch e := e.(type) {
		case Final:
			r.Text, r.Words = e.Text, e.Words
			r.Probability = probability(e, pcm, spoken, estimator)
		case Failed:
			r.Err = e.Err
		case Refused:
			r.Err = pipeline.ErrNoLive
		case Ready, Partial, Ending, Recorded, Retranscribed:
			return true
		}
		return s.post(r)
	})
}

// gateEstimator returns what judges the whole text of an utterance; nil if the recogniser of the gate reports ends itself.
func (s *Recognitions) gateEstimator(language string) endofturn.Estimator {
	if r, is := s.retranscriber.(pipeline.EndReporter); is && r.ReportsEnds() {
		return nil
	}
	if s.endOfTurn != nil {
		return s.endOfTurn(language)
	}
	return endofturn.New(language)
}

// probability returns how probable it is that an utterance has ended whose whole text is e. spoken says in which frames of pcm the user spoke; its
// last frame is that of pcm. It returns 1 if the estimator has no estimate: then nothing speaks against the end.
func probability(e Final, pcm []int16, spoken []bool, estimator endofturn.Estimator) float64 {
	switch {
	case estimator == nil && e.EOU:
		return 1
	case estimator == nil:
		return 0
	}
	down, err := voice.NewResampler(room.InputRate, voice.FrameRate)
	if err != nil {
		return 1
	}
	frames := slices.Collect(slices.Chunk(down.Flush(down.AppendFloats(nil, pcm)), voice.FrameSize))
	if n := len(frames); n > 0 && len(frames[n-1]) < voice.FrameSize {
		frames = frames[:n-1]
	}
	for i, pcm := range frames {
		at := len(spoken) - len(frames) + i
		estimator.Frame(pcm, at >= 0 && spoken[at])
	}
	if p, due := estimator.Text(e.Text, time.Duration(len(frames))*voice.FrameSize*time.Second/voice.FrameRate); due {
		return p
	}
	return 1
}

// retranscribed takes the result of the gate. A gate that has failed passes, because the end then counts as it does without a gate.
func (s *Recognitions) retranscribed(u *userTurn, e Retranscribed, v RecognitionView) (out room.List, err error) {
	if v.Turn != turn.State(turn.Confirming{Turn: e.Turn, Gen: e.Gen}) || u.gate.gen != e.Gen {
		return nil, nil
	}
	u.closeGate()
	switch {
	case e.Err != nil:
		out.Step(coord.OfTurn{Event: turn.GatePassed{Turn: e.Turn, Gen: e.Gen}})
	case count(e.Text) == 0:
		out.Step(coord.OfTurn{Event: turn.NoSpeech{Turn: e.Turn, Gen: e.Gen}})
	case e.Probability < confirms*v.Threshold:
		u.gate.refused = true
		out.Step(coord.OfTurn{Event: turn.GateRefused{Turn: e.Turn, Gen: e.Gen, FallbackMS: v.FallbackMS}})
	default:
		u.whole = &Final{Turn: e.Turn, Text: e.Text, Words: e.Words}
		out.Step(coord.OfTurn{Event: turn.GatePassed{Turn: e.Turn, Gen: e.Gen}})
	}
	return out, e.Err
}

// GateLate gives up the question of a gate that has not answered in time, and returns its answer: the gate passes.
func (s *Recognitions) GateLate(f turn.AskGate) turn.Event {
	if u := s.turns[f.Turn]; u != nil && u.gate.gen == f.Gen {
		u.closeGate()
	}
	return turn.GatePassed(f)
}

// TakeWhole takes the text of turn t that the gate has found, as the turn's final text, and returns it as a report. It closes the live
// recognition, which is of no use any more. ok is false if the gate has found none.
func (s *Recognitions) TakeWhole(t turn.ID) (final Final, ok bool) {
	u := s.turns[t]
	if u == nil || u.whole == nil {
		return Final{}, false
	}
	s.CloseStream(t)
	u.final, u.words, u.whole = u.whole.Text, u.whole.Words, nil
	return Final{Turn: t, Text: u.final, Words: u.words}, true
}

// closeGate gives up the gate's recognition, if there is one.
func (u *userTurn) closeGate() {
	if u.gate.recognition != nil {
		u.gate.recognition.close()
		u.gate.recognition = nil
	}
}

// hear notes whether the user speaks in the turn's next frame. Speech ends the question to the gate: its answer would be about older audio.
func (u *userTurn) hear(f Frame) {
	u.spoken = append(u.spoken, f.Speech)
	if f.Speech {
		u.closeGate()
		u.gate.refused = false
	}
}
