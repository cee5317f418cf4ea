//go:build !js

package native

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// rtpPerMS is the clock of Opus in RTP.
	rtpPerMS = 48
	// A muted reply has ended after muteFrames of silence, or after muteTime.
	muteFrames = 3
	muteTime   = time.Second
	// stillAgent is the level in dBFS under which there is nothing of a reply.
	stillAgent = -75
	// ramp is over how many samples a level changes, so that nothing clicks: 5 ms.
	ramp = Rate * 5 / 1000
)

// gain is how loud the agent is played. It changes at once, but without a click.
type gain struct {
	level  sdk.Level
	volume float32
	now    float32
}

func newGain() gain { return gain{level: sdk.LevelFull, volume: 1, now: 1} }

// apply plays a frame at the gain that is due.
func (g *gain) apply(pcm []int16) {
	due := g.volume * g.level.Gain()
	from := g.now
	g.now = due
	if from == 1 && due == 1 {
		return
	}
	for i, v := range pcm {
		f := due
		if i < ramp {
			f = from + (due-from)*float32(i)/ramp
		}
		pcm[i] = int16(f * float32(v))
	}
}

// lowering is how loud the agent is played over WebRTC, and where in its sound that is heard.
type lowering struct {
	mu    sync.Mutex
	gain  gain
	clock func() time.Time

	hushed   bool      // what comes is of a reply that is dead
	hushEnd  time.Time // it ends in any case
	still    int       // frames of silence in a row since then
	played   bool
	end      uint32 // the timestamp behind what was played last
	awaited  uint32
	awaiting bool
}

func newLowering() *lowering { return &lowering{gain: newGain(), clock: time.Now} }

// admit empties a frame of a reply that is dead.
func (l *lowering) admit(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hushed {
		return
	}
	if dbfs(pcm) < stillAgent {
		l.still++
	} else {
		l.still = 0
	}
	if l.hushed = l.still < muteFrames && l.clock().Before(l.hushEnd); l.hushed {
		clear(pcm)
	}
}

// play makes of a decoded packet with this timestamp what is to be heard of it.
func (l *lowering) play(stamp uint32, pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gain.apply(pcm)
	l.played, l.end = true, stamp+uint32(len(pcm)*rtpPerMS*1000/Rate)
}

// mark is what a level that is set now is heard in first: the loudspeaker has what is before it. The lock is held.
func (l *lowering) mark() (uint32, bool) { return l.end, l.played }

// passed gives the mark that was waited for, once, when it has passed.
func (l *lowering) passed() (uint32, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.awaiting {
		return 0, false
	}
	at, ok := l.mark()
	if !ok || int32(at-l.awaited) < 0 {
		return 0, false
	}
	l.awaiting = false
	return l.awaited, true
}

// loweringPeer is a peer with a voice detector. It is an sdk.Ducker and an sdk.VolumeSetter.
type loweringPeer struct{ *peer }

// SetLevel implements sdk.Ducker.
func (p loweringPeer) SetLevel(level sdk.Level) {
	p.lower.mu.Lock()
	defer p.lower.mu.Unlock()
	p.lower.gain.level = level
}

// SetVolume implements sdk.VolumeSetter.
func (p loweringPeer) SetVolume(volume float32) error {
	p.lower.mu.Lock()
	defer p.lower.mu.Unlock()
	p.lower.gain.volume = min(max(volume, 0), 1)
	return nil
}

// Mark implements sdk.Ducker.
func (p loweringPeer) Mark() (mark uint32, ok bool) {
	p.lower.mu.Lock()
	defer p.lower.mu.Unlock()
	return p.lower.mark()
}

// AwaitMark implements sdk.Ducker.
func (p loweringPeer) AwaitMark(mark uint32) {
	p.lower.mu.Lock()
	p.lower.awaited, p.lower.awaiting = mark, true
	p.lower.mu.Unlock()
	p.tellPassed()
}

// Mute implements sdk.Ducker.
func (p loweringPeer) Mute() {
	p.lower.mu.Lock()
	defer p.lower.mu.Unlock()
	p.lower.hushed, p.lower.still, p.lower.hushEnd = true, 0, p.lower.clock().Add(muteTime)
}

// tellPassed tells of a mark that was waited for.
func (p *peer) tellPassed() {
	if mark, ok := p.lower.passed(); ok {
		p.teller.tell(sdk.MarkPassed{Mark: mark})
	}
}

// tellVoice tells of the person's voice.
func (p *peer) tellVoice(v sdk.Voice) {
	p.lower.mu.Lock()
	mark, ok := p.lower.mark()
	p.lower.mu.Unlock()
	p.teller.tell(v.Event(mark, ok))
}
