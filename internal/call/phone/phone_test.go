package phone

// The link of a telephone call, with a far side that plays what it gets.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const frameTime = outgoing.FrameTime

// far is the far side of a telephone: it has a queue and plays a frame of it every 20 ms. Its rate is that of the server, so that the tests can
// compare samples.
type far struct {
	traits Traits

	mu     sync.Mutex
	queue  [][]int16
	most   int // the longest the queue has been
	paused bool
	played []int16 // voiced frames
	did    []string
	fails  error
	hungUp int
}

func (f *far) Traits() Traits { return f.traits }

func (f *far) Send(pcm []int16, voiced bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails != nil {
		return f.fails
	}
	if voiced {
		f.queue = append(f.queue, slices.Clone(pcm))
	} else if f.traits.Ahead == 0 {
		f.queue = append(f.queue, nil)
	}
	f.most = max(f.most, len(f.queue))
	return nil
}

func (f *far) HangUp() { f.did, f.hungUp = append(f.did, "hang up"), f.hungUp+1 }

// run plays until stop is closed. It begins half a frame after the pacer.
func (f *far) run(stop <-chan struct{}) {
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		f.mu.Lock()
		if len(f.queue) > 0 && !f.paused {
			f.played = append(f.played, f.queue[0]...)
			f.queue = f.queue[1:]
		}
		f.mu.Unlock()
	}
}

func (f *far) note(what string, change func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, what)
	change()
	return nil
}

// queued is a far side with a queue that can be stopped.
type queued struct{ *far }

func (f queued) Pause() error    { return f.note("pause", func() { f.paused = true }) }
func (f queued) Continue() error { return f.note("continue", func() { f.paused = false }) }
func (f queued) Flush() error {
	return f.note("flush", func() { f.paused, f.queue = false, nil })
}

// flushed is a far side that can only drop what it has.
type flushed struct{ *far }

func (f flushed) Flush() error { return f.note("flush", func() { f.queue = nil }) }

// told is what a handler was told.
type told struct {
	mu      sync.Mutex
	words   []string
	heard   int // samples of the user
	longest int
	loud    bool // some of it was no silence
}

func (h *told) add(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.words = append(h.words, fmt.Sprintf(format, args...))
}

func (h *told) Opened()                          { h.add("opened") }
func (h *told) Message([]byte, bool)             { h.add("message") }
func (h *told) Missing(n int)                    { h.add("missing %d", n) }
func (h *told) Lost()                            { h.add("lost") }
func (h *told) Restored()                        { h.add("restored") }
func (h *told) Failed(err error)                 { h.add("failed: %v", err) }
func (h *told) Sent(uint64, voice.Samples, bool) {}
func (h *told) Drained(gen uint64)               { h.add("drained %d", gen) }
func (h *told) Greet(words string)               { h.add("greet %s", words) }
func (h *told) Digit(d byte)                     { h.add("digit %c", d) }
func (h *told) Progress(s string, n int)         { h.add("%s %d", s, n) }
func (h *told) Audio(pcm []int16) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.heard += len(pcm)
	h.longest = max(h.longest, len(pcm))
	h.loud = h.loud || slices.ContainsFunc(pcm, func(s int16) bool { return s != 0 })
}

func (h *told) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.words)
}

// call is a link with its far side in a synctest bubble.
type call struct {
	*gomega.WithT
	link *Link
	out  *Output
	far  *far
	told *told
	stop chan struct{}
}

func begin(t *testing.T, transport Transport, f *far) *call {
	t.Helper()
	c := &call{WithT: gomega.NewWithT(t), far: f, told: &told{}, stop: make(chan struct{})}
	var err error
	c.link, err = NewLink(transport, c.told)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.out, _ = c.link.Output().(*Output)
	c.link.Begin()
	<-time.After(frameTime / 2)
	go f.run(c.stop)
	<-time.After(frameTime / 4)
	synctest.Wait()
	return c
}

