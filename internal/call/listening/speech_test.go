package listening

// Turns in the recogniser: transcripts, captions, end of utterance and failures.

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// recogniser is a pipeline.Transcriber whose streams say what the test gives them.
type recogniser struct {
	open    error
	panics  bool
	stuck   bool // it takes no audio
	results chan pipeline.TranscriptResult
	samples int
	closed  bool
}

func (r *recogniser) Open(ctx context.Context, _ pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	switch {
	case r.panics:
		panic("no model")
	case r.stuck:
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return r, r.open
}

func (r *recogniser) Write(pcm []float32) error { r.samples += len(pcm); return nil }

func (r *recogniser) CloseInput() error { r.closed = true; return nil }

func (r *recogniser) Results() <-chan pipeline.TranscriptResult { return r.results }

func (r *recogniser) Close() error { return nil }

// recognitionBench is a Recognitions without an actor.
type recognitionBench struct {
	t      *testing.T
	g      *gomega.WithT
	s      *Recognitions
	r      *recogniser
	events chan RecognitionEvent
	view   RecognitionView
	cancel context.CancelFunc
	memory account.Purse
}

// story runs a test on a clock of its own.
func story(t *testing.T, name string, tell func(b *recognitionBench)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &recognitionBench{t: t, g: gomega.NewWithT(t), events: make(chan RecognitionEvent, 100), r: &recogniser{results: make(chan pipeline.TranscriptResult, 10)}}
			b.view = RecognitionView{Wants: Wants{Transcripts: true}, Turn: turn.Speaking{Turn: 1}}
			b.with(b.r)
			tell(b)
			b.cancel()
			b.s.Close()
			b.s.workers.Wait()
			b.g.Expect(len(b.s.turns) + len(b.s.late)).To(gomega.BeZero())
			b.g.Expect(b.events).To(gomega.BeEmpty(), "a report was not taken")
		})
	})
}

func (b *recognitionBench) with(tr pipeline.Transcriber) {
	ctx, cancel := context.WithCancel(b.t.Context())
	b.cancel = cancel
	b.s = NewRecognitions(Parts{Memory: b.memory, Context: ctx, Env: env.System(), Transcriber: tr, Guard: watchdog.New(env.System(), watchdog.Defaults()), Post: func(e Event) bool { b.events <- e.(Report).Of; return true }})
}

// next waits for the next report and handles it.
func (b *recognitionBench) next() (RecognitionEvent, room.List, error) {
	b.t.Helper()
	select {
	case e := <-b.events:
		out, err := b.s.Handle(e, b.view)
		return e, out, err
	case <-time.After(time.Hour):
		b.t.Fatal("nothing is reported")
		return nil, nil, nil
	}
}

// says handles the result of the recogniser and returns what follows from it.
func (b *recognitionBench) says(r pipeline.TranscriptResult) room.List {
	b.t.Helper()
	b.r.results <- r
	_, out, err := b.next()
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	return out
}

// live is a turn 1 that begins at sample 2400, with a live recognition.
func (b *recognitionBench) live() {
	b.t.Helper()
	b.s.Open(1, 2400)
	b.s.Listen(1, pipeline.TranscribeConfig{Live: true}, []Frame{{PCM: make([]float32, 160)}, {PCM: make([]float32, 160)}}, b.view)
	e, out, err := b.next()
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	b.g.Expect(e).To(gomega.Equal(RecognitionEvent(Ready{1})))
	b.g.Expect(out).To(gomega.Equal(stepTranscription(transcription.Ready{Turn: 1})))
}

func stepTranscription(e transcription.Event) room.List {
	return room.List{room.Step{Event: coord.OfTranscription{Event: e}}}
}

