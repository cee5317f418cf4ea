package browser

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// usualRate is asked for where the device's own is not one that can be resampled, in hertz.
const usualRate = 48000

// graph brings the sound of both sides here, for as long as the browser lets its audio context run: an AudioWorklet posts
// 10 ms at a time.
type graph struct {
	context    js.Value
	node       js.Value // the worklet's; undefined until it runs
	mic, agent js.Value // sources, connected when node is there
	hearing    *hearing
	posted     Func
	closed     bool
}

// newGraph tells what is heard; nil where the browser has no audio context.
func newGraph(tell func(found)) *graph {
	constructor := js.Global().Get("AudioContext")
	if !defined(constructor) {
		return nil
	}
	g := &graph{}
	for _, options := range []js.Value{object("latencyHint", "interactive"), object("latencyHint", "interactive", "sampleRate", usualRate)} {
		made, err := construct(constructor, options)
		if err != nil {
			return nil
		}
		if g.hearing, err = newHearing(made.Get("sampleRate").Int()); err == nil {
			g.context = made
			break
		}
		made.Call("close")
	}
	if g.hearing == nil {
		return nil
	}
	g.posted = NewFunc(func(args []js.Value) any {
		// A page that was busy gets its frames late, but all of them.
		if js.CopyBytesToGo(g.hearing.bytes, args[0].Get("data")) == len(g.hearing.bytes) {
			tell(g.hearing.take(defined(g.agent)))
		}
		return nil
	})
	return g
}

// start loads the worklet. Without it nothing is heard here, and the call goes on. Errors wrap sdk.ErrUnavailable.
func (g *graph) start(ctx context.Context, module string) error {
	if g == nil || !defined(g.context.Get("audioWorklet")) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser or page has no AudioWorklet"}
	}
	_, err := await(ctx, g.context.Get("audioWorklet").Call("addModule", module), nil)
	if ctx.Err() != nil || g.closed {
		return nil
	}
	if err != nil {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: module + " was not loaded", Cause: err}
	}
	node, err := construct(js.Global().Get("AudioWorkletNode"), g.context, "antiphon-ear", object(
		"numberOfInputs", 2, "numberOfOutputs", 0, "channelCount", 1, "channelCountMode", "explicit"))
	if err != nil {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Cause: err}
	}
	node.Get("port").Set("onmessage", g.posted.Value())
	g.node = node
	g.join(g.mic, microphoneInput)
	g.join(g.agent, agentInput)
	return nil
}

// The worklet's inputs.
const (
	microphoneInput = 0
	agentInput      = 1
)

func (g *graph) join(source js.Value, input int) {
	if defined(source) && defined(g.node) {
		source.Call("connect", g.node, 0, input)
	}
}

// listen changes a source; an undefined stream ends it. A stream that gives no audio yet cannot be listened to.
func (g *graph) listen(source *js.Value, input int, stream js.Value) {
	if defined(*source) {
		source.Call("disconnect")
	}
	*source = js.Undefined()
	if !defined(stream) {
		return
	}
	if made, err := call(g.context, "createMediaStreamSource", stream); err == nil {
		*source = made
		g.join(made, input)
	}
}

func (g *graph) listenMic(stream js.Value) {
	if g != nil {
		g.hearing.ear.Reset()
		g.listen(&g.mic, microphoneInput, stream)
	}
}

func (g *graph) listenAgent(stream js.Value) {
	if g != nil {
		g.listen(&g.agent, agentInput, stream)
	}
}

// runs: frames come.
func (g *graph) runs() bool {
	return g != nil && defined(g.node) && text(g.context, "state") == "running"
}

// resume lets the context run after a gesture.
func (g *graph) resume() {
	if g != nil && text(g.context, "state") == "suspended" {
		g.context.Call("resume")
	}
}

func (g *graph) close() {
	if g == nil || g.closed {
		return
	}
	g.closed = true
	if defined(g.node) {
		port := g.node.Get("port")
		port.Set("onmessage", js.Null())
		port.Call("postMessage", "close")
	}
	g.posted.Release()
	g.listen(&g.mic, microphoneInput, js.Undefined())
	g.listen(&g.agent, agentInput, js.Undefined())
	if text(g.context, "state") != "closed" {
		g.context.Call("close")
	}
}
