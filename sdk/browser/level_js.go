package browser

import (
	"math"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// levelPeriod is how often both sides are measured, in milliseconds.
	levelPeriod = 50
	// levelWindow is how many samples are measured: 21 ms at 48 kHz.
	levelWindow = 1024
	// quietest is the level that counts as silence, in dBFS.
	quietest = -60
)

// levels measures how loud both sides are, for as long as the browser lets its audio context run.
type levels struct {
	context    js.Value
	mic, agent probe
	timer      js.Value
	tick       js.Func
}

// probe listens to one stream.
type probe struct {
	source, analyser js.Value
	window, view     js.Value // the same memory as floats and as bytes
	bytes            []byte
}

// newLevels begins to tell; nil where the browser has no audio context.
func newLevels(tell func(sdk.Levels)) *levels {
	constructor := js.Global().Get("AudioContext")
	if !defined(constructor) {
		return nil
	}
	l := &levels{}
	if attempt(func() { l.context = constructor.New() }) != nil {
		return nil
	}
	l.tick = js.FuncOf(func(js.Value, []js.Value) any {
		if text(l.context, "state") == "running" {
			tell(sdk.Levels{Mic: l.mic.level(), Agent: l.agent.level()})
		}
		return nil
	})
	l.timer = js.Global().Call("setInterval", l.tick, levelPeriod)
	return l
}

// listen changes what a probe listens to; an undefined stream ends it.
func (l *levels) listen(p *probe, stream js.Value) {
	if defined(p.source) {
		p.source.Call("disconnect")
	}
	*p = probe{}
	if !defined(stream) {
		return
	}
	// A stream that gives no audio yet cannot be listened to; then there is no level, which is all that is lost.
	_ = attempt(func() {
		p.source = l.context.Call("createMediaStreamSource", stream)
		p.analyser = l.context.Call("createAnalyser")
		p.analyser.Set("fftSize", levelWindow)
		p.source.Call("connect", p.analyser)
		p.window = js.Global().Get("Float32Array").New(levelWindow)
		p.view = js.Global().Get("Uint8Array").New(p.window.Get("buffer"))
		p.bytes = make([]byte, 4*levelWindow)
	})
}

func (l *levels) listenMic(stream js.Value) {
	if l != nil {
		l.listen(&l.mic, stream)
	}
}

func (l *levels) listenAgent(stream js.Value) {
	if l != nil {
		l.listen(&l.agent, stream)
	}
}

// resume lets the context run after a gesture.
func (l *levels) resume() {
	if l != nil && text(l.context, "state") == "suspended" {
		l.context.Call("resume")
	}
}

func (l *levels) close() {
	if l == nil {
		return
	}
	js.Global().Call("clearInterval", l.timer)
	l.tick.Release()
	l.listen(&l.mic, js.Undefined())
	l.listen(&l.agent, js.Undefined())
	if text(l.context, "state") != "closed" {
		l.context.Call("close")
	}
}

// level gives 0 for silence to 1 for full scale, linear in decibels.
func (p *probe) level() float32 {
	if p.bytes == nil {
		return 0
	}
	p.analyser.Call("getFloatTimeDomainData", p.window)
	js.CopyBytesToGo(p.bytes, p.view)
	var sum float64
	for i := 0; i+3 < len(p.bytes); i += 4 {
		b := p.bytes[i : i+4]
		v := float64(math.Float32frombits(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24))
		sum += v * v
	}
	if sum == 0 {
		return 0
	}
	db := 10 * math.Log10(sum/levelWindow)
	return float32(min(max(1-db/quietest, 0), 1))
}
