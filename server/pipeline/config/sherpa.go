package config

// The kinds of the neural engines on this machine.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// SherpaSTT has the fields of the recogniser of kind sherpa.
type SherpaSTT struct {
	Model     string `yaml:"model" doc:"A model of antiphon models list, or the path of a folder with a Moonshine model; without it, the one that is on this machine."`
	Models    string `yaml:"models" type:"path" doc:"The folder of this machine's models, in place of ANTIPHON_MODELS or the usual one."`
	Threads   int    `yaml:"threads" min:"0" max:"64" doc:"How many processors one decoding takes; 0 takes 1."`
	Processes int    `yaml:"processes" min:"0" max:"64" doc:"How many turns are recognised at a time, each in a process of about 200 MB; 0 takes 4."`
}

func openSherpaSTT(_ context.Context, c *SherpaSTT, e Env) (pipeline.Stage[pipeline.Transcriber], error) {
	if c.Processes == 0 {
		c.Processes = e.RecogniserProcesses
	}
	return sherpa.Recogniser(sherpa.Config{Models: c.Models, Model: c.Model, Threads: c.Threads, Processes: c.Processes, Logger: e.Logger})
}

// SherpaTTS has the fields of the synthesizer of kind sherpa.
type SherpaTTS struct {
	Model     string `yaml:"model" doc:"A voice of antiphon models list, or the path of a folder with a voice of Piper; without it, the one that is on this machine."`
	Models    string `yaml:"models" type:"path" doc:"The folder of this machine's models, in place of ANTIPHON_MODELS or the usual one."`
	Voice     string `yaml:"voice" doc:"The synthesis voice of a session that asks for none. The model has one speaker, whom every name means."`
	Threads   int    `yaml:"threads" min:"0" max:"64" doc:"How many processors one clause takes; 0 takes 1."`
	Processes int    `yaml:"processes" min:"0" max:"64" doc:"How many clauses are spoken at a time, each in a process of about 200 MB; 0 takes 2."`
}

func openSherpaTTS(_ context.Context, c *SherpaTTS, e Env) (pipeline.Stage[pipeline.Synthesizer], error) {
	return sherpa.Synthesizer(sherpa.Config{Models: c.Models, Model: c.Model, Threads: c.Threads, Processes: c.Processes, Logger: e.Logger})
}
