package world

// The client of a simulated call: the session of the SDK on a platform whose network, microphone and loudspeaker are simulated.

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	frameSize  = 480 // samples in 20 ms at 24 kHz
	frameTicks = 960 // of the RTP clock of Opus, 48 kHz
	buffered   = 60 * time.Millisecond
)

// heard is a stretch of the agent's sound that the user's ear got, in milliseconds of an answer.
type heard struct {
	answer, from, to int
	gain             float32
	at               time.Duration // of its end, since the call began
}

// person is the user: what is still to be said, and what was heard. All connections of a call have the same.
type person struct {
	mu     sync.Mutex
	mouth  []int16
	ear    []heard
	missed []heard // what came too late, or not at all
	at     *peer   // whose microphone records
}

// peer is a connection of the client: an sdk.Ducker.
type peer struct {
	w          *world
	network    *network
	user       *person
	connection *connection
	kept       sdk.Resumption
	antiphon   bool
	told       func(text []byte)
	sink       func(sdk.PeerEvent)

	mu       sync.Mutex
	closed   bool
	tick     *step
	packets  map[uint32][]byte // by timestamp: what has arrived and is not played yet
	started  bool
	next     uint32 // the timestamp of the next packet to play
	end      uint32 // the timestamp after what was played
	gain     float32
	muting   muting
	awaited  *sdk.PlayedPosition
	received uint64
	newest   uint32 // the timestamp after the newest packet that has arrived
	frames   int

	mic microphone
}

// microphone is what the user says, and what finds speech in it.
type microphone struct {
	off      bool
	down     *voice.Resampler
	detector *sdk.BargeInDetector
	quiet    int // frames since the agent was heard last
}

// muting is that a stopped answer is not played.
type muting struct {
	on     bool
	until  time.Duration
	silent int // frames of silence in a row
}

var (
	_ sdk.Peer   = (*peer)(nil)
	_ sdk.Ducker = (*peer)(nil)

	_ sdk.Resumable = (*peer)(nil)
)

func newPeer(w *world, n *network, u *person) *peer {
	down, err := voice.NewResampler(24000, 16000)
	if err != nil {
		panic(err)
	}
	return &peer{w: w, network: n, user: u, packets: map[uint32][]byte{}, gain: 1, mic: microphone{down: down, detector: sdk.NewBargeInDetector(), quiet: 1000}}
}

// message brings a message of the server.
func (p *peer) message(text []byte) {
	if p.mu.Lock(); !p.closed {
		p.told(text)
	}
	p.mu.Unlock()
	p.tell(sdk.Message{Data: text})
}

// tell tells the session what happens, until the peer is closed.
func (p *peer) tell(e sdk.PeerEvent) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if !closed && e != nil {
		p.sink(e)
	}
}

// packet brings a packet of the agent's sound.
func (p *peer) packet(stamp uint32, sound []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.received++
	if p.newest == 0 || int32(stamp+frameTicks-p.newest) > 0 {
		p.newest = stamp + frameTicks
	}
	if !p.started {
		p.started, p.next = true, stamp-uint32(buffered/time.Millisecond)*48
	}
	if int32(stamp-p.next) >= 0 {
		p.packets[stamp] = sound
	} else {
		p.user.miss(sound)
	}
}

// lost notes that a packet of the agent's sound is lost: nobody knows that the user has not heard it.
func (p *peer) lost(sound []byte) {
	p.user.miss(sound)
}

// miss notes that a packet of the agent's sound is not heard.
func (u *person) miss(sound []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.missed = append(u.missed, stretches(voice.BytesToPCM16(nil, sound))...)
}

// takes lets a connection record the user.
func (u *person) takes(p *peer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at = p
}

// speak returns the next frame of what the user says, of which n samples are speech. ok is false if this connection does not record.
func (u *person) speak(p *peer) (pcm []int16, n int, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at != p {
		return nil, 0, false
	}
	pcm = make([]int16, frameSize)
	n = copy(pcm, u.mouth)
	u.mouth = u.mouth[n:]
	return pcm, n, true
}

// begin begins the frames of 20 ms, in which the microphone records and the loudspeaker plays.
func (p *peer) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.tick = p.w.add(20*time.Millisecond, func() {
		for _, e := range p.frame() {
			p.tell(e)
		}
		p.begin()
	})
}

// frame records and plays one frame. It returns what the session is told.
func (p *peer) frame() (events []sdk.PeerEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames++
	sounded := p.play()
	if p.mic.quiet++; sounded {
		p.mic.quiet = 0
	}
	recorded, n, records := p.user.speak(p)
	if !records {
		return nil
	}
	if p.mic.off {
		clear(recorded)
	}
	k := p.connection
	p.network.sound(p.network.upward, p.network.faults.lossUp, func() { k.heard(recorded) }, func() { k.missing(frameSize) })
	if newest := p.newest; p.frames%25 == 0 && newest != 0 { // a receiver report
		p.network.sound(p.network.upward, false, func() { k.server.output.Received(newest) }, func() {})
	}
	narrow := p.mic.down.AppendPCM16(nil, recorded)
	at, known := sdk.PlayedPosition{Timestamp: p.end}, p.started
	for part := range slices.Chunk(narrow, 160) {
		if len(part) == 160 {
			events = append(events, p.mic.detector.Frame(floats(part), nil, p.mic.quiet < 3).Event(at, known))
		}
	}
	if p.awaited != nil && int32(p.end-p.awaited.Timestamp) >= 0 {
		events = append(events, sdk.PositionPassed{At: *p.awaited})
		p.awaited = nil
	}
	if p.frames%3 == 0 {
		events = append(events, sdk.LevelsMeasured{Levels: sdk.Levels{Mic: loud(n > 0 && !p.mic.off), Agent: loud(sounded)}})
	}
	if p.frames%12 == 0 {
		events = append(events, sdk.PacketsCounted{Received: p.received})
	}
	return events
}

