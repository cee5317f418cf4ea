package browser

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// usualRate is asked for where the device's own is not one that can be resampled, in hertz.
const usualRate = 48000

// capture hears both sides of a call, for as long as the browser lets its sound run: an AudioWorklet posts 10 ms at a time.
type capture struct {
	page      js.Value // the call in the page
	detection *detection
	onFrame   Func
	rate      int
}

// newCapture tells what is heard; nil where there is no sound for a page.
func newCapture(line js.Value, tell func(measurement)) *capture {
	e := &capture{page: line}
	e.onFrame = NewFunc(func(args []js.Value) any {
		// A page that was busy gets its frames late, but all of them.
		if js.CopyBytesToGo(e.detection.bytes, args[0]) == len(e.detection.bytes) {
			tell(e.detection.take(args[1].Bool()))
		}
		return nil
	})
	for _, asked := range []int{0, usualRate} {
		var err error
		if e.rate = line.Call("listen", asked, e.onFrame.Value()).Int(); e.rate == 0 {
			break
		}
		if e.detection, err = newDetection(e.rate); err == nil {
			return e
		}
	}
	e.onFrame.Release()
	return nil
}

// start loads the worklet. Without it nothing is heard here, and the call goes on. Errors wrap sdk.ErrUnavailable.
func (e *capture) start(ctx context.Context, module string) error {
	started := js.ValueOf(false)
	if e != nil {
		var err error
		started, err = await(ctx, e.page, "start", module)
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
func (e *capture) reset() {
	if e != nil {
		e.detection.detector.Reset()
	}
}

// runs: frames come.
func (e *capture) running() bool { return e != nil && e.page.Get("hears").Bool() }

// close is for a call whose line is closed.
func (e *capture) close() {
	if e != nil {
		e.onFrame.Release()
	}
}
