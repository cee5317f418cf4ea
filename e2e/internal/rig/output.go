package rig

// Records the sound that a tab plays, and the protocol's events that pass through its page.

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromedp/chromedp"
)

//go:embed output.js
var outputJS string

// Listen begins to record the sound that the tab plays. The browser must have been launched with Options.RecordOutput.
func (t *Tab) Listen() error {
	// A page may only capture itself after a user's gesture.
	if err := t.do(chromedp.Click(chromedp.CSS("body"))); err != nil {
		return err
	}
	if _, err := run(t, chromedp.Evaluate[any](`testOutput.begin()`, chromedp.EvalAwaitPromise)); err != nil {
		return fmt.Errorf("recording the tab's output: %w", err)
	}
	return nil
}

// Output returns the sound that the tab has played since Listen, or since the last Output.
func (t *Tab) Output() (*Recording, error) {
	all, err := run(t, chromedp.Evaluate[raw](`testOutput.take()`))
	if err != nil {
		return nil, err
	}
	return all.settle()
}

// Concealed returns how much of the agent's sound the browser has concealed so far, in ms, because packets did not come in time.
func (t *Tab) Concealed() (float64, error) {
	return run(t, chromedp.Evaluate[float64](`(globalThis.testOutput ?? testReceived).concealed()`, chromedp.EvalAwaitPromise))
}

// Passed is an event of the protocol on its way through the page.
type Passed struct {
	At    float64 // ms, on the page's clock
	Dir   string  // "client" or "server"
	Event json.RawMessage
}

// Events returns the events that have passed since the last call.
func (t *Tab) Events() ([]Passed, error) {
	return run(t, chromedp.Evaluate[[]Passed](`testOutput.events()`))
}

// settling is how far around a frame settle looks for the frame with the least delay, in frames of 10 ms. It is limited, because the
// clocks of sound and page drift apart.
const settling = 500

// settle gives each frame a time on the page's clock, as if its delay were that of the least delayed frame near it.
func (r raw) settle() (*Recording, error) {
	rec, err := r.decode()
	if err != nil || len(r.Got) != len(r.At) {
		return nil, errors.Join(err, errors.New("the tab's recording does not add up"))
	}
	rec.at = make([]float64, len(r.At))
	for i := range r.At {
		least := r.Got[i] - r.At[i]
		for j := max(0, i-settling); j < min(len(r.At), i+settling); j++ {
			least = min(least, r.Got[j]-r.At[j])
		}
		rec.at[i] = r.At[i] + least
	}
	return rec, nil
}
