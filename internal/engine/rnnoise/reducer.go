package rnnoise

// This file has the reducer: it finds the program, shares instances of it among the calls, and gives the program up when it fails too often.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Config configures a Reducer. The zero value takes what `antiphon models get rnnoise` has fetched.
type Config struct {
	// Models is the folder of the machine's models; "" means models.DefaultDir.
	Models string
}

// Install is the command that fetches RNNoise.
const Install = "antiphon models get rnnoise"

const (
	name = "rnnoise"
	// purpose is what the catalogue of models says that RNNoise is for.
	purpose = "noise reduction"
	// file is the program, in the folder of the model.
	file = "rnnoise.wasm"

	maxHosts    = 8   // instances; there are as many as processors, at most
	maxStreams  = 250 // calls of one instance
	maxFailures = 3   // instances that may fail before the program is given up
)

// ErrProgram is the error of a program that has trapped, or has taken too long.
var ErrProgram = errors.New("RNNoise has failed")

// Reducer is a pipeline.NoiseReducer.
type Reducer struct {
	program   *program
	component pipeline.Component // as it was found; failures change the state

	mu       sync.Mutex
	hosts    []*host
	failures int
	last     error // the last failure
	closed   bool
}

// New returns a Reducer. It reads and compiles the program. Where it is missing or cannot be used, Component says so, and Open fails.
func New(c Config) *Reducer {
	r := &Reducer{component: pipeline.Component{Stage: pipeline.StageNoiseReduction, Name: name}}
	wasm, detail, err := find(c)
	if err == nil {
		r.program, err = compile(context.Background(), wasm)
	}
	switch {
	case errors.Is(err, models.ErrNotThere):
		r.component.State, r.component.Detail, r.component.Install = pipeline.StateMissing, "RNNoise is not on this machine", Install
	case err != nil:
		r.component.State, r.component.Detail = pipeline.StateFailed, err.Error()
	default:
		r.component.State, r.component.Detail = pipeline.StateReady, detail
	}
	return r
}

// find returns the program. Its error wraps models.ErrNotThere if the program is not on this machine. The file must be the one of the
// catalogue, because it runs in this process.
func find(c Config) (wasm []byte, detail string, err error) {
	store, err := models.Open(c.Models)
	if err != nil {
		return nil, "", err
	}
	m, folder, ok := store.Find(purpose, "")
	if !ok {
		return nil, "", models.ErrNotThere
	}
	if err := store.Verify(m); err != nil {
		return nil, "", err
	}
	wasm, err = os.ReadFile(filepath.Join(folder, file))
	return wasm, m.Package.Name + " " + m.Package.Version, err
}

func (r *Reducer) Component() pipeline.Component {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	c := r.component
	if c.State == pipeline.StateReady && r.failures >= maxFailures {
		c.State, c.Detail = pipeline.StateFailed, r.last.Error()
	}
	return c
}

func (r *Reducer) Open(f pipeline.NoiseField) (pipeline.NoiseReduction, error) {
	h, err := r.host()
	if err != nil {
		return nil, err
	}
	state, err := h.enter()
	if err != nil {
		return nil, err
	}
	s, err := newStream(h, state, f)
	if err != nil {
		h.leave(state)
		return nil, err
	}
	return s, nil
}

// host returns the instance with the fewest calls, or a new one while there are fewer than processors.
func (r *Reducer) host() (*host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	switch {
	case r.closed:
		return nil, pipeline.ErrClosed
	case r.component.State != pipeline.StateReady:
		return nil, fmt.Errorf("%w: noise reduction: %s", pipeline.ErrUnavailable, r.component.Detail)
	case r.failures >= maxFailures:
		return nil, fmt.Errorf("%w: noise reduction: %w", pipeline.ErrUnavailable, r.last)
	}
	var best *host
	least := maxStreams
	for _, h := range r.hosts {
		if n, _ := h.use(); n < least {
			best, least = h, n
		}
	}
	if len(r.hosts) >= min(maxHosts, runtime.GOMAXPROCS(0)) || best != nil && least == 0 {
		if best == nil {
			return nil, fmt.Errorf("%w: noise reduction has %d calls", pipeline.ErrBusy, len(r.hosts)*maxStreams)
		}
		return best, nil
	}
	in, err := r.program.start(context.Background())
	if err != nil {
		r.fail(err)
		return nil, errors.Join(ErrProgram, err)
	}
	h := &host{in: in}
	r.hosts = append(r.hosts, h)
	return h, nil
}

// prune takes away the instances that have failed, and counts them. The caller holds mu.
func (r *Reducer) prune() {
	r.hosts = slices.DeleteFunc(r.hosts, func(h *host) bool {
		_, dead := h.use()
		if dead != nil {
			r.fail(dead)
		}
		return dead != nil
	})
}

// fail counts a failure. The caller holds mu.
func (r *Reducer) fail(why error) {
	r.failures++
	r.last = why
}

func (r *Reducer) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.program == nil {
		r.closed = true
		return nil
	}
	r.closed = true
	var err error
	for _, h := range r.hosts {
		err = errors.Join(err, h.close(pipeline.ErrClosed))
	}
	r.hosts = nil
	return errors.Join(err, r.program.close(context.Background()))
}