func loud(is bool) float32 {
	if is {
		return 0.7
	}
	return 0
}

func floats(pcm []int16) []float32 {
	out := make([]float32, len(pcm))
	for i, v := range pcm {
		out[i] = float32(v) / 32768
	}
	return out
}

// play plays the next packet. It reports whether the user heard the agent. The caller holds the lock.
func (p *peer) play() bool {
	if !p.started {
		return false
	}
	sound := p.packets[p.next]
	delete(p.packets, p.next)
	p.next += frameTicks
	var pcm []int16
	if len(sound) == 2*frameSize { // a silent packet is shorter
		pcm = voice.BytesToPCM16(nil, sound)
	}
	voiced := slices.ContainsFunc(pcm, func(v int16) bool { return v != 0 })
	if p.muting.on {
		if p.muting.silent++; voiced {
			p.muting.silent = 0
		}
		p.muting.on = p.muting.silent < 3 && p.w.now() < p.muting.until
	}
	if sound != nil {
		p.end = p.next
	}
	if !voiced || p.muting.on || p.gain == 0 {
		return false
	}
	p.user.hear(pcm, p.gain, p.w.now())
	return true
}

// hear notes what the ear gets of a frame.
func (u *person) hear(pcm []int16, gain float32, at time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, h := range stretches(pcm) {
		h.gain, h.at = h.gain*gain, at
		if n := len(u.ear); n > 0 && u.ear[n-1].answer == h.answer && u.ear[n-1].gain == h.gain && (h.from == u.ear[n-1].to || h.from == u.ear[n-1].to-1) {
			u.ear[n-1].to, u.ear[n-1].at = h.to, h.at
		} else {
			u.ear = append(u.ear, h)
		}
	}
}

// stretches returns which milliseconds of which answers are in a frame, up to where its sound fades. Of a frame that the server has lowered, the last
// sample says to 10 ms where it is.
func stretches(pcm []int16) (all []heard) {
	if n := len(pcm); n == frameSize {
		if answer, softer := marked(pcm[n-2]); softer > 1 {
			to := softer * int(pcm[n-1])
			return []heard{{answer: answer, from: max(0, to-frameSize/perMS), to: to, gain: 1 / float32(softer)}}
		}
	}
	answer, softer := 0, 0
	for _, v := range pcm {
		switch ms := int(v) - 1; {
		case v < 0:
			answer, softer = marked(v)
		case v == 0 || softer != 1:
		case len(all) > 0 && all[len(all)-1].answer == answer && (ms == all[len(all)-1].to || ms == all[len(all)-1].to-1):
			all[len(all)-1].to = ms + 1
		case len(all) > 0 && ms > 0 && ms < all[len(all)-1].to: // softer samples name earlier places
			return all
		default:
			all = append(all, heard{answer: answer, from: ms, to: ms + 1, gain: 1})
		}
	}
	return all
}

// now is the time since the call began.
func (w *world) now() time.Duration { return time.Since(w.began) }

// Send implements sdk.Peer.
func (p *peer) Send(message []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return sdk.ErrServerGone
	}
	k := p.connection
	p.network.up.put(func() { k.message(message) })
	return nil
}

// SetMuted implements sdk.Peer.
func (p *peer) SetMuted(muted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mic.off = muted
}

// SetMicrophone implements sdk.Peer.
func (p *peer) SetMicrophone(context.Context, string) error { return nil }

// Antiphon implements sdk.Peer.
func (p *peer) Antiphon() bool { return p.antiphon }

// Close implements sdk.Peer.
func (p *peer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.w.drop(p.tick)
	k := p.connection
	p.network.carry(p.network.media, func() { k.failed(link.ErrHungUp) }, func() {})
	return nil
}

// Resumption implements sdk.Resumable.
func (p *peer) Resumption() sdk.Resumption { return p.kept }

// SetGain implements sdk.Ducker.
func (p *peer) SetGain(gain float32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gain = gain
}

// Position implements sdk.Ducker.
func (p *peer) Position() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sdk.PlayedPosition{Timestamp: p.end}, p.started
}

// AwaitPosition implements sdk.Ducker.
func (p *peer) AwaitPosition(at sdk.PlayedPosition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited = &at
}

// Mute implements sdk.Ducker.
func (p *peer) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.muting = muting{on: true, until: p.w.now() + time.Second}
}

// hears returns the answer that the user has heard in the last two seconds; 0 for none.
func (u *person) hears(now time.Duration) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if n := len(u.ear); n > 0 && now-u.ear[n-1].at < 2*time.Second {
		return u.ear[n-1].answer
	}
	return 0
}

// say lets the user speak. The sound is 24 kHz.
func (u *person) say(pcm []int16) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.mouth = append(u.mouth, pcm...)
}

// speaking reports whether the user still speaks.
func (u *person) speaking() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.mouth) > 0
}

// story returns what the ear got, a line for each stretch.
func (u *person) story() (lines []string) {
	for _, h := range u.ear {
		lines = append(lines, fmt.Sprintf("%6d ms: the user has heard answer %d from %d to %d ms at gain %.2f", h.at.Milliseconds(), h.answer, h.from, h.to, h.gain))
	}
	return lines
}
