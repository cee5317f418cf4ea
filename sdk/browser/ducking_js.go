package browser

// How loud the browser plays the agent, and which position in its sound the user hears: the browser's sdk.Ducker.

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// pollMS is the interval at which checkPlayback runs while the call waits.
	pollMS = 10
	// awaitMargin is how far the playback must be past an awaited position, in ticks of the 48 kHz clock: 20 ms. The position is an
	// estimate that goes on while the playback stalls, and a level that is restored too early would let part of a word be heard.
	awaitMargin = 20 * 48
	// A muted response has ended after muteFrames frames of silence (10 ms each), and after muteMS at the latest. Where the sound
	// is not measured, it has ended after muteBlindMS.
	muteFrames  = 6
	muteMS      = 1000
	muteBlindMS = 300
)

// ducking is the gain of the agent, and what the call waits for in its playback.
type ducking struct {
	gain       float32
	muted      bool
	mutedUntil float64 // when muting ends in any case, as performance.now()

	awaited  sdk.PlayedPosition
	awaiting bool // the call waits for the position awaited
	polling  bool // the page calls checkPlayback every pollMS
}

// SetGain implements sdk.Ducker.
func (p *peer) SetGain(gain float32) {
	p.ducking.gain = gain
	p.applyGain()
}

// applyGain gives the present gain to the audio element.
func (p *peer) applyGain() {
	if !p.closed {
		p.dialer.setGain(p.ducking.gain, p.ducking.muted)
	}
}

// SetVolume implements sdk.VolumeSetter.
func (p *peer) SetVolume(volume float32) error { return p.dialer.SetVolume(volume) }

// Position implements sdk.Ducker.
func (p *peer) Position() (at sdk.PlayedPosition, ok bool) {
	timestamp := p.page.Call("mark")
	if timestamp.Type() != js.TypeNumber {
		return at, false
	}
	return sdk.PlayedPosition{Timestamp: uint32(timestamp.Float())}, true
}

// now returns the time since the page began, in milliseconds (performance.now()).
func now() float64 { return js.Global().Get("performance").Call("now").Float() }

// AwaitPosition implements sdk.Ducker.
func (p *peer) AwaitPosition(at sdk.PlayedPosition) {
	p.ducking.awaited, p.ducking.awaiting = at, true
	p.checkPlayback()
}

// Mute implements sdk.Ducker. The server sends silence after a response that it has cut off, so everything before that silence is
// muted.
func (p *peer) Mute() {
	l := &p.ducking
	l.muted, l.mutedUntil = true, now()+muteBlindMS
	if p.capture.running() {
		l.mutedUntil += muteMS - muteBlindMS
	}
	p.applyGain()
	p.checkPlayback()
}

// checkPlayback looks how far the playback has come, as long as the call waits for a position or for the end of a muted response.
func (p *peer) checkPlayback() {
	l := &p.ducking
	if p.closed {
		return
	}
	if l.awaiting {
		if at, ok := p.Position(); ok && int32(at.Timestamp-l.awaited.Timestamp) >= awaitMargin {
			l.awaiting = false
			p.tell(sdk.PositionPassed{At: l.awaited})
		}
	}
	if l.muted && (now() >= l.mutedUntil || p.capture.running() && p.capture.detection.silentFrames >= muteFrames) {
		l.muted = false
		p.applyGain()
	}
	if wanted := l.awaiting || l.muted; wanted != l.polling {
		l.polling = wanted
		every := 0
		if wanted {
			every = pollMS
		}
		p.page.Call("poll", every)
	}
}

// SetVolume sets how loud the agent is played, from 0 to 1, now and in later calls. It implements sdk.VolumeSetter. Errors:
// sdk.ErrUnavailable where only the device itself can set the volume.
func (d *Dialer) SetVolume(volume float32) error {
	d.volume = min(max(volume, 0), 1)
	if !d.setGain(d.gain, d.muted) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser leaves the volume to the device"}
	}
	return nil
}

// setGain plays the agent at this share of the volume. It returns false where the browser does not let a page set the volume.
func (d *Dialer) setGain(gain float32, silent bool) bool {
	d.gain, d.muted = gain, silent
	taken := host.Call("volume", d.audio, d.volume*gain, silent || gain == 0).Bool()
	if !taken && !d.volumeFixed {
		d.volumeFixed = true
		d.note("this browser leaves the volume to the device: the agent falls silent when it is interrupted, and is not ducked before")
	}
	return taken
}

// note gives a line to the log of the application.
func (d *Dialer) note(line string) {
	if d.opts.Log != nil {
		d.opts.Log(line)
	}
}
