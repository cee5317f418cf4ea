package config

// The file as a whole: reading it, and opening its pipeline.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/engine/smartturn"
	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Name is the name of the file that antiphon serve looks for in its working folder.
const Name = "antiphon.yaml"

// File is a file that was read. Nobody changes it afterwards.
type File struct {
	Path      string
	Session   Session
	Tools     Tools
	MCP       MCP
	Phones    Phones
	Languages []Language
	// Voices is nil if everybody may speak to the model.
	Voices        *Voices
	STT, LLM, TTS Choice
	// Turn is who estimates the ends of turns: TurnLexical or TurnSmart.
	Turn string
	// Server has the keys that stand under `server`, in alphabetic order.
	Server []string
}

// Load reads a file. server is nil, or points to a struct that gets the section `server`. Its fields name the keys as package strict says;
// the tag nofile:"why" of a field says why it has no key in the file. A nil server takes any keys there: a Go program configures its
// server itself. The error lists all mistakes.
func Load(path string, server any) (*File, error) {
	src, err := strict.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, src, server)
}

// Parse reads src, the content of a file, as Load does. Relative paths in it are relative to the folder of the file.
func Parse(path string, src []byte, server any) (*File, error) {
	f := &File{Path: path}
	top := sections{Server: serverSection{into: server}, STT: Choice{stage: STT}, LLM: Choice{stage: LLM}, TTS: Choice{stage: TTS}}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := strict.Decode(path, src, &top, strict.Options{Dir: dir, Unknown: unknown, Refuse: refuse}); err != nil {
		return nil, err
	}
	f.Session, f.Tools, f.MCP, f.Phones, f.Languages, f.Voices = top.Session, top.Tools, top.MCP, top.Phones, top.Languages, top.Voices
	f.Server, f.Turn = top.Server.keys, cmp.Or(top.Turn, TurnLexical)
	for to, from := range map[*Choice]Choice{&f.STT: top.STT, &f.LLM: top.LLM, &f.TTS: top.TTS} {
		*to = from.orDefault()
	}
	return f, nil
}

// sections are the sections of the file.
type sections struct {
	Server    serverSection `yaml:"server" doc:"The server: the same names as the flags of antiphon serve, without the dashes."`
	Session   Session       `yaml:"session" doc:"What a session begins with, until its client changes it: the protocol's session object."`
	Tools     Tools         `yaml:"tools" doc:"Tools that the server runs itself, in every session."`
	MCP       MCP           `yaml:"mcp" doc:"Servers of remote tools (Model Context Protocol)."`
	Phones    Phones        `yaml:"phones" doc:"Telephone calls: by SIP, with --sip, and over WebSockets (docs/phones.md)."`
	STT       Choice        `yaml:"stt" doc:"Speech to text: the recogniser."`
	LLM       Choice        `yaml:"llm" doc:"The model that writes the answers."`
	TTS       Choice        `yaml:"tts" doc:"Text to speech: the synthesizer."`
	Turn      string        `yaml:"turn" enum:"lexical,smart-turn" doc:"How semantic_vad finds ends of turns where the recogniser does not report them: lexical by the words and the sound, smart-turn also by a neural model, if antiphon models get smart-turn has fetched it. lexical without it."`
	Languages []Language    `yaml:"languages" doc:"Words of languages of your own, for ends of turns and barge-ins."`
	Voices    *Voices       `yaml:"voices" doc:"The people who may speak to the model. Without this section everybody may. It needs antiphon models get voice-prints."`
}

// refuse returns why a key may not stand in the file.
func refuse(f strict.Field) string { return f.Tag.Get("nofile") }

// unknown explains keys that do not exist on purpose, and those of a script of the scripted pipeline.
func unknown(key string, known []string) string {
	if slices.Contains(known, STT) && slices.Contains([]string{"pipeline", "prompts", "transcriber", "model", "synthesizer"}, key) {
		return key + ": this is a key of a script, not of a configuration: give a script with --pipeline"
	}
	if !slices.Contains([]string{"key", "api_key", "apikey", "api-key", "token", "secret", "password"}, key) {
		return ""
	}
	if !slices.Contains(known, "key_env") {
		return key + ": a key never stands in the file, and none is needed here: take it out"
	}
	return key + ": a key never stands in the file: name the environment variable that has it (key_env: NAME), or a file that has it (key_file: PATH)"
}

// serverSection passes the section `server` on.
type serverSection struct {
	into any
	keys []string
}

// UnmarshalNode implements strict.Unmarshaler.
func (s *serverSection) UnmarshalNode(d *Decoder, n *yaml.Node) {
	if strict.IsNull(n) {
		return
	}
	entries, ok := d.Mapping(n)
	if !ok {
		return
	}
	for _, e := range entries {
		if !strict.IsNull(e.Value) {
			s.keys = append(s.keys, e.Key)
		}
	}
	slices.Sort(s.keys)
	if s.into != nil {
		d.Into(n, s.into)
	}
}

