package rig

// Records the sound that a tab plays, and the protocol's events that pass through its page.

import (
	_ "embed"
	"encoding/base64"
	"encoding/binary"
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
	raw, err := run(t, chromedp.Evaluate[rawOutput](`testOutput.take()`))
	if err != nil {
		return nil, err
	}
	return raw.decode()
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

type rawOutput struct {
	Rate    int
	PCM     string
	At, Got []float64
	N       []int
}

// settling is how far around a frame decode looks for the frame with the least delay, in frames of 10 ms. It is limited, because the
// clocks of sound and page drift apart.
const settling = 500

// decode gives each frame a time on the page's clock, as if its delay were that of the least delayed frame near it.
func (r rawOutput) decode() (*Recording, error) {
	raw, err := base64.StdEncoding.DecodeString(r.PCM)
	if err != nil {
		return nil, err
	}
	rec := &Recording{Rate: r.Rate, PCM: make([]int16, len(raw)/2), at: make([]float64, len(r.At)), from: make([]int, len(r.N))}
	if _, err := binary.Decode(raw, binary.LittleEndian, rec.PCM); err != nil {
		return nil, err
	}
	at := 0
	for i, n := range r.N {
		rec.from[i] = at
		at += n
	}
	if at != len(rec.PCM) || len(r.At) != len(r.N) || len(r.Got) != len(r.N) {
		return nil, errors.New("the tab's recording does not add up")
	}
	for i := range r.At {
		least := r.Got[i] - r.At[i]
		for j := max(0, i-settling); j < min(len(r.At), i+settling); j++ {
			least = min(least, r.Got[j]-r.At[j])
		}
		rec.at[i] = r.At[i] + least
	}
	return rec, nil
}