func TestATurnIsTranscribed(t *testing.T) {
	at := time.Unix(100, 0)
	story(t, "live: its audio goes to the recogniser, and its text comes with the delivery", func(b *recognitionBench) {
		b.live()
		b.g.Expect(b.s.Open(1, 9600)).To(gomega.BeNumerically("==", 2400), "the turn is there already")
		b.g.Expect(b.s.Write(1, Frame{PCM: make([]float32, 160)})).To(gomega.BeNil())
		name := b.s.ItemID(1)
		b.g.Expect(name).To(gomega.HavePrefix("item_"))
		pcm := make([]int16, 4800)
		answered := b.s.Commit(1, 7, pcm, at, at.Add(time.Second))
		b.g.Expect(answered.ItemID).To(gomega.Equal(name))
		b.s.CloseInput(1)
		synctest.Wait()
		b.g.Expect([]any{b.r.samples, b.r.closed}).To(gomega.Equal([]any{480, true}))
		b.g.Expect(b.s.Write(1, Frame{PCM: make([]float32, 160)})).To(gomega.BeNil(), "its audio has ended")

		words := []pipeline.Word{{Text: "hello"}}
		b.g.Expect(b.says(pipeline.TranscriptResult{Final: true, Text: "hello", Words: words})).
			To(gomega.Equal(stepTranscription(transcription.Done{Turn: 1})))
		d, ok := b.s.Deliver(1, at.Add(2*time.Second))
		b.g.Expect(ok).To(gomega.BeTrue())
		b.g.Expect(d).To(gomega.Equal(Delivery{Item: 7, Turn: answered, PCM: pcm, Transcript: Transcript{Text: "hello", Words: words, Start: 2400, Samples: 4800}}))
		b.g.Expect(answered.Event("resp_1", at).TranscriptMS).To(gomega.Equal(2000))
		_, again := b.s.Deliver(1, at)
		b.g.Expect(again).To(gomega.BeFalse())
	})
}

func TestATurnIsTranscribedAsAWhole(t *testing.T) {
	at := time.Unix(100, 0)
	story(t, "whole: the recogniser gets the committed audio", func(b *recognitionBench) {
		b.with(scripted.New(scripted.Options{}).Transcriber)
		b.s.Open(1, 0)
		b.s.Commit(1, 7, scripted.Tones("hello there"), at, at)
		b.s.Decode(1, pipeline.TranscribeConfig{})
		for {
			e, out, err := b.next()
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			if _, partial := e.(Partial); partial {
				continue
			}
			b.g.Expect(out).To(gomega.Equal(stepTranscription(transcription.Done{Turn: 1})))
			break
		}
		d, _ := b.s.Deliver(1, at)
		b.g.Expect(d.Transcript.Text).To(gomega.Equal("hello there"))
	})

	story(t, "without a text it is done, and empty", func(b *recognitionBench) {
		b.live()
		b.g.Expect(b.says(pipeline.TranscriptResult{Final: true})).To(gomega.Equal(stepTranscription(transcription.Done{Turn: 1, Empty: true})))
	})

	story(t, "a turn in which nobody spoke has no transcript, and may be answered", func(b *recognitionBench) {
		b.s.Open(1, 0)
		answered := b.s.CommitWordless(1, time.Time{}, at)
		b.g.Expect(answered.Wordless).To(gomega.BeTrue())
		_, ok := b.s.Deliver(1, at)
		b.g.Expect(ok).To(gomega.BeFalse())
	})

	story(t, "a turn that is dropped reports nothing any more", func(b *recognitionBench) {
		b.live()
		b.r.results <- pipeline.TranscriptResult{Final: true, Text: "late"}
		b.s.Drop(1)
		synctest.Wait()
		for len(b.events) > 0 { // it was on its way
			_, out, _ := b.next()
			b.g.Expect(out).To(gomega.BeEmpty())
		}
		b.g.Expect(b.s.ItemID(1)).To(gomega.BeEmpty())
		b.g.Expect(b.s.Write(1, Frame{})).To(gomega.BeNil())
	})
}

