package browser

// The sound of both sides of a call, as the capture worklet posts it.

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// usualRate is the sample rate that is asked for where the rate of the device cannot be resampled, in hertz.
const usualRate = 48000

// capture gets the sound of both sides while the browser lets audio run: the worklet posts frames of 10 ms.
type capture struct {
	page      js.Value // the call in the page
	detection *detection
	onFrame   Func
	rate      int
}

// newCapture makes a capture that gives its measurements to tell. It returns nil where a page gets no sound.
func newCapture(line js.Value, tell func(measurement)) *capture {
	e := &capture{page: line}
	e.onFrame = NewFunc(func(args []js.Value) any {
		// A busy page gets its frames late, but gets all of them.
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

// start loads the worklet. Without it there are no measurements, and the call goes on. Errors wrap sdk.ErrUnavailable.
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

// reset forgets the speech so far, for another microphone.
func (e *capture) reset() {
	if e != nil {
		e.detection.detector.Reset()
	}
}

// running reports whether frames come.
func (e *capture) running() bool { return e != nil && e.page.Get("hears").Bool() }

// close releases the callback. The call in the page must be closed before.
func (e *capture) close() {
	if e != nil {
		e.onFrame.Release()
	}
}
