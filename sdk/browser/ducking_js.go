package browser

import (
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// pollMS is how often the playback is looked at while somebody waits for a place in it.
	pollMS = 10
	// surely is how far behind a place that is awaited the playback has to be, in ticks of Opus's clock: 20 ms. One that stalls is taken
	// to go on, and a level that is raised too early lets a shred of a word be heard.
	surely = 20 * 48
	// A muted reply has ended after muteFrames of silence of 10 ms, or muteMS at the latest; after muteBlindMS where nobody listens.
	muteFrames  = 6
	muteMS      = 1000
	muteBlindMS = 300
)

// lowering is how loud the agent is played, and where in its sound the person is.
type lowering struct {
	level   sdk.Level
	hushed  bool
	hushEnd float64 // performance.now() at which it ends in any case

	awaited uint32
	waits   bool // for awaited
	polls   bool // the playback is looked at
}

// SetLevel implements sdk.Ducker.
func (p *peer) SetLevel(level sdk.Level) {
	p.lowering.level = level
	p.applyLevel()
}

func (p *peer) applyLevel() {
	if !p.closed {
		p.dialer.setGain(p.lowering.level.Gain(), p.lowering.hushed)
	}
}

// SetVolume implements sdk.VolumeSetter.
func (p *peer) SetVolume(volume float32) error { return p.dialer.SetVolume(volume) }

// Mark implements sdk.Ducker.
func (p *peer) Mark() (mark uint32, ok bool) {
	at := p.line.Call("mark")
	if at.Type() != js.TypeNumber {
		return 0, false
	}
	return uint32(at.Float()), true
}

// now is the time since the page began, in milliseconds.
func now() float64 { return js.Global().Get("performance").Call("now").Float() }

// AwaitMark implements sdk.Ducker.
func (p *peer) AwaitMark(mark uint32) {
	p.lowering.awaited, p.lowering.waits = mark, true
	p.look()
}

// Mute implements sdk.Ducker. The server sends silence behind what it has cut off; what comes before that is dead.
func (p *peer) Mute() {
	l := &p.lowering
	l.hushed, l.hushEnd = true, now()+muteBlindMS
	if p.ear.runs() {
		l.hushEnd += muteMS - muteBlindMS
	}
	p.applyLevel()
	p.look()
}

// look sees how far the playback has come, for as long as somebody waits for that.
func (p *peer) look() {
	l := &p.lowering
	if p.closed {
		return
	}
	if l.waits {
		if at, ok := p.Mark(); ok && int32(at-l.awaited) >= surely {
			l.waits = false
			p.tell(sdk.MarkPassed{Mark: l.awaited})
		}
	}
	if l.hushed && (now() >= l.hushEnd || p.ear.runs() && p.ear.hearing.still >= muteFrames) {
		l.hushed = false
		p.applyLevel()
	}
	if wanted := l.waits || l.hushed; wanted != l.polls {
		l.polls = wanted
		every := 0
		if wanted {
			every = pollMS
		}
		p.line.Call("poll", every)
	}
}

// SetVolume sets how loud the agent is played, from 0 to 1, now and in the calls to come. It implements sdk.VolumeSetter. Errors:
// sdk.ErrUnavailable where only the device itself can be set.
func (d *Dialer) SetVolume(volume float32) error {
	d.volume = min(max(volume, 0), 1)
	if !d.setGain(d.gain, d.silent) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser leaves the volume to the device"}
	}
	return nil
}

// setGain plays the agent at so much of the volume. It reports false where the browser does not let a page do that.
func (d *Dialer) setGain(gain float32, silent bool) bool {
	d.gain, d.silent = gain, silent
	taken := host.Call("volume", d.audio, d.volume*gain, silent || gain == 0).Bool()
	if !taken && !d.fixed {
		d.fixed = true
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
