package main

// This file opens the pipeline that the flags or the configuration ask for, and reads the configuration.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/antiphon-rt/antiphon/internal/engine/probe"
	"github.com/antiphon-rt/antiphon/internal/engine/rnnoise"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// givenOn returns the names of the flags that the command line or the environment sets.
func givenOn(line *kong.Context) map[string]bool {
	given := map[string]bool{}
	for _, p := range line.Path {
		for _, f := range p.Flags {
			given[f.Name] = given[f.Name] || slices.ContainsFunc(f.Tag.Envs, func(name string) bool { return os.Getenv(name) != "" })
		}
		if p.Flag != nil {
			given[p.Flag.Name] = true
		}
	}
	return given
}

// findConfig returns the path of the configuration: path, or that of antiphon.yaml in the working folder; "" if there is none. The
// path of a file below the working folder is relative to it, because errors are easier to read then.
func findConfig(path string) (string, error) {
	if path != "" {
		folder, err := os.Getwd()
		if below, bad := filepath.Rel(folder, path); err == nil && bad == nil && filepath.IsLocal(below) {
			path = below
		}
		return path, nil
	}
	switch info, err := os.Stat(config.Name); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "", nil
	}
	return config.Name, nil
}

// readConfig reads the configuration, if there is one, and takes the flags from it that are not given. It returns nil if there is none.
func (c *serve) readConfig(given map[string]bool) (*config.File, error) {
	path, err := findConfig(c.Config)
	if path == "" || err != nil {
		return nil, err
	}
	var section serve
	file, err := config.Load(path, &section)
	var many *strict.Errors
	if errors.As(err, &many) && len(many.All) > 1 {
		return nil, fmt.Errorf("%s has mistakes:\n%w", path, err)
	}
	if err != nil {
		return nil, err
	}
	from, to := reflect.ValueOf(&section).Elem(), reflect.ValueOf(c).Elem()
	for _, f := range strict.Fields(from.Type()) {
		if slices.Contains(file.Server, f.Key) && !given[f.Key] {
			to.FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
		}
	}
	c.Config = path
	return file, nil
}

// open returns the pipeline of the configuration; where there is none, or where the flag --pipeline is given, that of the flag.
func (c *serve) open(ctx context.Context, file *config.File, flag bool, logger *slog.Logger) (*pipeline.Pipeline, error) {
	if file == nil {
		return openPipeline(ctx, c.Pipeline, c.RecogniserProcesses, logger)
	}
	if flag {
		logger.Info("the configuration is read, but for its stages: --pipeline wins", "file", file.Path, "pipeline", c.Pipeline)
		p, err := openPipeline(ctx, c.Pipeline, c.RecogniserProcesses, logger)
		if err != nil {
			return nil, err
		}
		if err := file.GuardVoices(ctx, p); err != nil {
			return nil, errors.Join(err, p.Close())
		}
		reportVoices(p, logger)
		return p, nil
	}
	logger.Info("the configuration is read", "file", file.Path, "stt", file.STT.Kind(), "llm", file.LLM.Kind(), "tts", file.TTS.Kind())
	p, err := file.Pipeline(ctx, config.Env{Logger: logger, RecogniserProcesses: c.RecogniserProcesses})
	if err == nil {
		reportEndJudge(p, logger)
		reportVoices(p, logger)
	}
	return p, err
}

// probeAgain is how long the server waits before it tries stages of the configuration again that did not work.
const probeAgain = 30 * time.Second

// report logs what a probe found in a stage.
func report(logger *slog.Logger) func(probe.Result) {
	return func(r probe.Result) {
		if r.Err != nil {
			logger.Warn("a stage does not work", "stage", r.Stage, "err", r.Err)
			return
		}
		logger.Info("a stage works", "stage", r.Stage, "facts", r.Facts())
		for _, f := range r.Findings() {
			logger.Warn("a stage does not fit a conversation", "stage", r.Stage, "finding", f)
		}
	}
}