func TestCaptions(t *testing.T) {
	delta := func(out []wire.ServerEvent) string {
		text := ""
		for _, e := range out {
			if d, is := e.(*wire.ConversationItemInputAudioTranscriptionDelta); is {
				text += d.Delta
			}
		}
		return text
	}
	sent := func(out room.List) string {
		var events []wire.ServerEvent
		for _, a := range out {
			events = append(events, a.(room.Send).Event)
		}
		return delta(events)
	}
	say := func(b *recognitionBench, text string) string {
		return sent(b.says(pipeline.TranscriptResult{Partial: text}))
	}
	story(t, "without spaces they leave the last two characters", func(b *recognitionBench) {
		b.live()
		b.s.Announce(1, b.view)
		b.g.Expect(say(b, "今天天气")).To(gomega.Equal("今天"))
		b.g.Expect(say(b, "今天天气很好。")).To(gomega.Equal("天气很"))
		b.g.Expect(say(b, "今天天气很好。我用open")).To(gomega.Equal("好。我用"))
	})
	story(t, "in Japanese, too", func(b *recognitionBench) {
		b.live()
		b.s.Announce(1, b.view)
		b.g.Expect(say(b, "コーヒーを")).To(gomega.Equal("コーヒ"))
		b.g.Expect(say(b, "コーヒーをください")).To(gomega.Equal("ーをくだ"))
	})
	story(t, "they only add, and leave the last word for the next result", func(b *recognitionBench) {
		b.live()
		b.g.Expect(say(b, "I want to")).To(gomega.BeEmpty(), "the turn is not announced")
		out := b.s.Announce(1, b.view)
		b.g.Expect(out[0]).To(gomega.Equal(wire.ServerEvent(&wire.InputAudioBufferSpeechStarted{AudioStartMS: 100, ItemID: b.s.ItemID(1)})))
		b.g.Expect(delta(out)).To(gomega.Equal("I want "))
		b.g.Expect(say(b, "I want two")).To(gomega.BeEmpty())
		b.g.Expect(say(b, "I want two tickets")).To(gomega.Equal("two "))
		b.g.Expect(say(b, "I wanted to go")).To(gomega.BeEmpty(), "it was revised: the transcript replaces it")
		b.g.Expect(say(b, "I want two tickets to Bree")).To(gomega.Equal("tickets to "))
		d, _ := b.s.Deliver(1, time.Time{})
		b.g.Expect(d.Transcript.Captions).To(gomega.Equal("I want two tickets to "), "the transcript's events continue them")
	})
	story(t, "a client that wants no transcripts gets none", func(b *recognitionBench) {
		b.view.Transcripts = false
		b.live()
		b.g.Expect(say(b, "I want to")).To(gomega.BeEmpty())
		b.g.Expect(b.s.Announce(1, b.view)).To(gomega.HaveLen(1))
		b.g.Expect(say(b, "I want to go")).To(gomega.BeEmpty())
	})
}

func TestEndOfUtterance(t *testing.T) {
	eou := pipeline.TranscriptResult{Partial: "yes", EOU: true}
	later := room.Later{Event: coord.OfTurn{Event: turn.EndOfUtterance{Turn: 1, Voiced: true}}}
	story(t, "semantic_vad: both machines are told", func(b *recognitionBench) {
		b.view.Semantic, b.view.Voiced = true, true
		b.live()
		b.g.Expect(b.says(eou)).To(gomega.Equal(append(stepTranscription(transcription.EOU{Turn: 1}), later)))
	})
	story(t, "of a candidate: the turn machine is told once it is a turn", func(b *recognitionBench) {
		b.view.Semantic, b.view.Voiced, b.view.Turn = true, true, turn.Candidate{Turn: 1}
		b.live()
		b.g.Expect(b.s.Opened(1, b.view)).To(gomega.BeEmpty())
		b.g.Expect(b.says(eou)).To(gomega.Equal(stepTranscription(transcription.EOU{Turn: 1})))
		b.g.Expect(b.s.Opened(1, b.view)).To(gomega.Equal(room.List{later}))
	})
	resumed := stepTranscription(transcription.Resumed{Turn: 1})
	story(t, "words after it retract it, once", func(b *recognitionBench) {
		b.view.Semantic, b.view.Voiced = true, true
		b.live()
		b.says(eou)
		again := room.Later{Event: coord.OfTurn{Event: turn.VoiceResumed{Turn: 1}}}
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "Yes."})).To(gomega.BeEmpty(), "that revises the words before it")
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "yes and"})).To(gomega.Equal(append(resumed, again)))
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "yes and no"})).To(gomega.BeEmpty())
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "yes and no", EOU: true})).To(gomega.Equal(append(stepTranscription(transcription.EOU{Turn: 1}), later)))
	})
	story(t, "words after it in a pause retract nothing in the turn machine, which has a timer by then", func(b *recognitionBench) {
		b.view.Semantic = true
		b.live()
		b.says(eou)
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "yes and"})).To(gomega.Equal(resumed))
	})
	story(t, "words after that of a candidate retract it", func(b *recognitionBench) {
		b.view.Semantic, b.view.Voiced, b.view.Turn = true, true, turn.Candidate{Turn: 1}
		b.live()
		b.says(eou)
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "yes and"})).To(gomega.Equal(resumed))
		b.g.Expect(b.s.Opened(1, b.view)).To(gomega.BeEmpty())
	})
	story(t, "words without spaces between them retract it", func(b *recognitionBench) {
		b.view.Semantic = true
		b.live()
		b.says(pipeline.TranscriptResult{Partial: "はい", EOU: true})
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "はい。"})).To(gomega.BeEmpty())
		b.g.Expect(b.says(pipeline.TranscriptResult{Partial: "はいでも"})).To(gomega.Equal(resumed))
	})
	story(t, "server_vad does not ask for it", func(b *recognitionBench) {
		b.live()
		b.g.Expect(b.says(eou)).To(gomega.BeEmpty())
	})
}

