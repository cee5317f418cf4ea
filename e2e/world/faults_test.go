package world

// What goes wrong in a simulated call: each seed turns on some of the faults.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// faults says what may go wrong in a call.
type faults struct {
	recogniser, model, synthesizer, tools, lossUp, lossDown, lateEvents, breaks, kill, store, plain, controller bool
}

// faults returns what may go wrong in the call of this seed: nothing in one of four.
func (w *world) faults() (f faults) {
	chance := w.source("faults")
	all := chance.chance(25)
	for _, on := range []*bool{&f.recogniser, &f.model, &f.synthesizer, &f.tools, &f.lossUp, &f.lossDown, &f.lateEvents, &f.breaks, &f.kill, &f.store, &f.plain, &f.controller} {
		*on = chance.chance(35) && !all
	}
	if f.plain { // the conversation of a client without our extensions ends with its connection
		f.breaks, f.kill = false, false
	}
	f.controller = f.controller && !f.kill // the other server does not know it
	return f
}

// stageLimits are the longest times of the calls into the stages: shorter than those of a server, so that a call that hangs costs little of the test's time.
var stageLimits = watchdog.Limits{
	Open: 3 * time.Second, Write: time.Second, Close: time.Second,
	FirstToken: 4 * time.Second, BetweenTokens: 3 * time.Second, FirstAudio: 4 * time.Second, BetweenAudio: 3 * time.Second,
}

// fault is what goes wrong in one piece of work of a stage: at the word with this number it fails, hangs, or is slow. The zero value is nothing.
type fault struct {
	w    *world
	kind int // 0 for none
	word int
	slow time.Duration
}

const (
	fails = 1 + iota
	hangs
	dawdles
)

var errStage = errors.New("the stage fails, as the seed says")

// newFault returns the fault of a piece of work.
func newFault(w *world, work string, on bool, words int) fault {
	chance := w.source("fault of " + work)
	if !on || !chance.chance(30) {
		return fault{}
	}
	return fault{w: w, kind: fails + chance.number(3), word: chance.number(max(words, 1)), slow: chance.between(500*time.Millisecond, 2500*time.Millisecond)}
}

// at is called before each word.
func (f fault) at(ctx context.Context, word int) error {
	if word != f.word {
		return nil
	}
	switch f.kind {
	case fails:
		return errStage
	case hangs:
		return f.w.pause(ctx, time.Hour)
	case dawdles:
		return f.w.pause(ctx, f.slow)
	}
	return nil
}

// recogniser is the recogniser, whose transcriptions fail, hang or are slow at their ends.
type recogniser struct {
	pipeline.Transcriber
	w     *world
	fails bool

	mu     sync.Mutex
	opened int
	lost   map[string]bool // texts that were not told
}

func newRecogniser(w *world, fails bool) *recogniser {
	return &recogniser{Transcriber: scripted.Recogniser(scripted.Options{}).Impl, w: w, fails: fails, lost: map[string]bool{}}
}

// ReportsEnds implements pipeline.EndReporter.
func (r *recogniser) ReportsEnds() bool {
	ends, is := r.Transcriber.(pipeline.EndReporter)
	return is && ends.ReportsEnds()
}

// Scores implements pipeline.WordScorer.
func (r *recogniser) Scores() bool {
	scores, is := r.Transcriber.(pipeline.WordScorer)
	return is && scores.Scores()
}

// Open implements pipeline.Transcriber.
func (r *recogniser) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	r.mu.Lock()
	r.opened++
	n := r.opened
	r.mu.Unlock()
	f := newFault(r.w, fmt.Sprintf("recognition %d", n), r.fails, 4)
	inner, err := r.Transcriber.Open(ctx, c)
	if err != nil {
		return inner, err
	}
	t := &transcription{Transcription: inner, of: r, fault: f, results: make(chan pipeline.TranscriptResult)}
	t.ctx, t.cancel = context.WithCancel(ctx)
	machine{r.w}.Go(t.run)
	return t, nil
}

// transcription is a transcription that passes each result on in a step of its own. With a fault its final result is an error, is late or does not come.
type transcription struct {
	pipeline.Transcription
	of      *recogniser
	fault   fault
	results chan pipeline.TranscriptResult
	ctx     context.Context //nolint:containedctx // of its goroutine
	cancel  context.CancelFunc
}

// Results implements pipeline.Transcription.
func (t *transcription) Results() <-chan pipeline.TranscriptResult { return t.results }

// Close implements pipeline.Transcription.
func (t *transcription) Close() error {
	t.cancel()
	return t.Transcription.Close()
}

// run passes the results on.
func (t *transcription) run() {
	defer close(t.results)
	for one := range t.Transcription.Results() {
		t.of.w.turn()
		if one.Final {
			if err := t.fault.at(t.ctx, t.fault.word); err != nil {
				t.of.mu.Lock()
				t.of.lost[one.Text] = true
				t.of.mu.Unlock()
				one = pipeline.TranscriptResult{Err: err}
			}
		}
		select {
		case t.results <- one:
		case <-t.ctx.Done():
		}
	}
}

// tool is a function of the client that the agent calls. Its result comes at once, late, as an error, or never.
type tool struct {
	w *world

	mu      sync.Mutex
	begun   map[string]int // by arguments
	running int
}

// run implements sdk.Tool.Run.
func (t *tool) run(ctx context.Context, arguments string) (string, error) {
	t.mu.Lock()
	t.begun[arguments]++
	t.running++
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.running--
	}()
	chance := t.w.source("tool " + arguments)
	wait := chance.between(0, 3*time.Second)
	fate := chance.number(6)
	if fate == 0 {
		wait = time.Hour
	}
	if err := t.w.pause(ctx, wait); err != nil {
		return "", err
	}
	if fate == 1 {
		return "", errors.New("failed " + arguments)
	}
	return "result " + arguments, nil
}

// busy reports whether a function runs.
func (t *tool) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > 0
}

// list returns the functions of the client.
func (t *tool) list() []sdk.Tool {
	return []sdk.Tool{{Name: "look", Description: "looks", Run: t.run}}
}

// judge complains of calls that ran twice, and of those that do not have one result.
func (t *tool) judge(told []pipeline.Message, complain func(string, ...any)) {
	results := map[string][]string{}
	for _, m := range told {
		if m.Result != nil {
			results[m.Result.CallID] = append(results[m.Result.CallID], m.Result.Output)
		}
	}
	for _, m := range told {
		if m.Call == nil {
			continue
		}
		if n := t.begun[m.Call.Arguments]; n != 1 {
			complain("the function of the client ran %d times for %s", n, m.Call.Arguments)
		}
		switch all := results[m.Call.ID]; {
		case len(all) != 1:
			complain("the model is told %d results of %s: %q", len(all), m.Call.Arguments, all)
		case !strings.Contains(all[0], m.Call.Arguments) && !strings.Contains(all[0], "error"):
			complain("the model is told another result of %s: %q", m.Call.Arguments, all)
		}
	}
	for arguments, n := range t.begun {
		if n != 1 {
			complain("the function of the client ran %d times for %s", n, arguments)
		}
	}
}
