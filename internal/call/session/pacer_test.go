package session

// A fake of WebRTC's output: it paces audio and remembers which samples it sent in which packet.

import (
	"slices"
	"sync"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// pacer is a fake link.Output for WebRTC. It sends 20 ms of audio every 20 ms, as the pacer of package rtc does, and remembers what it
// has sent.
type pacer struct {
	s    *Session
	stop chan struct{}
	over sync.WaitGroup

	mu sync.Mutex
	paced
	sentAudio []int16 // all audio that was sent, without silence
	farEnd    farEnd
	cut       int   // how many samples of a response were sent when it was dropped
	repeated  []int // how many samples were sent again at each Resume; negative: how many were skipped
	drainedAt int   // the length of sentAudio when a response was drained for the first time

	ts, silent uint32       // the timestamps of the next packet, and of the packet after the last one with speech
	log        []packet     // the sent packets with speech, and a silent one before the first packet of each Resume
	sentGen    uint64       // the segment of the last packet with speech
	begun      []uint64     // the generation numbers of the first segments of the responses
	out        func(packet) // gets every packet; may be nil
	lost       uint32       // the client has not received the packets from this timestamp on; 0 if it has received all
}

// paced is the present response. The zero value stands for none.
type paced struct {
	audio []int16
	gen   uint64 // of its present segment
	pos   int    // how many samples were sent
	live  bool   // it may be sent
	held  bool
	ended bool // it has all its audio
	done  bool // it was reported as drained
}

// farEnd is what was sent last, silence included.
type farEnd struct {
	ring [4 * 24000]int16 // the last 4 s
	sent int              // how many samples in all
}

// packet is one sent packet of 20 ms.
type packet struct {
	ts  uint32
	gen uint64
	pos int // the position of its first sample in the response
	n   int // how many samples it has; 0 is silence
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
	gen, drained, first := p.gen, false, false
	n := 0
	k := packet{ts: p.ts, gen: gen, pos: p.pos}
	p.ts += packetTicks
	if p.live && !p.held {
		n = min(len(p.audio)-p.pos, 480)
		p.sentAudio = append(p.sentAudio, p.audio[p.pos:p.pos+n]...)
		p.pos += n
		if k.n = n; n > 0 {
			first = p.sentGen != gen || p.silent != k.ts
			p.sentGen = gen
			p.log, p.silent = append(p.log, k), p.ts
		}
		drained = p.ended && !p.done && p.pos == len(p.audio)
		p.done = p.done || drained
		if drained && p.drainedAt == 0 {
			p.drainedAt = len(p.sentAudio)
		}
	}
	ring := p.farEnd.ring[p.farEnd.sent%len(p.farEnd.ring):][:480]
	clear(ring[copy(ring, p.sentAudio[len(p.sentAudio)-n:]):])
	p.farEnd.sent += len(ring)
	pos := p.pos
	p.mu.Unlock()
	if p.out != nil {
		p.out(k)
	}
	if n > 0 {
		p.s.Sent(gen, voice.Samples(pos), first)
	}
	if drained {
		p.s.Drained(gen)
	}
}

func (p *pacer) close() {
	close(p.stop)
	p.over.Wait()
}

// Begin implements link.Output.
func (p *pacer) Begin(gen uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paced = paced{gen: gen, live: true}
	p.begun = append(p.begun, gen)
}

// Write implements link.Output.
func (p *pacer) Write(pcm []int16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && !p.ended {
		p.audio = append(p.audio, pcm...)
	}
}

// End implements link.Output.
func (p *pacer) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = p.live
}

// Hold implements link.Output.
func (p *pacer) Hold() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = p.live
	return voice.Samples(p.pos)
}

// Resume implements link.Output.
func (p *pacer) Resume(gen uint64, from voice.Samples) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.repeated = append(p.repeated, p.pos-int(from))
		p.pos = int(from)
		p.gen, p.held, p.done = gen, false, false
		p.log = append(p.log, packet{ts: p.ts, gen: gen, pos: p.pos})
	}
}

// Drop implements link.Output.
func (p *pacer) Drop() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live, p.held, p.cut = false, false, p.pos
	return voice.Samples(p.pos)
}

// Soften implements link.Output: the far end gets the same sound.
func (p *pacer) Soften(float32) {}

// Sent implements link.Output.
func (p *pacer) Sent() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	return voice.Samples(p.pos)
}

// FarEndPosition implements link.FarEndReader.
func (p *pacer) FarEndPosition() voice.Samples {
	p.mu.Lock()
	defer p.mu.Unlock()
	return voice.Samples(p.farEnd.sent)
}

// ReadFarEnd implements link.FarEndReader.
func (p *pacer) ReadFarEnd(at voice.Samples, dst []int16) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at < 0 || int(at) < p.farEnd.sent-len(p.farEnd.ring) || int(at)+len(dst) > p.farEnd.sent {
		return false
	}
	n := copy(dst, p.farEnd.ring[int(at)%len(p.farEnd.ring):])
	copy(dst[n:], p.farEnd.ring[:])
	return true
}

// FirstSilent implements link.Timeline.
func (p *pacer) FirstSilent() (uint32, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.silent, !p.live || p.held || p.ended && p.pos == len(p.audio)
}

// PositionAt implements link.Timeline.
func (p *pacer) PositionAt(ts uint32) (place link.Position, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ts > p.ts+100*48 || ts < 5000 {
		return link.Position{}, false
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
		place = link.Position{Gen: k.gen, At: voice.Samples(k.pos + min(k.n, int(ts-k.ts)/2)), Silent: k.n == 0 || ts-k.ts > packetTicks || ts-k.ts == packetTicks && ts != p.ts}
	}
	return place, true
}

// cutNetwork loses all further packets until Missed is called.
func (p *pacer) cutNetwork() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = p.ts
}

// Missed implements link.Receipts.
func (p *pacer) Missed(since uint64) (from voice.Samples, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.log {
		if p.lost != 0 && k.ts >= p.lost && k.n > 0 && k.gen >= since && (!ok || voice.Samples(k.pos) < from) {
			from, ok = voice.Samples(k.pos), true
		}
	}
	p.lost = 0
	return from, ok
}

// resumes returns how many samples were sent again at each Resume.
func (p *pacer) resumes() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.repeated)
}

// begins returns the generation numbers of the first segments of the responses.
func (p *pacer) begins() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.begun)
}

// sentMS returns how much audio was sent, in milliseconds.
func (p *pacer) sentMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sentAudio) / 24
}

// cutMS returns how much of a response was sent when it was dropped, in milliseconds.
func (p *pacer) cutMS() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut / 24
}

// expectWhole checks that all audio of text, the first response, was sent once. At each Resume at most one frame (20 ms) was sent
// again.
func (p *pacer) expectWhole(g *gomega.WithT, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := len(text) * 60 * 24
	for _, n := range p.repeated {
		g.Expect(n).To(gomega.And(gomega.BeNumerically(">=", 0), gomega.BeNumerically("<=", 480)))
		said += n
	}
	g.Expect(p.drainedAt).To(gomega.Equal(said))
}

// words returns the text of the sent audio, decoded from the scripted synthesizer's tones.
func (p *pacer) words(g *gomega.WithT) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := scripted.Heard(p.sentAudio)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return text
}
