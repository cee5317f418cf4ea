package rig

// Records what a tab puts out, and the events that pass through its page.

import (
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromedp/chromedp"
)

//go:embed hearing.js
var hearingJS string

// Listen begins to record what the tab puts out, as it is heard. The browser must have been launched with Options.Hearing.
func (t *Tab) Listen() error {
	// A page may only capture itself when somebody has touched it.
	if err := t.do(chromedp.Click(chromedp.CSS("body"))); err != nil {
		return err
	}
	if _, err := run(t, chromedp.Evaluate[any](`hearing.begin()`, chromedp.EvalAwaitPromise)); err != nil {
		return fmt.Errorf("recording the tab's output: %w", err)
	}
	return nil
}

// Output is what the tab has put out since Listen, or since the last Output.
func (t *Tab) Output() (*Recording, error) {
	raw, err := run(t, chromedp.Evaluate[rawHearing](`hearing.take()`))
	if err != nil {
		return nil, err
	}
	return raw.decode()
}

// Concealed is how much of the agent's sound the browser made up so far, in ms, because packets did not come in time.
func (t *Tab) Concealed() (float64, error) {
	return run(t, chromedp.Evaluate[float64](`hearing.concealed()`, chromedp.EvalAwaitPromise))
}

// Passed is an event of the protocol on its way through the page.
type Passed struct {
	At    float64 // ms, on the page's clock
	Dir   string  // "client" or "server"
	Event json.RawMessage
}

// Events are those that have passed since the last time.
func (t *Tab) Events() ([]Passed, error) {
	return run(t, chromedp.Evaluate[[]Passed](`hearing.events()`))
}

type rawHearing struct {
	Rate    int
	PCM     string
	At, Got []float64
	N       []int
}

// settling is how far around a frame the least delayed one is looked for, in frames of 10 ms: the clocks of sound and page drift apart.
const settling = 500

// decode puts the frames on the page's clock: each as if it had been delayed as little as the least delayed one near it.
func (r rawHearing) decode() (*Recording, error) {
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
