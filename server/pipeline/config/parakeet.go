package config

// The kind of parakeet.cpp's library on this machine.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/parakeet"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Parakeet has the fields of kind parakeet.
type Parakeet struct {
	Library   string `yaml:"library" doc:"The absolute path of parakeet.cpp's shared library, or its name where the system looks for libraries; without it, libparakeet.so (libparakeet.dylib on macOS)."`
	Model     string `yaml:"model" type:"path" required:"" doc:"A model for parakeet.cpp: a GGUF file. One that streams gives captions and ends of utterances."`
	Language  string `yaml:"language" doc:"The language, such as en, of sessions that name none; without it, the model's default. A model of one language ignores it."`
	Processes int    `yaml:"processes" min:"0" max:"64" doc:"How many turns are recognised at a time, each in a process that loads the model; 0 takes --recogniser-processes, or 2."`
}

func openParakeet(_ context.Context, c *Parakeet, e Env) (pipeline.Stage[pipeline.Transcriber], error) {
	if c.Processes == 0 {
		c.Processes = e.RecogniserProcesses
	}
	return parakeet.Recogniser(parakeet.Config{Library: c.Library, Model: c.Model, Language: c.Language, Processes: c.Processes, Logger: e.Logger})
}
