package parakeet

// This file has the stage of a pipeline, and looks for its files.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
	"github.com/antiphon-rt/antiphon/server/pipeline"
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
	command, err := ownprocess.Command(processEnv, func() places { return places{Library: c.Library, Model: c.Model} })
	if err != nil {
		return none, fmt.Errorf("parakeet: %w", err)
	}
	if c.Processes == 0 {
		c.Processes = defaultProcesses
	}
	r := &recogniser{language: c.Language}
	r.Stage = &ownprocess.Stage{
		Stage: pipeline.StageTranscriber, Name: "parakeet", Find: c.find, Hint: hint, Start: r.start,
		Pool: backend.NewPool(backend.Options{
			Max: c.Processes, Idle: max(1, c.Processes/2), Logger: c.Logger, Start: startPatience, Hang: c.hang, Command: command,
		}),
	}
	return r.Recogniser(r), nil
}

// find returns an error that wraps ErrLibrary or ErrModel if the library or the model is not there. It does not open the library.
func (c Config) find() error {
	if filepath.IsAbs(c.Library) {
		if _, err := os.Stat(c.Library); err != nil {
			return fmt.Errorf("%w: %w", ErrLibrary, err)
		}
	}
	if err := checkModel(c.Model); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
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

// recogniser is the pipeline.Transcriber.
type recogniser struct {
	*ownprocess.Stage
	language string
}

// start opens an utterance: a process that cannot use the library or the model says so there.
func (r *recogniser) start(ctx context.Context) error {
	t, err := r.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return err
	}
	return t.Close()
}

func (r *recogniser) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	if c.Language == "" {
		c.Language = r.language
	}
	return r.Stage.Open(ctx, c)
}

// NegotiateConfig implements pipeline.ConfigNegotiator. The library takes no prompt. Only a model that streams has the times of words, and
// none is known before a process has started.
func (r *recogniser) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	c.Prompt, c.Words = "", c.Words && r.Pool.Info().Times
	return c, nil
}

// ReportsEnds implements pipeline.EndReporter. A model that streams has a token for the end.
func (r *recogniser) ReportsEnds() bool { return true }

// Scores implements pipeline.WordScorer.
func (r *recogniser) Scores() bool { return r.Pool.Info().Probs }