// pass lets the time of n frames pass. The test looks after the far side has played, and before the next frame is sent.
func (c *call) pass(n int) {
	<-time.After(time.Duration(n) * frameTime)
	synctest.Wait()
}

func (c *call) end() {
	c.Expect(c.link.Close()).To(gomega.Succeed())
	c.Expect(c.link.Close()).To(gomega.Succeed())
	c.Expect(c.far.hungUp).To(gomega.Equal(1))
	close(c.stop)
}

func ramp(from, to int) []int16 {
	pcm := make([]int16, to-from)
	for i := range pcm {
		pcm[i] = int16((from+i)%30_000 + 1)
	}
	return pcm
}

const fs = outgoing.FrameSize

func ms(n int64) voice.Samples { return voice.SamplesIn(n, outgoing.Rate) }

func TestFarSideIsAtMostSixtyMillisecondsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		c := begin(t, queued{f}, f)
		c.out.Begin(1)
		c.out.Write(ramp(0, 100*fs))
		c.out.End()
		for range 104 {
			c.pass(1)
		}
		c.Expect(f.played).To(gomega.Equal(ramp(0, 100*fs)))
		c.Expect(f.most).To(gomega.Equal(MaxAhead))
		c.Expect(f.did).To(gomega.BeEmpty())
		c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "drained 1"}))
		c.Expect(c.out.Sent()).To(gomega.Equal(voice.Samples(100 * fs)))
		c.end()
	})
}

// While the telephone holds the call the agent's speech stands still, and continues without a gap. Music of the telephone is no speech.
func TestHoldStopsTheAgent(t *testing.T) {
	for _, most := range []int{0, MaxAhead} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: most}}
				c := begin(t, f, f)
				c.out.Begin(1)
				c.out.Write(ramp(0, 50*fs))
				c.out.End()
				c.pass(20)
				c.link.Hold(true)
				c.pass(most + 2)
				at := c.out.Sent()
				c.pass(500)
				c.Expect(c.out.Sent()).To(gomega.Equal(at), "what was not heard counts as not heard")
				c.link.Audio(ramp(0, fs))
				c.Expect(c.told.heard).To(gomega.Equal(fs))
				c.Expect(c.told.loud).To(gomega.BeFalse())
				c.link.Hold(false)
				c.pass(60)
				c.Expect(f.played).To(gomega.Equal(ramp(0, 50*fs)))
				c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "drained 1"}))
				c.end()
			})
		})
	}
}

// A candidate that is rejected costs no sample and repeats none: a queue that can be stopped continues, every other far side has played what it had.
func TestRejectedCandidateLosesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		of   func(f *far) Transport
		most int
		did  []string
	}{
		"a queue that stops":       {func(f *far) Transport { return queued{f} }, MaxAhead, []string{"pause", "continue"}},
		"a queue that only drops":  {func(f *far) Transport { return flushed{f} }, MaxAhead, nil},
		"a far side without queue": {func(f *far) Transport { return f }, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: row.most}}
				c := begin(t, row.of(f), f)
				c.out.Begin(1)
				c.out.Write(ramp(0, 50*fs))
				c.out.End()
				c.pass(20)
				onset := c.out.Sent() // the machines note the position before they hold
				at := c.out.Hold()
				c.Expect(c.out.Hold()).To(gomega.Equal(at), "it is held already")
				c.pass(10)
				c.Expect(c.out.Sent()).To(gomega.Equal(at))
				f.mu.Lock()
				c.Expect(len(f.played)).To(gomega.BeNumerically("~", int(at), fs))
				f.mu.Unlock()
				c.out.Resume(2, ms(onset.Milliseconds(outgoing.Rate)-40)) // two frames went out between the two
				c.pass(40)
				c.Expect(f.played).To(gomega.Equal(ramp(0, 50*fs)))
				c.Expect(f.did).To(gomega.Equal(row.did))
				c.Expect(c.told.all()).To(gomega.Equal([]string{"opened", "drained 2"}))
				c.end()
			})
		})
	}
}

func TestConfirmedCandidateFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		c := begin(t, queued{f}, f)
		c.out.Begin(1)
		c.out.Write(ramp(0, 500*fs))
		c.pass(20)
		at := c.out.Hold()
		c.pass(10)
		c.Expect(c.out.Drop()).To(gomega.Equal(at))
		c.out.Begin(2)
		c.out.Write(ramp(7000, 7000+5*fs))
		c.out.End()
		c.pass(10)
		c.Expect(f.did).To(gomega.Equal([]string{"pause", "flush"}))
		f.mu.Lock()
		heard := len(f.played) - 5*fs
		f.mu.Unlock()
		c.Expect(at).To(gomega.Equal(voice.Samples(heard-fs)), "the far side was in the last frame that it has begun")
		c.Expect(f.played[heard:]).To(gomega.Equal(ramp(7000, 7000+5*fs)))
		c.end()
	})
}

func TestRewindFlushesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		c := begin(t, queued{f}, f)
		c.out.Begin(1)
		c.out.Write(ramp(0, 80*fs))
		c.out.End()
		c.pass(60)
		c.out.Hold()
		c.pass(5)
		f.mu.Lock()
		heard := len(f.played)
		f.mu.Unlock()
		c.out.Resume(2, 10*fs)
		c.Expect(c.out.Sent()).To(gomega.Equal(voice.Samples(10 * fs)))
		c.pass(80)
		c.Expect(f.played[heard:]).To(gomega.Equal(ramp(10*fs, 80*fs)))
		c.Expect(f.did).To(gomega.Equal([]string{"pause", "flush"}))
		c.end()
	})
}

// marking is a far side whose marks come back a while after the audio before them was played.
type marking struct {
	flushed
	late time.Duration
	back func(n uint64)
}

func (m *marking) Mark(n uint64) error {
	m.mu.Lock()
	left := time.Duration(len(m.queue)) * frameTime
	m.mu.Unlock()
	time.AfterFunc(left+m.late, func() { m.back(n) })
	return nil
}

func TestMarksCorrectTheHeardPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		m := &marking{flushed: flushed{f}, late: 100 * time.Millisecond}
		m.back = func(uint64) {}
		c := begin(t, m, f)
		m.back = c.link.Marked
		c.out.Begin(1)
		c.out.Write(ramp(0, 500*fs))
		c.pass(50)
		f.mu.Lock()
		played := voice.Samples(len(f.played))
		f.mu.Unlock()
		c.Expect(played-c.out.Sent()).To(gomega.BeNumerically("~", ms(100), fs), "what the user has heard when it said what arrives now")
		c.Expect(c.link.RoundTrip()).To(gomega.BeNumerically("~", 100*time.Millisecond, frameTime))
		c.link.Marked(1 << 40)
		c.out.Drop()
		c.link.Marked(3) // of what was flushed
		c.pass(1)
		c.Expect(f.did).To(gomega.Equal([]string{"flush"}))
		c.end()
	})
}

// markingQueue is a far side with a queue whose marks come back when they reach its front.
type markingQueue struct {
	queued
	back func(n uint64)
	at   map[uint64]int // how much was played when the mark is due
}

func (m *markingQueue) Mark(n uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at[n] = len(m.played) + len(m.queue)*fs
	return nil
}

func (m *markingQueue) look() {
	m.mu.Lock()
	var back []uint64
	for n, at := range m.at {
		if len(m.played) >= at {
			back = append(back, n)
			delete(m.at, n)
		}
	}
	m.mu.Unlock()
	for _, n := range back {
		m.back(n)
	}
}

func TestPauseIsNoSlowPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		m := &markingQueue{queued: queued{f}, at: map[uint64]int{}}
		c := begin(t, m, f)
		m.back = c.link.Marked
		c.out.Begin(1)
		c.out.Write(ramp(0, 500*fs))
		pass := func(n int) {
			for range n {
				c.pass(1)
				m.look()
			}
		}
		for i := range 40 { // at one of these moments a mark is on its way
			pass(11)
			c.Expect(c.link.RoundTrip()).To(gomega.BeNumerically("<=", 2*frameTime), "hold %d", i)
			at := c.out.Hold()
			pass(20)
			c.out.Resume(uint64(i+2), at)
			pass(3)
			c.Expect(c.link.RoundTrip()).To(gomega.BeNumerically("<=", 2*frameTime), "resume %d", i)
		}
		c.end()
	})
}

// What a far side plays is the response, with no sample lost, repeated or out of order, whatever is held and resumed at random.
func TestRandomHoldsLoseNothing(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: int(seed % 4)}}
			kinds := []Transport{queued{f}, flushed{f}, f}
			c := begin(t, kinds[rnd.IntN(3)], f)
			c.out.Begin(1)
			written, gen, held := 0, uint64(1), false
			for range 200 {
				switch rnd.IntN(6) {
				case 0:
					c.out.Hold()
					held = true
				case 1:
					if held {
						gen++
						c.out.Resume(gen, c.out.Sent())
						held = false
					}
				case 2:
					n := rnd.IntN(4 * fs)
					c.out.Write(ramp(written, written+n))
					written += n
				default:
					c.pass(rnd.IntN(3))
				}
			}
			if held {
				c.out.Resume(gen+1, c.out.Sent())
			}
			c.out.End()
			c.pass(written/fs + 20)
			want := ramp(0, written)
			c.Expect(len(f.played)).To(gomega.BeNumerically("~", written+fs/2, fs/2), "seed %d", seed)
			c.Expect(f.played[:written]).To(gomega.Equal(want), "seed %d", seed)
			c.Expect(f.most).To(gomega.BeNumerically("<=", max(2, f.traits.Ahead)), "2 at the begin, before the far side plays")
			c.end()
		})
	}
}

func TestFarEndIsWhatTheFarSidePlays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &far{traits: Traits{Rate: outgoing.Rate, Ahead: MaxAhead}}
		c := begin(t, queued{f}, f)
		before := c.out.FarEndPosition()
		c.out.Begin(1)
		c.out.Write(ramp(0, 50*fs))
		c.pass(11)
		c.Expect(c.out.FarEndPosition() - before).To(gomega.Equal(voice.Samples(11 * fs)))
		dst := make([]int16, fs)
		c.Expect(c.out.ReadFarEnd(c.out.FarEndPosition()-fs, dst)).To(gomega.BeTrue())
		f.mu.Lock()
		c.Expect(dst).To(gomega.Equal(f.played[len(f.played)-2*fs:len(f.played)-fs]), "the frame that the far side was given one tick ago")
		f.mu.Unlock()
		c.end()
	})
}

func TestTelephoneAtEightKilohertz(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, ahead := range []int{0, MaxAhead} {
			f := &far{traits: Traits{Rate: 8000, Ahead: ahead}}
			c := begin(t, flushed{f}, f)
			tone := make([]int16, 50*fs)
			for i := range tone {
				tone[i] = 8000
			}
			c.out.Begin(1)
			c.out.Write(tone)
			c.out.End()
			c.pass(60)
			f.mu.Lock()
			c.Expect(len(f.played)).To(gomega.Equal(50 * 160))
			c.Expect(f.played[4000]).To(gomega.BeNumerically("~", 8000, 80))
			f.mu.Unlock()
			c.link.Audio(make([]int16, 1600))
			c.Expect(c.told.heard).To(gomega.BeNumerically("~", 4800, 200), "without the latency of the resampler")
			c.Expect(c.told.longest).To(gomega.BeNumerically("<=", fs))
			c.link.Missing(160)
			c.Expect(c.told.all()).To(gomega.ContainElement("missing 480"))
			c.end()
		}
	})
}
