package rtc

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtp"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The test kit: a Handler, a track and an encoder that keep what they get.

// heard is one report about outgoing audio: Sent or Drained.
type heard struct {
	gen   uint64
	sent  voice.Samples
	first bool
	end   bool // Drained
}

// recorder is a Handler that keeps all calls.
type recorder struct {
	mu       sync.Mutex
	opened   int
	messages []string
	binary   []string
	audio    []int16
	states   []string // "lost", "restored"
	failures []error
	heard    []heard
}

func (r *recorder) Opened() { r.do(func() { r.opened++ }) }

func (r *recorder) Message(data []byte, text bool) {
	r.do(func() {
		if text {
			r.messages = append(r.messages, string(data))
		} else {
			r.binary = append(r.binary, string(data))
		}
	})
}
func (r *recorder) Audio(pcm []int16) { r.do(func() { r.audio = append(r.audio, pcm...) }) }
func (r *recorder) Missing(n int)     { r.Audio(make([]int16, n)) }
func (r *recorder) Lost()             { r.do(func() { r.states = append(r.states, "lost") }) }
func (r *recorder) Restored()         { r.do(func() { r.states = append(r.states, "restored") }) }
func (r *recorder) Failed(err error)  { r.do(func() { r.failures = append(r.failures, err) }) }

func (r *recorder) Sent(gen uint64, sent voice.Samples, first bool) {
	r.do(func() { r.heard = append(r.heard, heard{gen: gen, sent: sent, first: first}) })
}

func (r *recorder) Drained(gen uint64) {
	r.do(func() { r.heard = append(r.heard, heard{gen: gen, end: true}) })
}

func (r *recorder) do(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *recorder) told() []heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heard)
}

// drains returns the segments that were reported as drained.
func (r *recorder) drains() (gens []uint64) {
	for _, h := range r.told() {
		if h.end {
			gens = append(gens, h.gen)
		}
	}
	return gens
}

func (r *recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) == 0 {
		return nil
	}
	return r.failures[0]
}

// sentPacket is a packet of a sink, and when it was written.
type sentPacket struct {
	rtp.Header
	payload []byte
	at      time.Time
}

// sink is a track that keeps its packets.
type sink struct {
	mu      sync.Mutex
	packets []sentPacket
}

func (s *sink) WriteRTP(p *rtp.Packet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packets = append(s.packets, sentPacket{Header: p.Header, payload: slices.Clone(p.Payload), at: time.Now()})
	return nil
}

func (s *sink) all() []sentPacket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.packets)
}

// rawEncoder "encodes" PCM as its bytes, so that a test sees each sample. It lends itself, as a fresh encoder each time.
type rawEncoder struct{ taken, given atomic.Int32 }

func (e *rawEncoder) Take() (opus.Encoding, error) { e.taken.Add(1); return e, nil }
func (e *rawEncoder) Give(opus.Encoding)           { e.given.Add(1) }

// lent returns how often the encoder was taken and given back.
func (e *rawEncoder) lent() [2]int32 { return [2]int32{e.taken.Load(), e.given.Load()} }

func (e *rawEncoder) Encode(pcm []int16, packet []byte) (int, error) {
	for i, v := range pcm {
		binary.LittleEndian.PutUint16(packet[2*i:], uint16(v))
	}
	return 2 * len(pcm), nil
}
func (e *rawEncoder) Reset() {}

// raw undoes rawEncoder. ok is false for the packet of silence.
func raw(payload []byte) (pcm []int16, ok bool) {
	if slices.Equal(payload, opus.SilentPacket()) {
		return nil, false
	}
	for i := 0; i < len(payload); i += 2 {
		pcm = append(pcm, int16(binary.LittleEndian.Uint16(payload[i:])))
	}
	return pcm, true
}

// ramp returns PCM in which the value of each sample is its position plus 1, modulo 30000.
func ramp(from, to voice.Samples) []int16 {
	pcm := make([]int16, 0, to-from)
	for i := from; i < to; i++ {
		pcm = append(pcm, int16(i%30_000)+1)
	}
	return pcm
}

// event returns an event with that text.
func event(text []byte) link.Event { return link.Event{Text: text} }
