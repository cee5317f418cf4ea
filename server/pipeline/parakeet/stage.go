package parakeet

// This file has the stage of a pipeline, and looks for its files.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
)

// Config configures the stage. Model is required.
type Config struct {
	// Library is the absolute path of the C library, or its name where the system looks for libraries; "" means LibraryName.
	Library string
	// Model is the path of a GGUF file.
	Model string
	// Language is that of utterances that name none, such as "en" or "de"; "" means the model's default. A model of one language ignores it.
	Language string
	// Processes limits the processes, and so the utterances at a time; 0 means 2. Each loads the model. Half of them stay when they are idle.
	Processes int
	// Logger gets warnings, errors, and what the library prints. nil discards them.
	Logger *slog.Logger

	hang time.Duration // for tests: how long a process may make no progress; 0 means 10 s
}

// LibraryName returns the name of the library on this system, where its loader looks for libraries.
func LibraryName() string {
	switch runtime.GOOS {
	case "darwin":
		return "libparakeet.dylib"
	case "windows":
		return "parakeet.dll"
	}
	return "libparakeet.so"
}

// Hints for a user.
const (
	libraryHint = "build parakeet.cpp with shared libraries and set library to the path of its libparakeet, see docs/models.md"
	modelHint   = "set model to a GGUF file for parakeet.cpp, see docs/models.md"
)

// defaultProcesses is the limit of processes where the configuration has none. A model takes as much memory as its file is large, or more.
const defaultProcesses = 2

// startPatience limits how long a process may take to load the model.
const startPatience = time.Minute

// Recogniser returns a recogniser with live captions and ends of utterances, if the model streams. A missing library or model is no error
// of Recogniser: the component and Open say what is missing.
func Recogniser(c Config) (pipeline.Stage[pipeline.Transcriber], error) {
	var none pipeline.Stage[pipeline.Transcriber]
	if c.Model == "" {
		return none, errors.New("model: no file: " + modelHint)
	}
	if c.Library == "" {
		c.Library = LibraryName()
	}
	if strings.ContainsAny(c.Library, `/\`) && !filepath.IsAbs(c.Library) {
		return none, fmt.Errorf("library: %q is a relative path: want an absolute one, or a name such as %s", c.Library, LibraryName())
	}
	self, err := os.Executable()
	if err != nil {
		return none, fmt.Errorf("parakeet: %w", err)
	}
	if c.Processes == 0 {
		c.Processes = defaultProcesses
	}
	where, err := json.Marshal(places{Library: c.Library, Model: c.Model})
	if err != nil {
		return none, fmt.Errorf("parakeet: %w", err)
	}
	r := &recogniser{config: c, pool: backend.NewPool(backend.Options{
		Max: c.Processes, Idle: max(1, c.Processes/2), Logger: c.Logger, Start: startPatience, Hang: c.hang,
		Command: func() *exec.Cmd {
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), processEnv+"="+string(where))
			return cmd
		},
	})}
	return pipeline.Stage[pipeline.Transcriber]{Impl: r, Component: r.component, Warm: r.warm, Close: r.pool.Close}, nil
}

type recogniser struct {
	config Config
	pool   *backend.Pool
	failed atomic.Pointer[error] // the last error of Open
	ready  atomic.Bool           // an utterance was opened
}

// check returns an error that wraps pipeline.ErrUnavailable if the library or the model is not there. It does not open the library.
func (r *recogniser) check() error {
	missing := func(err error, hint string) error {
		return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: fmt.Errorf("%w: %w", pipeline.ErrUnavailable, err), Hint: hint}
	}
	if filepath.IsAbs(r.config.Library) {
		if _, err := os.Stat(r.config.Library); err != nil {
			return missing(fmt.Errorf("%w: %w", ErrLibrary, err), libraryHint)
		}
	}
	if err := checkModel(r.config.Model); err != nil {
		return missing(fmt.Errorf("%w: %w", ErrModel, err), modelHint)
	}
	return nil
}

// magic are the first bytes of a GGUF file.
const magic = "GGUF"

// checkModel returns an error if there is no GGUF file with that path.
func checkModel(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(f, begin); err != nil || !bytes.Equal(begin, []byte(magic)) {
		return fmt.Errorf("%s is not a GGUF file", path)
	}
	return nil
}

// warm opens an utterance, unless one has worked already or something is missing.
func (r *recogniser) warm(ctx context.Context) error {
	if r.check() != nil || r.ready.Load() {
		return nil
	}
	t, err := r.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return err
	}
	return t.Close()
}

// Open implements pipeline.Transcriber.
func (r *recogniser) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if c.Language == "" {
		c.Language = r.config.Language
	}
	t, err := r.pool.Open(ctx, c)
	if err == nil {
		r.ready.Store(true)
	} else if ctx.Err() == nil && !errors.Is(err, pipeline.ErrBusy) && !errors.Is(err, pipeline.ErrNoLive) {
		r.failed.Store(&err)
	}
	return t, err
}

// NegotiateConfig implements pipeline.ConfigNegotiator. The library takes no prompt.
func (r *recogniser) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	c.Prompt = ""
	return c, nil
}

// Scores implements pipeline.WordScorer.
func (r *recogniser) Scores() bool { return r.pool.Info().Probs }

// component returns the present state of the stage.
func (r *recogniser) component() pipeline.Component {
	c := pipeline.Component{Stage: pipeline.StageTranscriber, Name: "parakeet", State: pipeline.StateLoading}
	if err := r.check(); err != nil {
		c.State, c.Detail = pipeline.StateMissing, err.Error()
		return c
	}
	if r.ready.Load() {
		c.State, c.Detail = pipeline.StateReady, r.pool.Info().Detail
	} else if failed := r.failed.Load(); failed != nil && *failed != nil {
		c.State, c.Detail = pipeline.StateFailed, (*failed).Error()
	}
	return c
}
