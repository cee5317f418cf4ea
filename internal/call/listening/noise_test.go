package listening

// Noise reduction in front of the Input: nothing is lost, nothing moves, and a failure leaves the audio as it was.

import (
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// halving is a NoiseReduction that halves each sample and returns it late samples later.
type halving struct {
	late   int
	taken  []int16
	fails  error // the error of the next call
	closed int
}

func (h *halving) Append(dst, pcm []int16) ([]int16, error) {
	h.taken = append(h.taken, pcm...)
	return h.give(dst, len(h.taken)-h.late)
}

func (h *halving) Flush(dst []int16) ([]int16, error) { return h.give(dst, len(h.taken)) }

func (h *halving) give(dst []int16, n int) ([]int16, error) {
	if h.fails != nil {
		return dst, h.fails
	}
	n = max(0, n)
	for _, x := range h.taken[:n] {
		dst = append(dst, x/2)
	}
	h.taken = h.taken[n:]
	return dst, nil
}

func (h *halving) Delay() time.Duration {
	return time.Duration(h.late) * time.Second / room.InputRate
}

func (h *halving) Close() { h.closed++ }

// counting returns n samples from a value on.
func counting(from, n int) []int16 {
	x := make([]int16, n)
	for i := range x {
		x[i] = int16(from + i)
	}
	return x
}

// halved returns each sample halved.
func halved(x []int16) []int16 {
	y := make([]int16, len(x))
	for i, v := range x {
		y[i] = v / 2
	}
	return y
}

func TestACleanerConservesAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	var c cleaner
	var out []int16
	take := func(pcm []int16) { out = append(out, c.clean(pcm)...) }
	take(counting(0, 100))
	h := &halving{late: 30}
	c.replace(h)
	g.Expect(c.delay()).To(gomega.Equal(30 * time.Second / room.InputRate))
	take(counting(100, 20))
	take(counting(120, 80))
	out = append(out, c.flush()...)
	take(counting(200, 100))
	c.replace(&halving{late: 7})
	g.Expect(h.closed).To(gomega.Equal(1))
	take(counting(300, 100))
	c.replace(nil)
	take(counting(400, 100))
	take(counting(500, 100))
	want := append(counting(0, 100), halved(counting(100, 300))...)
	g.Expect(out).To(gomega.Equal(append(want, counting(400, 200)...)))
	g.Expect(c.takeFailure()).To(gomega.Succeed())
}

func TestARecordingStaysAsItIs(t *testing.T) {
	g := gomega.NewWithT(t)
	c := cleaner{reduction: &halving{late: 30}}
	out := append([]int16(nil), c.clean(counting(0, 100))...)
	out = append(out, c.clean(counting(100, maxLive+1))...)
	out = append(out, c.clean(counting(0, 100))...)
	out = append(out, c.flush()...)
	want := append(halved(counting(0, 100)), counting(100, maxLive+1)...)
	g.Expect(out).To(gomega.Equal(append(want, halved(counting(0, 100))...)))
}

func TestAReductionThatFails(t *testing.T) {
	g := gomega.NewWithT(t)
	h := &halving{late: 30}
	c := cleaner{reduction: h}
	out := append([]int16(nil), c.clean(counting(0, 100))...)
	h.fails = errors.New("trapped")
	out = append(out, c.clean(counting(100, 100))...)
	out = append(out, c.clean(counting(200, 100))...)
	g.Expect(out).To(gomega.Equal(append(halved(counting(0, 70)), counting(70, 230)...)))
	g.Expect(c.takeFailure()).To(gomega.MatchError(h.fails))
	g.Expect(c.takeFailure()).To(gomega.Succeed(), "once")
	g.Expect(h.closed).To(gomega.Equal(1))
}

// Once the user has spoken, talk in the background opens no turn and ends none late.
func TestTalkInTheBackgroundOpensNoTurn(t *testing.T) {
	g := gomega.NewWithT(t)
	b := newBench(t, nil)
	b.quiet(500)
	b.speak(scripted.Tones("hello there, can you hear me now"))
	b.quiet(1500)
	before := len(b.events)
	g.Expect(before).NotTo(gomega.BeZero())
	television := scripted.Tones("and now for something completely different, the weather of tomorrow")
	for i := range television {
		television[i] /= 6 // 15 dB below
	}
	b.speak(television)
	b.quiet(1000)
	g.Expect(b.events[before:]).To(gomega.BeEmpty())
	b.speak(scripted.Tones("hello"))
	b.quiet(1000)
	g.Expect(len(b.events)).To(gomega.BeNumerically(">", before))
}

// An onset has the same place with a late reduction as without one, and the last speech has the same time.
func TestPlacesAreThoseOfTheAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	var events [2][]string
	var speech [2]time.Time
	for i, late := range []int{0, 240} { // 10 ms
		b := newBench(t, nil)
		b.in.cleaner.replace(&halving{late: late})
		b.quiet(500)
		b.speak(scripted.Tones("hello there"))
		b.quiet(1000)
		events[i], speech[i] = b.events, b.in.listener.lastSpeech
	}
	g.Expect(events[0]).NotTo(gomega.BeEmpty())
	g.Expect(events[1]).To(gomega.Equal(events[0]))
	g.Expect(speech[1]).To(gomega.BeTemporally("~", speech[0], 10*time.Millisecond))
}
