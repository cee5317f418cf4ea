package rig

// A user's actions on a page: clicks and key presses. Also the memory that the page uses.

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Click presses the mouse at a place in the window, in CSS pixels.
func (t *Tab) Click(x, y float64) error { return t.do(chromedp.MouseClickXY(x, y)) }

// Type presses one key after the other, wherever the focus is.
func (t *Tab) Type(keys string) error { return t.do(chromedp.KeyEvent(keys)) }

// Heap returns how many bytes of its heap the page uses after a garbage collection.
func (t *Tab) Heap() (float64, error) {
	return run(t, func(ctx context.Context, target *chromedp.Target) (float64, error) {
		if _, err := cdp.Call(ctx, target, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return 0, err
		}
		used, err := cdp.Call(ctx, target, runtime.GetHeapUsage, cdp.Empty{})
		return used.UsedSize, err
	})
}
