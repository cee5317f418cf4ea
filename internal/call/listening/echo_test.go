package listening

// The agent's echo is not taken for speech.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// farEnd plays a recording to the client and keeps all of it.
type farEnd struct {
	pcm   []int16
	sent  voice.Samples
	reads int
}

func (f *farEnd) FarEndPosition() voice.Samples { return f.sent }

func (f *farEnd) ReadFarEnd(at voice.Samples, dst []int16) bool {
	f.reads++
	if at < 0 || at+voice.Samples(len(dst)) > f.sent {
		return false
	}
	copy(dst, f.pcm[at:])
	return true
}

// roundTrip is the path to a client.
type roundTrip time.Duration

func (r roundTrip) RoundTrip() time.Duration { return time.Duration(r) }

// play plays the agent's audio for this long. Its echo comes back in the microphone signal, delayed and at -20 dB.
func (b *bench) play(f *farEnd, later time.Duration, said []int16) {
	const piece = 480
	back := make([]int16, piece)
	for ; len(said) >= piece; said = said[piece:] {
		f.sent += piece
		mixed := append([]int16(nil), said[:piece]...)
		if f.ReadFarEnd(f.sent-voice.SamplesIn(later.Milliseconds(), room.OutputRate)-piece, back) {
			for i := range mixed {
				mixed[i] += back[i] / 10
			}
		}
		b.speak(mixed)
	}
}

func TestTheAgentsEchoIsNoSpeech(t *testing.T) {
	playing := func(t *testing.T) (*bench, *farEnd) {
		t.Helper()
		b := newBench(t, nil)
		f := &farEnd{pcm: append(scripted.Tones("one two three four five six seven eight nine ten eleven twelve thirteen fourteen"), make([]int16, 24*20_000)...)}
		b.view.AgentAudible, b.view.FarEnd, b.view.Path = true, f, roundTrip(100*time.Millisecond)
		return b, f
	}
	quiet := make([]int16, 24*3800)
	for _, later := range []time.Duration{140, 220, 330} {
		t.Run((later * time.Millisecond).String(), func(t *testing.T) {
			b, f := playing(t)
			b.play(f, later*time.Millisecond, quiet)
			b.g.Expect(b.events).To(gomega.BeEmpty())
		})
	}
	t.Run("the far end is not known", func(t *testing.T) {
		b, f := playing(t)
		b.view.FarEnd = nil
		b.play(f, 220*time.Millisecond, quiet)
		b.g.Expect(b.events).NotTo(gomega.BeEmpty())
	})
	t.Run("speech over the echo is found", func(t *testing.T) {
		b, f := playing(t)
		b.play(f, 220*time.Millisecond, quiet[:24*3000])
		b.play(f, 220*time.Millisecond, scripted.Tones("stop it now please"))
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Sustained"}))
	})
	t.Run("it is looked for a second longer than the agent is audible", func(t *testing.T) {
		b, f := playing(t)
		b.play(f, 220*time.Millisecond, quiet[:24*2000])
		b.view.AgentAudible = false
		b.play(f, 220*time.Millisecond, quiet[:24*900])
		b.g.Expect(b.in.listener.echo.idle).To(gomega.BeNumerically("~", 90, 2))
		b.play(f, 220*time.Millisecond, quiet[:24*400])
		b.g.Expect(b.in.listener.echo.idle).To(gomega.Equal(echoFrames))
	})
}

// No echo is looked for in the digital silence of a user who is muted, once there is certainly none. A soft user is heard after it as early as where nothing is played.
func TestNoEchoIsLookedForInDigitalSilence(t *testing.T) {
	softly := scripted.Tones("wait a moment please")
	for i := range softly {
		softly[i] /= 20
	}
	agent := scripted.Tones("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
	heard := func(far bool) (b *bench, f *farEnd, onset int) {
		b, f = newBench(t, nil), &farEnd{pcm: append(agent, agent...)}
		if b.view.AgentAudible = true; far {
			b.view.FarEnd = f
		}
		say := func(pcm []int16) {
			for ; len(pcm) >= 480; pcm = pcm[480:] {
				f.sent += 480
				b.speak(pcm[:480])
			}
		}
		say(make([]int16, 24*4500))
		before := f.reads
		say(make([]int16, 24*1000))
		b.g.Expect(f.reads).To(gomega.Equal(before))
		b.seen = func(Frame) {
			if len(b.events) == 0 {
				onset = b.frames
			}
		}
		say(softly)
		return b, f, onset
	}
	b, f, over := heard(true)
	_, _, alone := heard(false)
	b.g.Expect(b.events).To(gomega.HaveExactElements("Onset", "Sustained"))
	b.g.Expect(over).To(gomega.Equal(alone))
	b.g.Expect(f.reads).To(gomega.BeNumerically(">", 400))
}
