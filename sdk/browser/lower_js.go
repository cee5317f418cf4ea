package browser

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// rtpPerMS is the clock of Opus.
	rtpPerMS = 48
	// pollMS is how often the playback is looked at while somebody waits for a place in it.
	pollMS = 10
	// usualPlayout is the way from the decoder to the ear in milliseconds, until the browser's statistics say.
	usualPlayout = 30
	// maxAhead bounds how far the playback is taken to go on behind the last packet that was decoded, in milliseconds.
	maxAhead = 100
	// A muted reply has ended after muteFrames of silence of 10 ms, or muteMS at the latest; after muteBlindMS where nobody listens.
	muteFrames  = 6
	muteMS      = 1000
	muteBlindMS = 300
	// jitterTarget is how much of the agent's sound the browser is asked to hold back against a jumpy network, in milliseconds.
	jitterTarget = 20
)

// lowering is how loud the agent is played, and where in its sound the person is.
type lowering struct {
	receiver js.Value // of the agent's track
	level    sdk.Level
	hushed   bool
	hushEnd  float64 // performance.now() at which it ends in any case

	awaited uint32
	waits   bool // for awaited
	poll    Func
	timer   js.Value // of poll; undefined while nobody waits

	playout float64 // ms from the decoder to the ear
	delay   float64 // seconds, times samples, that the statistics had when they were last read
	samples float64
	reading bool
}

func (p *peer) startLowering() {
	p.lowering.playout = usualPlayout
	p.lowering.poll = NewFunc(func([]js.Value) any {
		p.look()
		return nil
	})
}

// hears takes the agent's track.
func (p *peer) hears(receiver js.Value) {
	p.lowering.receiver = receiver
	if defined(receiver) {
		_, _ = call(js.Global().Get("Reflect"), "set", receiver, "jitterBufferTarget", jitterTarget) // a browser without it takes its own
	}
}

// SetLevel implements sdk.Lowerer.
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

// Mark implements sdk.Lowerer. The browser tells the timestamp of the last packet that it has decoded, and when that was.
func (p *peer) Mark() (mark uint32, ok bool) {
	l := &p.lowering
	if p.closed || !defined(l.receiver) {
		return 0, false
	}
	sources, err := call(l.receiver, "getSynchronizationSources")
	if err != nil || sources.Length() == 0 {
		return 0, false
	}
	source := sources.Index(0)
	stamp, at := source.Get("rtpTimestamp"), source.Get("timestamp")
	if stamp.Type() != js.TypeNumber || at.Type() != js.TypeNumber {
		return 0, false
	}
	since := min(max(now(at.Float())-at.Float(), 0), maxAhead)
	return uint32(int64(stamp.Float()) + int64((since-l.playout)*rtpPerMS)), true
}

// now is the time on the clock that like is on: since 1970 or since the page began, in milliseconds.
func now(like float64) float64 {
	performance := js.Global().Get("performance")
	at := performance.Call("now").Float()
	if origin := performance.Get("timeOrigin").Float(); like > origin/2 {
		at += origin
	}
	return at
}

// AwaitMark implements sdk.Lowerer.
func (p *peer) AwaitMark(mark uint32) {
	p.lowering.awaited, p.lowering.waits = mark, true
	p.look()
}

// Mute implements sdk.Lowerer. The server sends silence behind what it has cut off; what comes before that is dead.
func (p *peer) Mute() {
	l := &p.lowering
	l.hushed, l.hushEnd = true, now(0)+muteBlindMS
	if p.graph.runs() {
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
		if at, ok := p.Mark(); ok && int32(at-l.awaited) >= 0 {
			l.waits = false
			p.tell(sdk.MarkPassed{Mark: l.awaited})
		}
	}
	if l.hushed && (now(0) >= l.hushEnd || p.graph.runs() && p.graph.hearing.still >= muteFrames) {
		l.hushed = false
		p.applyLevel()
	}
	switch wanted := l.waits || l.hushed; {
	case wanted && !defined(l.timer):
		l.timer = js.Global().Call("setInterval", l.poll.Value(), pollMS)
	case !wanted:
		l.stop()
	}
}

func (l *lowering) stop() {
	if defined(l.timer) {
		js.Global().Call("clearInterval", l.timer)
		l.timer = js.Undefined()
	}
}

// measurePlayout asks the browser's statistics how long sound takes from the decoder to the ear.
func (p *peer) measurePlayout(ctx context.Context) {
	l := &p.lowering
	if l.reading || !defined(l.receiver) {
		return
	}
	l.reading = true
	defer func() { l.reading = false }()
	report, err := await(ctx, l.receiver.Call("getStats"), nil)
	if err != nil {
		return
	}
	all := js.Global().Get("Array").Call("from", report.Call("values"))
	for i := range all.Length() {
		one := all.Index(i)
		if text(one, "type") != "media-playout" || one.Get("totalPlayoutDelay").Type() != js.TypeNumber {
			continue
		}
		delay, samples := one.Get("totalPlayoutDelay").Float(), one.Get("totalSamplesCount").Float()
		if more := samples - l.samples; more > 0 {
			l.playout = 1000 * (delay - l.delay) / more
		}
		l.delay, l.samples = delay, samples
	}
}

// close lets go of everything and of the level.
func (l *lowering) close(d *Dialer) {
	l.stop()
	l.poll.Release()
	d.setGain(1, false)
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
	volume := float64(d.volume * gain)
	d.audio.Set("volume", volume)
	d.audio.Set("muted", silent || gain == 0)
	got := d.audio.Get("volume")
	taken := got.Type() == js.TypeNumber && got.Float()-volume < 0.01 && volume-got.Float() < 0.01
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
