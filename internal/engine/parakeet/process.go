package parakeet

// This file runs the engine in processes of their own.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/confine"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
)

// processEnv is the environment variable that turns a process into an engine. It contains the places as JSON.
const processEnv = "ANTIPHON_PARAKEET_PROCESS"

// engineMemory is the most memory of an engine's process in bytes, beside three times the size of the model's file.
const engineMemory = 2 << 30

func init() { ownprocess.Serve(processEnv, "parakeet", serve) }

// places are the files that a process needs.
type places struct{ Library, Model string }

// serve recognises for the parent process until the standard input ends.
func serve(p places) error {
	out, err := takeStdout()
	if err != nil {
		return err
	}
	e, err := start(p)
	if err != nil {
		r := &refusing{Reader: os.Stdin, err: fmt.Errorf("%w (%s)", err, hint(err))}
		return errors.Join(err, backend.Serve(context.Background(), pipe{r, out}, r))
	}
	return errors.Join(backend.Serve(context.Background(), pipe{os.Stdin, out}, e), e.Close())
}

// start limits the process and loads the engine.
func start(p places) (*Engine, error) {
	file, err := os.Stat(p.Model)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	if err := confine.Self(confine.Limits{Memory: engineMemory + 3*uint64(file.Size())}); err != nil {
		return nil, err
	}
	return NewEngine(p.Library, p.Model)
}

// hint returns what the user can do about an error of start or find.
func hint(err error) string {
	if errors.Is(err, ErrModel) {
		return modelHint
	}
	return libraryHint
}

// pipe is the connection to the parent process.
type pipe struct {
	io.Reader
	io.Writer
}

// refusing is an engine that could not start. It refuses one utterance with the reason, so that the parent process knows it. Then the
// input ends, and so does the process: the next utterance starts another one, which may find the library mended.
type refusing struct {
	io.Reader
	err  error
	done atomic.Bool
}

// Info implements backend.Engine.
func (r *refusing) Info() backend.Info { return backend.Info{Name: "parakeet"} }

// Open implements backend.Engine.
func (r *refusing) Open(context.Context, backend.Config) (backend.Stream, error) {
	r.done.Store(true)
	return nil, r.err
}

// Close implements backend.Engine.
func (r *refusing) Close() error { return nil }

// Read implements io.Reader.
func (r *refusing) Read(p []byte) (int, error) {
	if r.done.Load() {
		return 0, io.EOF
	}
	return r.Reader.Read(p)
}