// warm loads the back ends, and logs the components that are missing or do not work. If probes is not nil, it tries the stages instead, which
// says the same and more.
func warm(ctx context.Context, p *pipeline.Pipeline, probes *probe.Keeper, logger *slog.Logger) {
	if probes != nil {
		probes.Run(ctx, probeAgain, report(logger))
		return
	}
	if err := p.Warm(ctx); err != nil && ctx.Err() == nil {
		logger.Warn("a back end does not come up", "err", err)
	}
	for _, c := range p.Components() {
		if c.State == pipeline.StateMissing {
			logger.Warn("a component is missing", "stage", c.Stage, "name", c.Name, "detail", c.Detail, "install", c.Install)
		}
	}
}

// openPipeline returns the pipeline that the flag --pipeline names.
func openPipeline(ctx context.Context, name string, processes int, logger *slog.Logger) (*pipeline.Pipeline, error) {
	switch {
	case name == "sherpa", name == "best" && sherpa.HasVoice(sherpa.Config{}):
		return openSherpa(sherpa.Config{Logger: logger, Processes: processes})
	case name == "embedded", name == "best":
		return embedded.New(ctx, embedded.Options{Logger: logger, Processes: processes})
	case name == "scripted":
		return scripted.New(scripted.Options{}), nil
	case filepath.Base(name) == config.Name:
		return nil, fmt.Errorf("--pipeline %s: this is the name of a configuration: give it with --config, or rename the script", name)
	case strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"):
		return scripted.Load(name)
	}
	return nil, fmt.Errorf("--pipeline %q: want best, embedded, sherpa, scripted, or a FILE.yaml", name)
}

// complete gives the pipeline its optional parts, and takes from it what the flags switch off.
func (c *serve) complete(p *pipeline.Pipeline, logger *slog.Logger) {
	reduceNoise(p, logger)
	if !c.SoundEvents {
		p.Sounds = nil
	}
}

// reduceNoise gives the pipeline noise reduction, if this machine has it. The pipeline's Components do not have it, because nothing is missing
// without it.
func reduceNoise(p *pipeline.Pipeline, logger *slog.Logger) {
	r := rnnoise.New(rnnoise.Config{})
	p.ReduceNoise(r)
	switch c := r.Component(); c.State {
	case pipeline.StateMissing:
		logger.Info("no noise reduction: noise_reduction of a session comes back as null", "install", c.Install)
	case pipeline.StateFailed:
		logger.Warn("noise reduction does not work: noise_reduction of a session comes back as null", "detail", c.Detail)
	}
}

// reportEndJudge logs that the configuration asks for a model that hears ends of turns, and that this machine does not have it.
func reportEndJudge(p *pipeline.Pipeline, logger *slog.Logger) {
	if p.EndJudge == nil {
		return
	}
	if c := p.EndJudge.Component(); c.State == pipeline.StateMissing {
		logger.Warn("ends of turns are estimated by the words and the sound alone", "missing", c.Name, "install", c.Install)
	}
}

// reportVoices logs that not everybody may speak to the model.
func reportVoices(p *pipeline.Pipeline, logger *slog.Logger) {
	if p.Gate != nil {
		logger.Info("only the people of the section voices may speak to the model", "every-turn", !p.Gate.FirstTurn)
	}
}

// openSherpa returns the pipeline of neural speech on this machine, with the built-in assistant.
func openSherpa(c sherpa.Config) (*pipeline.Pipeline, error) {
	recogniser, err := sherpa.Recogniser(c)
	if err != nil {
		return nil, err
	}
	c.Processes = 0 // the flag is for recognisers
	synthesizer, err := sherpa.Synthesizer(c)
	if err != nil {
		return nil, errors.Join(err, recogniser.Close())
	}
	p := pipeline.Compose("sherpa", recogniser, embedded.Assistant(embedded.Options{}), synthesizer)
	p.Speakable = speakable.New(speakable.English)
	return p, nil
}
