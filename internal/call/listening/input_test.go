package listening

// The Input: audio and time go in, events of the turn machine come out.

import (
	"slices"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// bench drives an Input without a session: it has the View for it, and a simple turn machine that opens and commits turns.
type bench struct {
	t        *testing.T
	g        *gomega.WithT
	in       *Input
	view     InputView
	now      time.Time
	frames   int
	events   []string // "name at ms", as the detector counts
	at       []turn.Event
	failures []string
	commits  [][]int16
	turns    turn.ID
	near     bool // the agent has almost finished when a candidate opens
	seen     func(Frame)
}

func newBench(t *testing.T, change func(*wire.TurnDetection)) *bench {
	t.Helper()
	g := gomega.NewWithT(t)
	in, err := NewInput(MaxBuffer, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	td := *wire.DefaultSession().Audio.Input.TurnDetection
	if change != nil {
		change(&td)
	}
	in.Configure(&td)
	in.StartDetection()
	return &bench{t: t, g: g, in: in, view: InputView{Turn: turn.Idle{}}, now: time.Unix(0, 0)}
}

// speak appends audio in pieces of 20 ms, each when it was spoken.
func (b *bench) speak(pcm []int16) {
	for len(pcm) > 0 {
		n := min(len(pcm), 480)
		b.now = b.now.Add(20 * time.Millisecond)
		b.in.Append(pcm[:n], b.now)
		b.drain()
		pcm = pcm[n:]
	}
}

func (b *bench) quiet(ms int) { b.speak(make([]int16, ms*24)) }

// contains reports whether pcm has all of part, without a gap.
func contains(pcm, part []int16) bool {
	for ; len(pcm) >= len(part); pcm = pcm[1:] {
		if slices.Equal(pcm[:len(part)], part) {
			return true
		}
	}
	return false
}

func (b *bench) drain() {
	for r, ok := b.in.Next(b.view); ok; r, ok = b.in.Next(b.view) {
		if r.Frame.PCM != nil {
			b.frames++
			b.g.Expect(r.Frame.PCM).To(gomega.HaveLen(voice.FrameRate / 100))
			if b.seen != nil {
				b.seen(r.Frame)
			}
		}
		if r.Failure != nil {
			b.failures = append(b.failures, r.Failure.Code)
		}
		if r.Event != nil {
			b.take(r.Event)
		}
	}
}

// take handles an event as a simple turn machine, without barge-in rules and without an end of utterance.
func (b *bench) take(e turn.Event) {
	b.events, b.at = append(b.events, e.Name()), append(b.at, e)
	switch e := e.(type) {
	case turn.Onset:
		b.turns++
		b.in.buffer.DropBefore(b.in.TurnStart())
		if b.view.AgentAudible {
			b.in.openCandidate(b.turns, judge{}, b.near, b.view)
			b.view.Turn = turn.Candidate{Turn: b.turns}
			return
		}
		b.view.Turn = turn.Speaking{Turn: b.turns}
	case turn.Sustained:
		b.view.Turn = turn.Speaking{Turn: e.Turn}
	case turn.Misfire:
		b.in.CandidateRejected()
		b.view.Turn = turn.Idle{}
	case turn.Silence:
		if e.FallbackMS > 0 {
			return
		}
		b.commits = append(b.commits, b.in.Commit())
		b.in.TurnEnded()
		b.view.Turn = turn.Idle{}
	}
}

func TestATurn(t *testing.T) {
	t.Run("it begins with the pre-roll and ends with the silence after it", func(t *testing.T) {
		b := newBench(t, nil)
		b.quiet(1000)
		said := scripted.Tones("hello there")
		b.speak(said)
		b.quiet(700)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Silence"}))
		b.g.Expect(b.frames).To(gomega.Equal((1000+len(said)/24+700)/10-1), "the recogniser gets all but what the resampler delays")
		b.g.Expect(b.commits).To(gomega.HaveLen(1))
		b.g.Expect(contains(b.commits[0], said)).To(gomega.BeTrue())
		b.g.Expect(len(b.commits[0]) / 24).To(gomega.BeNumerically("~", 300+len(said)/24+500, 60))
		b.g.Expect(b.in.listener.lastSpeech).To(gomega.BeTemporally("~", b.now.Add(-700*time.Millisecond), 80*time.Millisecond))
		b.g.Expect(b.in.EndMS()).To(gomega.Equal(b.frames*10 + 10))
	})

	t.Run("speech after its end, in the same piece of audio, stays in the buffer", func(t *testing.T) {
		b := newBench(t, nil)
		b.quiet(300)
		b.speak(scripted.Tones("one"))
		b.in.Append(append(make([]int16, 24*700), scripted.Tones("two")...), b.now)
		b.drain()
		b.quiet(700)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Silence", "Onset", "Silence"}))
		for i, word := range []string{"one", "two"} {
			b.g.Expect(contains(b.commits[i], scripted.Tones(word))).To(gomega.BeTrue(), word)
		}
	})

	t.Run("a turn that ends during speech goes on in the next, and its last sound alone begins none", func(t *testing.T) {
		for ms, next := range map[int]bool{150: false, 900: true} {
			b := newBench(t, nil)
			b.quiet(300)
			long := scripted.Tones("a long sentence that has no end")
			b.speak(long[:24*1000])
			b.g.Expect(b.events).To(gomega.Equal([]string{"Onset"}))
			b.take(turn.Silence{Turn: b.turns}) // the client commits
			b.speak(long[24*1000 : 24*(1000+ms)])
			b.quiet(700)
			if next {
				b.g.Expect(b.events[2:]).To(gomega.Equal([]string{"Onset", "Silence"}))
				b.g.Expect(len(b.commits[1])/24).To(gomega.BeNumerically("~", ms+500, 100), "nothing of the speech is lost")
			} else {
				b.g.Expect(b.events[2:]).To(gomega.BeEmpty())
			}
		}
	})

	t.Run("a client that detects turns itself gets no events", func(t *testing.T) {
		for _, off := range []func(*Input){func(in *Input) { in.Configure(nil) }, func(in *Input) { in.on = false }} {
			b := newBench(t, nil)
			off(b.in)
			b.g.Expect(b.in.Detecting()).To(gomega.BeFalse())
			said := scripted.Tones("hello")
			b.speak(said)
			b.quiet(1000)
			b.g.Expect(b.events).To(gomega.BeEmpty())
			b.g.Expect(b.in.buffer.Len()).To(gomega.Equal(len(said)+24*1000), "the client's buffer keeps everything")
		}
	})
}

func TestSemanticEndpointing(t *testing.T) {
	semantic := func(eagerness string) func(*wire.TurnDetection) {
		return func(td *wire.TurnDetection) { td.Type, td.Eagerness = wire.SemanticVAD, eagerness }
	}
	speak := func(b *bench) {
		b.quiet(300)
		b.speak(scripted.Tones("hello"))
		b.quiet(300)
	}
	t.Run("a short silence asks for an end of utterance, and for how long", func(t *testing.T) {
		for eagerness, ms := range map[string]uint32{"low": 8000, "medium": 4000, "auto": 4000, "high": 2000} {
			b := newBench(t, semantic(eagerness))
			speak(b)
			b.g.Expect(b.at[1]).To(gomega.Equal(turn.Event(turn.Silence{Turn: 1, FallbackMS: ms})), eagerness)
			b.g.Expect(b.in.Voiced()).To(gomega.BeFalse())
		}
	})
	t.Run("the user goes on speaking", func(t *testing.T) {
		b := newBench(t, semantic("auto"))
		speak(b)
		b.speak(scripted.Tones("again"))
		b.g.Expect(b.in.Voiced()).To(gomega.BeTrue())
		b.quiet(300)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Silence", "VoiceResumed", "Silence"}))
	})
	t.Run("without a live transcription a turn ends as with server_vad", func(t *testing.T) {
		b := newBench(t, semantic("auto"))
		b.view.NoLiveTranscription = true
		speak(b)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset"}))
		b.quiet(300)
		b.g.Expect(b.at[1]).To(gomega.Equal(turn.Event(turn.Silence{Turn: 1})))
	})
}

// overAgent returns a bench whose agent has been audible for 3.1 s, so that echo cancellation has adapted.
func overAgent(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, nil)
	b.view.AgentAudible = true
	b.quiet(3100)
	return b
}

func TestSpeechOverTheAgent(t *testing.T) {
	t.Run("a cough is rejected, and its audio is dropped", func(t *testing.T) {
		b := overAgent(t)
		b.speak(scripted.Tones("a")[:24*150])
		b.quiet(600)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Misfire"}))
		b.g.Expect(b.in.buffer.Len()).To(gomega.BeNumerically("<=", 24*(300+30+10)), "the pre-roll is left")
	})
	t.Run("sustained speech is confirmed, and none of it is lost", func(t *testing.T) {
		b := overAgent(t)
		said := scripted.Tones("stop it now please")
		b.speak(said)
		b.quiet(700)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Sustained", "Silence"}))
		b.g.Expect(contains(b.commits[0], said)).To(gomega.BeTrue())
	})
	t.Run("words decide earlier", func(t *testing.T) {
		b := overAgent(t)
		b.speak(scripted.Tones("stop it now please")[:24*300])
		b.g.Expect(b.in.Partial(b.turns, "mm-hm")).To(gomega.BeNil())
		b.g.Expect(b.in.Partial(b.turns, "stop")).To(gomega.Equal(turn.Event(turn.Sustained{Turn: b.turns})))
		b.g.Expect(b.in.Partial(b.turns+1, "stop")).To(gomega.BeNil(), "it is no candidate")
	})
	t.Run("a client that stops sending during speech has fallen silent", func(t *testing.T) {
		b := overAgent(t)
		b.speak(scripted.Tones("stop it now please")[:24*300])
		b.g.Expect(b.in.Decide(b.turns, b.now.Add(time.Second))).To(gomega.Equal(turn.Event(turn.Misfire{Turn: b.turns})))
		b.g.Expect(b.in.Decide(b.turns, b.now)).To(gomega.Equal(turn.Event(turn.Misfire{Turn: b.turns})), "the silence counts")
		b.g.Expect(b.in.Decide(b.turns+1, b.now)).To(gomega.BeNil())
	})
}

// TestPredictedCandidates: the client's detector is first, and opens the candidate.
func TestPredictedCandidates(t *testing.T) {
	t.Run("the candidate waits for its speech", func(t *testing.T) {
		b := overAgent(t)
		b.turns++
		b.in.OpenPredicted(b.turns, false, false, b.view)
		b.view.Turn = turn.Candidate{Turn: b.turns}
		b.quiet(140)
		b.speak(scripted.Tones("stop it now please"))
		b.g.Expect(b.events).To(gomega.Equal([]string{"Sustained"}))
	})
	t.Run("it answers the end of the agent's speech: a short word is enough", func(t *testing.T) {
		for answers, want := range map[bool]string{true: "Sustained", false: "Misfire"} {
			b := overAgent(t)
			b.turns++
			b.in.OpenPredicted(b.turns, answers, false, b.view)
			b.view.Turn = turn.Candidate{Turn: b.turns}
			b.speak(scripted.Tones("yes please")[:24*400])
			b.quiet(300)
			b.g.Expect(b.events[:1]).To(gomega.Equal([]string{want}))
		}
	})
}

// TestThresholdWhileEchoCancellationAdapts: the detector is less sensitive at the beginning of the first playback and after each one.
func TestThresholdWhileEchoCancellationAdapts(t *testing.T) {
	var p playback
	td := &wire.TurnDetection{Type: wire.ServerVAD, Threshold: 0.5}
	now := time.Unix(100, 0)
	within := func(got float32, want float64, why string) {
		t.Helper()
		gomega.NewWithT(t).Expect(got).To(gomega.BeNumerically("~", want, 1e-6), why)
	}
	within(p.threshold(td, false, now), 0.5, "nothing has been played")
	within(p.threshold(td, true, now), 0.7, "the first playback begins")
	within(p.threshold(td, true, now.Add(adaptFirst)), 0.5, "it has adapted")
	p.ended = now.Add(10 * time.Second)
	within(p.threshold(td, false, now.Add(10*time.Second)), 0.7, "the playback has just ended")
	within(p.threshold(td, false, now.Add(10*time.Second+adaptAfter)), 0.5, "a little later")
	within(p.threshold(&wire.TurnDetection{Type: wire.ServerVAD, Threshold: 0.95}, true, now), 0.95, "a higher threshold stays")
	within(p.threshold(&wire.TurnDetection{Type: wire.SemanticVAD, Threshold: 0.9}, false, now.Add(time.Minute)), 0.5, "semantic_vad has none")
}

func TestFullBuffer(t *testing.T) {
	t.Run("a turn that is longer than the buffer is committed, and goes on in the next", func(t *testing.T) {
		b := newBench(t, nil)
		b.take(turn.Onset{})
		b.in.buffer.Append(make([]int16, MaxBuffer))
		b.speak(make([]int16, 480))
		b.g.Expect(b.in.buffer.Len()).To(gomega.Equal(480))
		b.g.Expect(b.in.buffer.committed).To(gomega.BeNumerically("==", MaxBuffer))
		b.g.Expect(b.commits).To(gomega.HaveLen(1))
		b.g.Expect(b.failures).To(gomega.BeEmpty())
	})
	t.Run("a turn that does not commit loses its oldest audio, without a failure", func(t *testing.T) {
		b := newBench(t, nil)
		b.in.buffer.Append(make([]int16, MaxBuffer))
		b.in.Append(make([]int16, 480), b.now)
		v := InputView{Turn: turn.Confirming{Turn: 1}}
		r, ok := b.in.Next(v)
		b.g.Expect([]any{r.Event, ok}).To(gomega.Equal([]any{turn.Silence{Turn: 1}, true}))
		r, ok = b.in.Next(v)
		b.g.Expect([]any{r.Event, r.Failure, ok}).To(gomega.HaveExactElements(gomega.BeNil(), gomega.BeNil(), gomega.BeTrue()))
		b.drain()
		b.g.Expect(b.in.buffer.Len()).To(gomega.Equal(MaxBuffer - MaxBuffer/makesRoom + 480))
	})
	t.Run("a client that commits by itself keeps its newest audio, and gets one failure", func(t *testing.T) {
		b := newBench(t, nil)
		b.in.Configure(nil)
		b.in.buffer.Append(make([]int16, MaxBuffer))
		newest := scripted.Tones("the newest words")
		for range 2 {
			b.speak(newest)
		}
		b.g.Expect(b.failures).To(gomega.Equal([]string{"input_audio_buffer_full"}))
		b.g.Expect(b.in.buffer.Len()).To(gomega.Equal(MaxBuffer - MaxBuffer/makesRoom + 2*len(newest)))
		b.g.Expect(b.in.buffer.pcm[b.in.buffer.Len()-len(newest):]).To(gomega.Equal(newest))
		b.in.Clear()
		b.speak(make([]int16, 480))
		b.g.Expect(b.in.buffer.Len()).To(gomega.Equal(480))
	})
}

func TestAudioOfEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	b := newBench(t, nil)
	b.in.Configure(nil)
	g.Expect(b.in.AppendEncoded(wire.FormatPCM, make([]byte, 3), b.now).Param).To(gomega.Equal("audio"))
	g.Expect(b.in.AppendEncoded(wire.FormatPCM, make([]byte, 4798), b.now)).To(gomega.BeNil())
	b.drain()
	g.Expect(b.in.CheckCommit().Code).To(gomega.Equal("input_audio_buffer_commit_empty"))
	g.Expect(b.in.CheckCommit().Message).To(gomega.HaveSuffix("buffer only has 99.96ms of audio."))
	g.Expect(b.in.AppendEncoded(wire.FormatPCM, make([]byte, 2), b.now)).To(gomega.BeNil())
	b.drain()
	g.Expect(b.in.CheckCommit()).To(gomega.BeNil())
	b.in.Clear()

	g.Expect(b.in.AppendEncoded(wire.FormatPCMU, make([]byte, 800), b.now)).To(gomega.BeNil())
	b.drain()
	b.in.EndEncoded(b.now)
	b.drain()
	g.Expect(b.in.buffer.Len()).To(gomega.Equal(2400), "100 ms are 100 ms in any format")
	b.in.Clear()
	b.in.EndEncoded(b.now)
	b.drain()
	g.Expect(b.in.buffer.Len()).To(gomega.BeZero(), "what was cleared has no rest")
}