// Decoder reads the file.
type Decoder = strict.Decoder

// UnmarshalNode implements strict.Unmarshaler.
func (c *Choice) UnmarshalNode(d *Decoder, n *yaml.Node) {
	if strict.IsNull(n) {
		return
	}
	if n.Kind == yaml.ScalarNode && n.Value != "" && kindOf(c.stage, n.Value) != nil {
		d.Fail(n, "want keys with values here: write kind: %s on a line of its own below %s", n.Value, c.stage)
		return
	}
	entries, ok := d.Mapping(n)
	if !ok {
		return
	}
	var names []string
	for _, k := range Kinds(c.stage) {
		names = append(names, k.Name)
	}
	for _, e := range entries {
		if e.Key != "kind" {
			continue
		}
		name, ok := d.Text(e.Value)
		if !ok {
			return
		}
		if hint := wrongKind(c.stage, name); hint != "" {
			d.Fail(e.Value, "there is no kind %s: %s", name, hint)
			return
		}
		if c.kind = kindOf(c.stage, name); c.kind == nil || name == "" {
			d.UnknownValue(e.Value, name, names)
			return
		}
	}
	if c.kind == nil {
		d.Fail(n, "%s: kind is missing; want one of %s", c.stage, strings.Join(names, ", "))
		return
	}
	*c = c.orDefault()
	c.line = entries[0].At.Line
	into := []any{c.fields}
	switch c.stage {
	case STT:
		into = append(into, &c.listen)
	case TTS:
		into = append(into, &c.common)
	}
	d.Rest(n, entries, "kind", into...)
}

// orDefault returns the choice; where the file makes none, the one of the embedded pipeline, but with the neural voice if this machine has it.
func (c Choice) orDefault() Choice {
	if c.kind == nil {
		c.kind = kindOf(c.stage, "")
		if c.stage == TTS && sherpa.HasVoice(sherpa.Config{}) {
			c.kind = kindOf(TTS, "sherpa")
		}
	}
	if c.fields == nil {
		c.fields = c.kind.fields()
	}
	return c
}

// Pipeline opens the stages of the file, with its languages, its judge of ends and its voice gate. The caller closes the pipeline. An error names what cannot be opened.
func (f *File) Pipeline(ctx context.Context, e Env) (p *pipeline.Pipeline, err error) {
	own, err := f.languages()
	if err != nil {
		return nil, err
	}
	t, err := openStage[pipeline.Transcriber](ctx, f.Path, &f.STT, e)
	if err != nil {
		return nil, err
	}
	m, err := openStage[pipeline.Model](ctx, f.Path, &f.LLM, e)
	if err != nil {
		return nil, errors.Join(err, shut(t))
	}
	s, err := openStage[pipeline.Synthesizer](ctx, f.Path, &f.TTS, e)
	if err != nil {
		return nil, errors.Join(err, shut(t), shut(m))
	}
	p = pipeline.Compose(f.name(), t, m, s)
	p.Speakable = f.TTS.speakable()
	p.SetLanguages(own)
	if f.STT.listen.Retranscribe {
		p.Retranscriber = p.Transcriber
	}
	if f.Turn == TurnSmart {
		d, err := smartturn.New(smartturn.Config{Logger: e.Logger})
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.JudgeEnds(d)
	}
	if err := f.GuardVoices(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// The values of the key `turn`.
const (
	TurnLexical = "lexical"
	TurnSmart   = "smart-turn"
)

// shut closes a stage that no pipeline gets.
func shut[S any](s pipeline.Stage[S]) error {
	if s.Close == nil {
		return nil
	}
	return s.Close()
}

// name returns the name of the pipeline: its kinds, one for neighbours that are the same, or "embedded" where they are those of the embedded pipeline.
func (f *File) name() string {
	all := []string{f.STT.Kind(), f.LLM.Kind(), f.TTS.Kind()}
	if slices.Equal(all, []string{kindOf(STT, "").Name, kindOf(LLM, "").Name, kindOf(TTS, "").Name}) {
		return "embedded"
	}
	return strings.Join(slices.Compact(all), "+")
}

// SessionJSON returns what a session begins with, as the object `session` of a session.update, for server.Config.Session; nil for
// nothing. Where the section `session` names no model or no synthesis voice, the fields `model` and `voice` of the kinds do.
func (f *File) SessionJSON() (json.RawMessage, error) {
	s := f.Session
	s.Model = cmp.Or(s.Model, f.LLM.text("Model"))
	s.Audio.Output.Voice = cmp.Or(s.Audio.Output.Voice, f.TTS.text("Voice"))
	return s.json()
}

// text returns the field of the kind with that name in Go, if it has one and it is a text.
func (c *Choice) text(name string) string {
	if field := reflect.ValueOf(c.fields).Elem().FieldByName(name); field.IsValid() && field.Kind() == reflect.String {
		return field.String()
	}
	return ""
}