// estimator is an endofturn.Estimator that says 0.6 for each frame of silence and each text.
type estimator struct{}

func (estimator) Frame(_ []float32, speech bool) (float64, bool) { return 0.6, !speech }

func (estimator) Text(string, time.Duration) (float64, bool) { return 0.6, true }

func TestAnEstimateEndsAnUtterance(t *testing.T) {
	// estimated opens turn 1 with an estimator.
	estimated := func(b *recognitionBench) {
		b.t.Helper()
		b.s.endOfTurn = func(language string) endofturn.Estimator {
			b.g.Expect(language).To(gomega.Equal("en"))
			return estimator{}
		}
		b.s.Open(1, 2400)
		b.s.Listen(1, pipeline.TranscribeConfig{Live: true, Language: "en"}, []Frame{{PCM: make([]float32, 160), Speech: true}}, b.view)
		_, _, err := b.next()
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	// hears gives a frame of silence and returns what follows from its estimate.
	hears := func(b *recognitionBench) room.List {
		b.t.Helper()
		b.g.Expect(b.s.Write(1, Frame{PCM: make([]float32, 160)})).To(gomega.BeNil())
		e, out, err := b.next()
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		b.g.Expect(e).To(gomega.Equal(RecognitionEvent(Ending{1, 0.6})))
		return out
	}
	ended := append(stepTranscription(transcription.EOU{Turn: 1}), room.Later{Event: coord.OfTurn{Event: turn.EndOfUtterance{Turn: 1}}})
	story(t, "a probability above the threshold", func(b *recognitionBench) {
		b.view.Semantic, b.view.Threshold, b.view.Voiced, b.view.Silence = true, 0.5, true, 150*time.Millisecond
		estimated(b)
		b.g.Expect(hears(b)).To(gomega.Equal(ended))
		b.says(pipeline.TranscriptResult{Partial: "yes"})
		_, out, err := b.next()
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		b.g.Expect(out).To(gomega.Equal(ended), "of a text")
		b.view.Turn = turn.Candidate{Turn: 1}
		b.g.Expect(hears(b)).To(gomega.Equal(stepTranscription(transcription.EOU{Turn: 1})), "of a candidate: the verdict decides")
	})
	story(t, "a probability below the threshold, or speech that has resumed", func(b *recognitionBench) {
		b.view.Semantic, b.view.Threshold, b.view.Silence = true, 0.7, 150*time.Millisecond
		estimated(b)
		b.g.Expect(hears(b)).To(gomega.BeEmpty())
		b.view.Threshold, b.view.Silence = 0.5, 0
		b.g.Expect(hears(b)).To(gomega.BeEmpty())
		b.view.Semantic, b.view.Silence = false, time.Second
		b.g.Expect(hears(b)).To(gomega.BeEmpty(), "server_vad since then")
	})
	story(t, "server_vad has no estimator", func(b *recognitionBench) {
		b.s.endOfTurn = func(string) endofturn.Estimator { panic("nobody wants it") }
		b.live()
		b.g.Expect(b.s.Write(1, Frame{PCM: make([]float32, 160)})).To(gomega.BeNil())
	})
}

func TestARecogniserThatFails(t *testing.T) {
	// fails takes the last report and checks what the client is told.
	fails := func(b *recognitionBench, message string) error {
		b.t.Helper()
		_, out, err := b.next()
		b.g.Expect(err).To(gomega.HaveOccurred())
		b.g.Expect(out).To(gomega.Equal(stepTranscription(transcription.Failed{Turn: 1})))
		b.s.Commit(1, 7, make([]int16, 100), time.Time{}, time.Unix(1, 0))
		d, ok := b.s.DeliverFailure(1)
		b.g.Expect(ok).To(gomega.BeTrue())
		b.g.Expect(d.Transcript).To(gomega.Equal(Transcript{Start: d.Transcript.Start, Samples: 100, Failure: message}))
		return err
	}
	open := func(b *recognitionBench) {
		b.s.Open(1, 0)
		b.s.Listen(1, pipeline.TranscribeConfig{Live: true}, nil, b.view)
	}
	story(t, "it has no live transcription", func(b *recognitionBench) {
		b.r.open = pipeline.ErrNoLive
		open(b)
		_, out, err := b.next()
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		b.g.Expect(out).To(gomega.Equal(stepTranscription(transcription.Refuse{Turn: 1})))
	})
	story(t, "it does not open", func(b *recognitionBench) {
		b.r.open = errors.New("no room")
		open(b)
		_ = fails(b, "no room")
	})
	story(t, "it panics: the stack is kept for the log", func(b *recognitionBench) {
		b.r.panics = true
		open(b)
		_, _, err := b.next()
		b.g.Expect(room.Stack(err)).To(gomega.ContainSubstring("speech_test.go"))
	})
	story(t, "a result is an error", func(b *recognitionBench) {
		b.live()
		b.r.results <- pipeline.TranscriptResult{Err: errors.New("it broke")}
		_ = fails(b, "it broke")
	})
	story(t, "it ends without a result", func(b *recognitionBench) {
		b.live()
		close(b.r.results)
		_ = fails(b, "the recogniser ended without a result")
	})
	story(t, "its text is late: 10 s after the end of the audio", func(b *recognitionBench) {
		b.live()
		b.s.CloseInput(1)
		began := time.Now()
		_ = fails(b, "the recogniser did not answer in time")
		b.g.Expect(time.Since(began)).To(gomega.Equal(finalAfter))
	})
	story(t, "it takes no audio: after a minute the recognition is given up", func(b *recognitionBench) {
		b.r.stuck = true
		open(b)
		for range maxWaiting {
			b.g.Expect(b.s.Write(1, Frame{})).To(gomega.BeNil())
		}
		e := b.s.Write(1, Frame{})
		b.g.Expect(e).To(gomega.Equal(RecognitionEvent(Failed{1, errOverrun})))
		b.events <- e
		_ = fails(b, "the recogniser cannot keep up with the audio")
	})
	story(t, "the machines give a turn up: it is too slow", func(b *recognitionBench) {
		b.live()
		d, _ := b.s.DeliverFailure(1)
		b.g.Expect(d.Transcript.Failure).To(gomega.HavePrefix("the recogniser is too slow"))
		b.g.Expect(d.Late).To(gomega.BeTrue())
	})
}

// hangs is a pipeline.Transcriber that does not return before the channel is closed.
type hangs chan struct{}

func (h hangs) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	<-h
	return nil, errors.New("too late")
}

