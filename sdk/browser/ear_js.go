package browser

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// usualRate is asked for where the device's own is not one that can be resampled, in hertz.
const usualRate = 48000

// ear hears both sides of a call, for as long as the browser lets its sound run: an AudioWorklet posts 10 ms at a time.
type ear struct {
	line    js.Value // the call in the page
	hearing *hearing
	posted  Func
	rate    int
}

// newEar tells what is heard; nil where there is no sound for a page.
func newEar(line js.Value, tell func(found)) *ear {
	e := &ear{line: line}
	e.posted = NewFunc(func(args []js.Value) any {
		// A page that was busy gets its frames late, but all of them.
		if js.CopyBytesToGo(e.hearing.bytes, args[0]) == len(e.hearing.bytes) {
			tell(e.hearing.take(args[1].Bool()))
		}
		return nil
	})
	for _, asked := range []int{0, usualRate} {
		var err error
		if e.rate = line.Call("listen", asked, e.posted.Value()).Int(); e.rate == 0 {
			break
		}
		if e.hearing, err = newHearing(e.rate); err == nil {
			return e
		}
	}
	e.posted.Release()
	return nil
}

// start loads the worklet. Without it nothing is heard here, and the call goes on. Errors wrap sdk.ErrUnavailable.
func (e *ear) start(ctx context.Context, module string) error {
	started := js.ValueOf(false)
	if e != nil {
		var err error
		started, err = ask(ctx, e.line, "start", module)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: module + " was not loaded", Cause: err}
		}
	}
	if !started.Bool() {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser or page has no AudioWorklet"}
	}
	return nil
}

// reset forgets the voice: another microphone is heard from now on.
func (e *ear) reset() {
	if e != nil {
		e.hearing.ear.Reset()
	}
}

// runs: frames come.
func (e *ear) runs() bool { return e != nil && e.line.Get("hears").Bool() }

// close is for a call whose line is closed.
func (e *ear) close() {
	if e != nil {
		e.posted.Release()
	}
}