func TestTimes(t *testing.T) {
	g := gomega.NewWithT(t)
	idle := 7000
	b := newBench(t, func(td *wire.TurnDetection) { td.IdleTimeoutMS = &idle })
	d, ok := b.in.IdleTimeout()
	g.Expect([]any{d, ok}).To(gomega.Equal([]any{7 * time.Second, true}))
	b.in.on = false
	_, ok = b.in.IdleTimeout()
	g.Expect(ok).To(gomega.BeFalse(), "the detector is off")

	b.quiet(20)
	g.Expect(b.in.AudioTimeoutIn(b.now.Add(2 * time.Second))).To(gomega.Equal(3 * time.Second))
	g.Expect(b.in.AudioTimeoutIn(b.now.Add(5 * time.Second))).To(gomega.BeZero())

	b = newBench(t, func(td *wire.TurnDetection) { td.Type, td.IdleTimeoutMS = wire.SemanticVAD, &idle })
	_, ok = b.in.IdleTimeout()
	g.Expect(ok).To(gomega.BeFalse(), "semantic_vad has none")
}

// A recogniser that opens late gets the frames that Next has returned, and learns in which of them the user spoke.
func TestFramesForALateRecogniser(t *testing.T) {
	b := newBench(t, nil)
	var all []Frame
	b.seen = func(f Frame) { all = append(all, Frame{PCM: slices.Clone(f.PCM), Speech: f.Speech}) }
	same := func(start voice.Samples, n int) {
		b.t.Helper()
		frames := b.in.FramesSince(start)
		b.g.Expect(frames).To(gomega.HaveLen(n))
		for i, f := range frames {
			from := 0
			if i == 0 {
				from = 48 // 3 ms: the filter knows nothing of the sound before
			}
			b.g.Expect(f.PCM[from:]).To(gomega.Equal(all[len(all)-n+i].PCM[from:]), "frame %d of %d", i, n)
			b.g.Expect(f.Speech).To(gomega.Equal(all[len(all)-n+i].Speech), "frame %d of %d", i, n)
		}
	}
	b.quiet(400)
	same(voice.Samples(b.frames*frameSamples), 0)
	same(voice.Samples((b.frames-10)*frameSamples), 10)
	b.speak(scripted.Tones("a sentence"))
	b.g.Expect(b.view.Turn).To(gomega.BeAssignableToTypeOf(turn.Speaking{}))
	b.g.Expect(all[len(all)-1].Speech).To(gomega.BeTrue())
	for _, n := range []int{1, 20, 50} {
		same(voice.Samples((b.frames-n)*frameSamples), n)
		same(voice.Samples((b.frames-n-1)*frameSamples)+1, n)
	}
	whole := b.in.FramesSince(0)
	b.g.Expect(len(whole)).To(gomega.Equal(b.frames-int(b.in.buffer.Start()/frameSamples)), "as far back as the buffer has them")
}

