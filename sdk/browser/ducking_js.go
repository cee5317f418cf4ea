package browser

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// pollMS is how often the playback is looked at while somebody waits for a place in it.
	pollMS = 10
	// awaitMargin is how far behind a place that is awaited the playback has to be, in ticks of Opus's clock: 20 ms. One that stalls is taken
	// to go on, and a level that is raised too early lets a shred of a word be heard.
	awaitMargin = 20 * 48
	// A muted reply has ended after muteFrames of silence of 10 ms, or muteMS at the latest; after muteBlindMS where nobody listens.
	muteFrames  = 6
	muteMS      = 1000
	muteBlindMS = 300
)

// ducking is how loud the agent is played, and where in its sound the person is.
type ducking struct {
	level      sdk.Level
	muted      bool
	mutedUntil float64 // performance.now() at which it ends in any case

	awaited  sdk.PlayedPosition
	awaiting bool // for awaited
	polling  bool // the playback is looked at
}

// SetLevel implements sdk.Ducker.
func (p *peer) SetLevel(level sdk.Level) {
	p.ducking.level = level
	p.applyLevel()
}

func (p *peer) applyLevel() {
	if !p.closed {
		p.dialer.setGain(p.ducking.level.Gain(), p.ducking.muted)
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

// now is the time since the page began, in milliseconds.
func now() float64 { return js.Global().Get("performance").Call("now").Float() }

// AwaitPosition implements sdk.Ducker.
func (p *peer) AwaitPosition(at sdk.PlayedPosition) {
	p.ducking.awaited, p.ducking.awaiting = at, true
	p.checkPlayback()
}

// Mute implements sdk.Ducker. The server sends silence behind what it has cut off; what comes before that is dead.
func (p *peer) Mute() {
	l := &p.ducking
	l.muted, l.mutedUntil = true, now()+muteBlindMS
	if p.capture.running() {
		l.mutedUntil += muteMS - muteBlindMS
	}
	p.applyLevel()
	p.checkPlayback()
}

// checkPlayback sees how far the playback has come, for as long as somebody waits for that.
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
		p.applyLevel()
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

// SetVolume sets how loud the agent is played, from 0 to 1, now and in the calls to come. It implements sdk.VolumeSetter. Errors:
// sdk.ErrUnavailable where only the device itself can be set.
func (d *Dialer) SetVolume(volume float32) error {
	d.volume = min(max(volume, 0), 1)
	if !d.setGain(d.gain, d.muted) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser leaves the volume to the device"}
	}
	return nil
}

// setGain plays the agent at so much of the volume. It reports false where the browser does not let a page do that.
func (d *Dialer) setGain(gain float32, silent bool) bool {
	d.gain, d.muted = gain, silent
	taken := host.Call("volume", d.audio, d.volume*gain, silent || gain == 0).Bool()
	if !taken && !d.volumeFixed {
		d.volumeFixed = true
		d.note("this browser leaves the volume to the device: the agent falls silent when it is interrupted, and is not lowered before")
	}
	return taken
}

// note passes on what the application may want to log.
func (d *Dialer) note(line string) {
	if d.opts.Log != nil {
		d.opts.Log(line)
	}
}
