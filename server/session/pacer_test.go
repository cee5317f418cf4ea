package session

import (
	"slices"
	"sync"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/voice"
)

// pacer is a Speaker that keeps time as rtc's does: 20 ms of audio every 20 ms. It remembers what the ear got.
type pacer struct {
	s    *Session
	stop chan struct{}
	over sync.WaitGroup

	mu    sync.Mutex
	tape  []int16
	gen   uint64
	pos   int
	live  bool
	held  bool
	ended bool
	done  bool
	heard []int16 // everything that went out, without the silence
	all   []int16 // and with it
	cut   int     // how much of a reply had gone out when it was dropped
	again []int   // how much was said again at each Resume; less than nothing is what was skipped
	whole int     // how much had gone out when a reply was drained first

	ts, silent uint32       // of the next packet, and of the one behind the last with speech
	log        []packet     // those with speech, and one without before each that a Resume began with
	begun      []uint64     // the first segments of the replies
	out        func(packet) // gets every packet; may be nil
}

// packet is 20 ms on their way to the ear.
type packet struct {
	ts  uint32
	gen uint64
	pos int // in the reply
	n   int // samples; 0 is silence
}

const packetTicks = 960

func newPacer(s *Session, out func(packet)) *pacer {
	p := &pacer{s: s, out: out, stop: make(chan struct{}), ts: 5000, silent: 5000}
	p.over.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.tick()
			case <-p.stop:
				return
			}
		}
	})
	return p
}

func (p *pacer) tick() {
	p.mu.Lock()
	gen, drained := p.gen, false
	n := 0
	k := packet{ts: p.ts, gen: gen, pos: p.pos}
	p.ts += packetTicks
	if p.live && !p.held {
		n = min(len(p.tape)-p.pos, 480)
		p.heard = append(p.heard, p.tape[p.pos:p.pos+n]...)
		p.pos += n
		if k.n = n; n > 0 {
			p.log, p.silent = append(p.log, k), p.ts
		}
		drained = p.ended && !p.done && p.pos == len(p.tape)
		p.done = p.done || drained
		if drained && p.whole == 0 {
			p.whole = len(p.heard)
		}
	}
	p.all = append(p.all, p.heard[len(p.heard)-n:]...)
	p.all = append(p.all, make([]int16, 480-n)...)
	pos := p.pos
	p.mu.Unlock()
	if p.out != nil {
		p.out(k)
	}
	if n > 0 {
		p.s.Sent(gen, voice.Samples(pos), pos == n)
	}
	if drained {
		p.s.Drained(gen)
	}
}

func (p *pacer) close() {
	close(p.stop)
	p.over.Wait()
}

// Begin implements call.Output.
func (p *pacer) Begin(gen uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tape, p.gen, p.pos, p.live, p.held, p.ended, p.done = nil, gen, 0, true, false, false, false
	p.begun = append(p.begun, gen)
}

// Write implements call.Output.
func (p *pacer) Write(pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && !p.ended {
		p.tape = append(p.tape, pcm...)
	}
}

// End implements call.Output.
func (p *pacer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = p.live
}

// Hold implements call.Output.
func (p *pacer) Hold() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = p.live
	return voice.Samples(p.pos)
}

// Resume implements call.Output.
func (p *pacer) Resume(gen uint64, from voice.Samples) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.again = append(p.again, p.pos-int(from))
		p.pos = int(from)
		p.gen, p.held, p.done = gen, false, false
		p.log = append(p.log, packet{ts: p.ts, gen: gen, pos: p.pos})
	}
}

// Drop implements call.Output.
func (p *pacer) Drop() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live, p.held, p.cut = false, false, p.pos
	return voice.Samples(p.pos)
}

// Sent implements call.Output.
func (p *pacer) Sent() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	return voice.Samples(p.pos)
}

// FarEndPosition implements call.FarEndReader.
func (p *pacer) FarEndPosition() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	return voice.Samples(len(p.all))
}

// ReadFarEnd implements call.FarEndReader.
func (p *pacer) ReadFarEnd(at voice.Samples, dst []int16) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < 0 || int(at)+len(dst) > len(p.all) {
		return false
	}
	copy(dst, p.all[at:])
	return true
}

// FirstSilent implements call.Timeline.
func (p *pacer) FirstSilent() (uint32, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent, !p.live || p.held || p.ended && p.pos == len(p.tape)
}

// PositionAt implements call.Timeline.
func (p *pacer) PositionAt(ts uint32) (place call.Position, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ts > p.ts+100*48 || ts < 5000 {
		return call.Position{}, false
	}
	ts = min(ts, p.ts)
	place.Silent = true
	for _, k := range p.log {
		if k.ts > ts {
			if place.Silent {
				place.NextGen, place.Next = k.gen, voice.Samples(k.pos)
			}
			break
		}
		place = call.Position{Gen: k.gen, At: voice.Samples(k.pos + min(k.n, int(ts-k.ts)/2)), Silent: k.n == 0 || ts-k.ts > packetTicks || ts-k.ts == packetTicks && ts != p.ts}
	}
	return place, true
}

// resumes are how much was said again at each Resume.
func (p *pacer) resumes() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.again)
}

// begins are the first segments of the replies.
func (p *pacer) begins() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.begun)
}

// heardMS is how much went out, in milliseconds; cutMS is how much of a reply had, when it was dropped.
func (p *pacer) heardMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.heard) / 24
}

func (p *pacer) cutMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut / 24
}

// wholly checks that the ear got all of text, the first reply, once: what a hold stopped was gone on with where it had been, but for
// the frame that was on its way.
func (p *pacer) wholly(g *gomega.WithT, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := len(text) * 60 * 24
	for _, n := range p.again {
		g.Expect(n).To(gomega.And(gomega.BeNumerically(">=", 0), gomega.BeNumerically("<=", 480)))
		said += n
	}
	g.Expect(p.whole).To(gomega.Equal(said))
}

// words is what the ear got, read back from the tones.
func (p *pacer) words(g *gomega.WithT) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := scripted.Heard(p.heard)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return text
}
