package sherpa

// This file has the two stages of a pipeline, and finds their files.

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Config configures a stage. The zero value takes what `antiphon models get neural-en` has fetched.
type Config struct {
	// Models is the folder of the machine's models; "" means models.DefaultDir.
	Models string
	// Library is the folder of the library and of ONNX Runtime; "" means that of the models.
	Library string
	// Model is a folder with a model of the user's own, or the name of a model of the catalogue; "" means the first one that is there.
	Model string
	// Pronunciation is the folder of espeak-ng's data; "" means that of the models. Only a synthesizer reads it.
	Pronunciation string
	// Threads is how many processors one decoding or one clause takes; 0 means 1. More threads make it a little faster and take much more
	// processor time.
	Threads int
	// Processes limits the processes, and so the utterances or clauses at a time; 0 means 4 for a recogniser and 2 for a synthesizer. Each
	// takes about 200 MB. Half of them stay when they are idle.
	Processes int
	// even makes each synthesis of a text the same. Tests set it.
	even bool
	// Logger gets warnings and errors. nil discards them.
	Logger *slog.Logger
}

// Install is the command that installs the library and the models.
const Install = "antiphon models get neural-en"

// places are the folders that a process needs.
type places struct {
	Role, Library, Model, Pronunciation string
	Threads                             int
	Even                                bool
}

// MissingError says which part is not on this machine.
type MissingError struct{ What, Where string }

// Error implements error.
func (e *MissingError) Error() string { return e.What + " is not in " + e.Where }

// find returns the folders of the stage. what is the kind of model that it needs, such as "recogniser". Its error is a *MissingError, or
// says that there is no folder of models.
func (c Config) find(what string) (places, error) {
	store, err := models.Open(c.Models)
	if err != nil {
		return places{}, err
	}
	p := places{Role: what, Threads: c.Threads, Even: c.even, Library: c.Library, Model: c.Model, Pronunciation: c.Pronunciation}
	if p.Model != "" && !strings.ContainsRune(p.Model, filepath.Separator) {
		p.Model = store.Path(p.Model)
	}
	wanted := []struct {
		what string
		to   *string
	}{{"engine", &p.Library}, {what, &p.Model}}
	if what == voiceRole {
		wanted = append(wanted, struct {
			what string
			to   *string
		}{"pronunciation", &p.Pronunciation})
	}
	for _, w := range wanted {
		if *w.to == "" {
			_, *w.to, _ = store.Find(w.what, "en")
		}
		if st, err := os.Stat(*w.to); err != nil || !st.IsDir() {
			where := *w.to
			if where == "" {
				where = store.Dir
			}
			return places{}, &MissingError{"the " + w.what + " for sherpa-onnx", where}
		}
	}
	return p, nil
}

// The roles of a process are what its model is for, as the catalogue says it.
const (
	recogniserRole = "recogniser"
	voiceRole      = "voice"
)

// newStage returns the stage for one role. stage is pipeline.StageTranscriber or pipeline.StageSynthesizer.
func newStage(c Config, role, stage string) (*ownprocess.Stage, error) {
	command, err := ownprocess.Command(processEnv, func() places {
		p, _ := c.find(role) // the process reports what is missing
		return p
	})
	if err != nil {
		return nil, fmt.Errorf("sherpa: %w", err)
	}
	if c.Processes == 0 {
		c.Processes = 2
		if role == recogniserRole {
			c.Processes = 4 // a recogniser is taken for a whole turn, a voice for a part of a second
		}
	}
	return &ownprocess.Stage{
		Stage: stage, Name: "sherpa", Install: Install,
		Pool: backend.NewPool(backend.Options{
			Stage: stage, Max: c.Processes, Idle: max(1, c.Processes/2), Logger: c.Logger, Start: time.Minute, Command: command,
		}),
		Find: func() error {
			_, err := c.find(role)
			return err
		},
	}, nil
}

// Recogniser returns a recogniser with live captions. A missing library or model is no error of Recogniser: the component and Open say what is
// missing.
func Recogniser(c Config) (pipeline.Stage[pipeline.Transcriber], error) {
	s, err := newStage(c, recogniserRole, pipeline.StageTranscriber)
	if err != nil {
		return pipeline.Stage[pipeline.Transcriber]{}, err
	}
	return s.Recogniser(ownprocess.EnglishRecogniser{Stage: s, Times: true}), nil
}

// Synthesizer returns a synthesizer. A missing library or model is no error of Synthesizer: the component and Synthesize say what is missing.
func Synthesizer(c Config) (pipeline.Stage[pipeline.Synthesizer], error) {
	s, err := newStage(c, voiceRole, pipeline.StageSynthesizer)
	if err != nil {
		return pipeline.Stage[pipeline.Synthesizer]{}, err
	}
	return pipeline.Stage[pipeline.Synthesizer]{Impl: &synthesizer{s}, Component: s.Component, Warm: s.Warm, Close: s.Pool.Close}, nil
}

type synthesizer struct{ *ownprocess.Stage }

// Synthesize implements pipeline.Synthesizer.
func (s *synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if err := s.CheckVoice(u.Voice); err != nil {
		return err
	}
	return s.Stage.Synthesize(ctx, u, emit)
}

// HasVoice reports whether this machine has what the synthesizer of c needs.
func HasVoice(c Config) bool {
	_, err := c.find(voiceRole)
	return err == nil
}

// Voices returns the names of synthesis voices that a Synthesizer takes, in alphabetical order: the protocol's, and "default". The model has
// one speaker, who answers to all of them.
func Voices() []string {
	all := append(pipeline.ProtocolVoices(), "default")
	slices.Sort(all)
	return all
}

// CheckVoice implements pipeline.VoiceChecker.
func (s *synthesizer) CheckVoice(name string) error {
	if name == "" || slices.Contains(Voices(), name) {
		return nil
	}
	return &pipeline.StageError{
		Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w %q", pipeline.ErrUnknownVoice, name), Hint: "there are " + strings.Join(Voices(), ", "),
	}
}
