package main

// This file has `antiphon config`, which checks a configuration and prints its JSON Schema, and what `antiphon serve` takes from the configuration, too.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

type configure struct {
	Check  checkConfig  `cmd:"" help:"Say what is wrong in a configuration. It calls no server: antiphon doctor does."`
	Schema schemaConfig `cmd:"" help:"Print the JSON Schema of a configuration, for editors."`
}

type checkConfig struct {
	File   string `arg:"" optional:"" type:"path" default:"antiphon.yaml" placeholder:"FILE.yaml" help:"The configuration."`
	Config string `type:"path" placeholder:"FILE.yaml" help:"The same as FILE, as for serve."`
}

// Run checks a configuration as serve would read it, and says in one line what it chooses.
func (c *checkConfig) Run(ctx context.Context) error { return c.check(ctx, os.Stdout) }

func (c *checkConfig) check(ctx context.Context, w io.Writer) (err error) {
	flags := serve{Config: cmp.Or(c.Config, c.File)}
	file, err := flags.readConfig(nil)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: run antiphon setup, which writes one, or name another file", err)
	}
	if err != nil {
		return err
	}
	p, err := file.Pipeline(ctx, config.Env{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := begin(file, p, &server.Config{}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s is right: stt %s, llm %s, tts %s\n", file.Path, file.STT.Kind(), file.LLM.Kind(), file.TTS.Kind())
	return err
}

// begin writes what sessions begin with, and the tools that the server runs, into cfg. file is nil where there is no configuration.
func begin(file *config.File, p *pipeline.Pipeline, cfg *server.Config) (err error) {
	if file == nil {
		return nil
	}
	if cfg.Session, err = file.SessionJSON(); err == nil {
		err = server.CheckSession(p, cfg.Session)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	if cfg.Tools, err = file.ServerTools(config.Env{Logger: cfg.Logger}); err == nil {
		cfg.MCP, err = file.MCPServers(config.Env{Logger: cfg.Logger})
	}
	if err == nil {
		cfg.Phones, err = file.PhoneCalls(config.Env{Logger: cfg.Logger})
	}
	if err == nil {
		err = server.CheckPhones(p, *cfg)
	}
	if err == nil {
		cfg.Streams, cfg.Digits, err = file.PhoneStreams(config.Env{Logger: cfg.Logger})
	}
	if err == nil {
		checked := *cfg
		checked.Pipeline = p
		err = server.CheckStreams(checked)
	}
	return err
}

// setsTurns reports whether the object `session` of the configuration says how turns end. If it does not, the Talk page asks for semantic_vad.
func setsTurns(session json.RawMessage) bool {
	var o struct {
		Audio struct {
			Input map[string]json.RawMessage `json:"input"`
		} `json:"audio"`
	}
	if json.Unmarshal(session, &o) != nil {
		return false // there is none: begin has checked it
	}
	_, sets := o.Audio.Input["turn_detection"]
	return sets
}

type schemaConfig struct{}

func (schemaConfig) Run() error {
	schema, err := json.MarshalIndent(config.Schema(&serve{}), "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Println(string(schema))
	return err
}