func TestAGateThatHangs(t *testing.T) {
	story(t, "leaves the live recogniser its places", func(b *recognitionBench) {
		gate := make(hangs)
		b.s.retranscriber = gate
		for id := range turn.ID(watchdog.MaxAbandoned) {
			b.s.Open(id+1, 0)
			b.s.AskGate(turn.AskGate{Turn: id + 1, Gen: 1}, pipeline.TranscribeConfig{}, []int16{1})
			b.s.Drop(id + 1)
		}
		<-time.After(10 * time.Second)
		b.live()
		close(gate)
		synctest.Wait()
	})
}

// TestAStaleAnswerOfTheGate: the answer to an earlier question counts for nothing, nor does one that nobody waits for any more.
func TestAStaleAnswerOfTheGate(t *testing.T) {
	for n := range uint32(3 * 3 * 3) {
		asked, confirming, answered := n%3, n/3%3, n/9
		for _, waits := range []bool{true, false} {
			u, v := &userTurn{}, RecognitionView{}
			u.gate.gen = asked
			v.Turn = turn.State(turn.Speaking{Turn: 1})
			if waits {
				v.Turn = turn.Confirming{Turn: 1, Gen: confirming}
			}
			out, err := (&Recognitions{}).retranscribed(u, Retranscribed{Turn: 1, Gen: answered, Text: "hello", Probability: 1}, v)
			g := gomega.NewWithT(t)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			counts := waits && asked == answered && confirming == answered
			g.Expect([]bool{len(out) > 0, u.whole != nil}).To(gomega.Equal([]bool{counts, counts}))
		}
	}
}
