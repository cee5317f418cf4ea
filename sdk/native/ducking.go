//go:build !js

package native

// How loud the agent is played over WebRTC, and which position in its sound the user hears: the native sdk.Ducker.

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// rtpPerMS is the clock of Opus in RTP, in ticks for each millisecond.
	rtpPerMS = 48
	// A muted response has ended after muteFrames frames of silence in a row, or after muteTime.
	muteFrames = 3
	muteTime   = time.Second
	// stillAgent is the level in dBFS below which a frame has no sound of a response.
	stillAgent = -75
	// ramp is over how many samples a gain changes, so that no click is heard: 5 ms.
	ramp = Rate * 5 / 1000
)

// gain is how loud the agent is played. A change takes effect at once, over a short ramp. Safe for concurrent use.
type gain struct {
	mu     sync.Mutex
	set    float32 // what the session has set
	volume float32
	now    float32
}

// setGain sets the gain, from 0 to 1.
func (g *gain) setGain(gain float32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.set = gain
}

// setVolume sets the volume, from 0 to 1.
func (g *gain) setVolume(volume float32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.volume = min(max(volume, 0), 1)
}

// apply scales a frame in place.
func (g *gain) apply(pcm []int16) {
	g.mu.Lock()
	defer g.mu.Unlock()
	due := g.volume * g.set
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

// ducking is the gain of the agent over WebRTC, and the position in its sound that the user hears.
type ducking struct {
	gain  gain
	clock func() time.Time

	mu           sync.Mutex
	muted        bool      // the sound belongs to a response that was cut off
	mutedUntil   time.Time // when muting ends in any case
	silentFrames int       // how many frames in a row were silent since then
	played       bool
	end          uint32 // the timestamp directly after the last sound
	awaited      sdk.PlayedPosition
	awaiting     bool
}

// silenceMuted clears a frame of a muted response, and finds the end of that response.
func (l *ducking) silenceMuted(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.muted {
		return
	}
	if dbfs(pcm) < stillAgent {
		l.silentFrames++
	} else {
		l.silentFrames = 0
	}
	if l.muted = l.silentFrames < muteFrames && l.clock().Before(l.mutedUntil); l.muted {
		clear(pcm)
	}
}

// play scales the sound of the packet with this RTP timestamp, and notes that it is played.
func (l *ducking) play(stamp uint32, pcm []int16) {
	l.gain.apply(pcm)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.played, l.end = true, stamp+uint32(len(pcm)*rtpPerMS*1000/Rate)
}

// position returns where a gain that is set now is heard first: the loudspeaker has the sound before it. The caller holds the lock.
func (l *ducking) position() (at sdk.PlayedPosition, ok bool) {
	return sdk.PlayedPosition{Timestamp: l.end}, l.played
}

// passed returns the awaited position, once, when the playback has passed it.
func (l *ducking) passed() (at sdk.PlayedPosition, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.awaiting || !l.played || int32(l.end-l.awaited.Timestamp) < 0 {
		return at, false
	}
	l.awaiting = false
	return l.awaited, true
}

// duckingPeer is a peer with a detector. It is an sdk.Ducker and an sdk.VolumeSetter.
type duckingPeer struct{ *peer }

// SetGain implements sdk.Ducker.
func (p duckingPeer) SetGain(gain float32) {
	p.ducking.gain.setGain(gain)
}

// SetVolume implements sdk.VolumeSetter.
func (p duckingPeer) SetVolume(volume float32) error {
	p.ducking.gain.setVolume(volume)
	return nil
}

// Position implements sdk.Ducker.
func (p duckingPeer) Position() (at sdk.PlayedPosition, ok bool) {
	p.ducking.mu.Lock()
	defer p.ducking.mu.Unlock()
	return p.ducking.position()
}

// AwaitPosition implements sdk.Ducker.
func (p duckingPeer) AwaitPosition(at sdk.PlayedPosition) {
	p.ducking.mu.Lock()
	p.ducking.awaited, p.ducking.awaiting = at, true
	p.ducking.mu.Unlock()
	p.reportPosition()
}

// Mute implements sdk.Ducker.
func (p duckingPeer) Mute() {
	p.ducking.mu.Lock()
	defer p.ducking.mu.Unlock()
	p.ducking.muted, p.ducking.silentFrames, p.ducking.mutedUntil = true, 0, p.ducking.clock().Add(muteTime)
}

// reportPosition reports that the playback has passed the awaited position.
func (p *peer) reportPosition() {
	if at, ok := p.ducking.passed(); ok {
		p.events.send(sdk.PositionPassed{At: at})
	}
}

// reportDetection reports a finding of the detector.
func (p *peer) reportDetection(v sdk.Detection) {
	p.ducking.mu.Lock()
	at, known := p.ducking.position()
	p.ducking.mu.Unlock()
	p.events.send(v.Event(at, known))
}