// stall lets no audio arrive for a while. The transport reports the missing samples.
func (b *bench) stall(ms int) {
	for ; ms > 0; ms -= 20 {
		b.now = b.now.Add(20 * time.Millisecond)
		b.in.Missing(480)
		b.drain()
	}
}

func TestAStallOfTheNetwork(t *testing.T) {
	said := scripted.Tones("a sentence that the network interrupts")
	half := len(said) / 2 / 480 * 480
	t.Run("it does not end the turn, and the speech before and after it is one", func(t *testing.T) {
		for _, ms := range []int{200, 600, 1400} {
			b := newBench(t, nil)
			b.quiet(300)
			b.speak(said[:half])
			b.stall(ms)
			b.speak(said[half:])
			b.quiet(700)
			b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Silence"}), "%d ms", ms)
			b.g.Expect(contains(b.commits[0], said)).To(gomega.BeTrue(), "%d ms", ms)
		}
	})
	t.Run("a longer gap counts as silence: the client has stopped sending", func(t *testing.T) {
		b := newBench(t, nil)
		b.quiet(300)
		b.speak(said[:half])
		b.stall(2000)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Silence"}))
	})
	t.Run("each stall has its own bound", func(t *testing.T) {
		b := newBench(t, nil)
		b.quiet(300)
		for piece := range slices.Chunk(said, 4800) {
			b.speak(piece)
			b.stall(1000)
		}
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset"}))
	})
}
