// Package calltest plays calls that a file describes against a server, and says whether the agent did what the file expects: the command
// antiphon test, and sdktest.Calls. docs/testing-agents.md describes the files.
//
// Files: file.go (the file), call.go (one call), voice.go (what the microphone gets), line.go (a bad line), answer.go (what is expected of an
// answer), report.go (results for people and programs), picture.go (a call as a picture), memory.go (a server in this process).
package calltest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

// File is one call: how the session begins, the tools of the client, and the steps.
type File struct {
	Path    string  `yaml:"-"`
	Name    string  `yaml:"name" doc:"What the call shows. Without it, the name of the file."`
	Session Session `yaml:"session" doc:"What the session begins with, in place of the server's settings."`
	Line    *Line   `yaml:"line" doc:"A bad line of the user: what the microphone's sound and its packets meet on the way."`
	Tools   []Tool  `yaml:"tools" max:"128" doc:"Functions that the agent may call, and what they answer."`
	Steps   []Step  `yaml:"call" required:"" max:"200" doc:"What the user does and what the agent must do, in this order."`

	plays uint64 // how often it was played
}

// Session has the settings of the session. An empty one leaves the server's.
type Session struct {
	Instructions string `yaml:"instructions" doc:"The agent's instructions."`
	Model        string `yaml:"model" doc:"The model to ask for."`
	Voice        string `yaml:"voice" doc:"The agent's voice."`
	Language     string `yaml:"language" doc:"A hint for the recogniser, such as en."`
	Turns        string `yaml:"turn_detection" enum:"server_vad,semantic_vad" doc:"What ends the user's turn: silence alone, or the words too."`
}

// Tool is a function of the client with a constant answer.
type Tool struct {
	Name        string         `yaml:"name" required:"" doc:"What the agent calls it."`
	Description string         `yaml:"description" doc:"When to call it."`
	Parameters  map[string]any `yaml:"parameters" doc:"A JSON Schema of type object."`
	Answers     string         `yaml:"answers" doc:"What the agent gets, as text or JSON."`
	Fails       string         `yaml:"fails" doc:"The error that the agent gets in place of an answer."`
	After       time.Duration  `yaml:"after" min:"0s" max:"30s" doc:"How long the tool takes."`
}

// Step is one thing that the user does, or that is expected of the agent.
type Step struct {
	Say     []string      `yaml:"say" max:"20" doc:"The user says this text, with the voice of the server's synthesizer; of a list, one text after the other in one breath, with pauses."`
	Pause   time.Duration `yaml:"pause" min:"20ms" max:"1m" doc:"How long the pauses between the texts of a list are. The default is 1s."`
	Play    string        `yaml:"play" type:"existingfile" doc:"The user's microphone gets this WAV file: a recorded sentence, a cough, a noise."`
	Write   string        `yaml:"write" doc:"The user writes this message."`
	Wait    time.Duration `yaml:"wait" min:"0s" max:"5m" doc:"Nothing happens for this long."`
	Silence time.Duration `yaml:"silence" min:"0s" max:"5m" doc:"The agent must not be heard for this long."`
	Answer  *Answer       `yaml:"answer" doc:"The agent's next answer, and what is expected of it."`
	Over    time.Duration `yaml:"over" min:"20ms" max:"5m" doc:"With say and play: the user begins when the agent has been heard for this long in the answer that comes or plays. Without it, the user waits for the end of the answer."`

	kind string // the key that says what happens
	line int
	keys []string
}

// Answer is what is expected of one answer of the agent.
type Answer struct {
	Says        []string       `yaml:"says" doc:"What the user has heard has each of these: words in this order, or a regular expression between slashes."`
	Heard       []string       `yaml:"heard" doc:"What the agent has understood of the user since its last answer has each of these."`
	Not         []string       `yaml:"not" doc:"What the user has heard has none of these."`
	Calls       []string       `yaml:"calls" doc:"The tools that the agent has called since its last answer, in this order; [] for none."`
	With        map[string]any `yaml:"with" doc:"Arguments that one of these calls has, beside others."`
	Judge       string         `yaml:"judge" doc:"A statement about the call so far, such as \"the agent was polite\". The server's model must say that it is true."`
	Within      time.Duration  `yaml:"within" min:"0s" max:"1m" doc:"From the end of what the user said or wrote to the first sound of the answer, or its first text."`
	Interrupted *bool          `yaml:"interrupted" doc:"Whether the user has interrupted the answer."`
	Yields      time.Duration  `yaml:"yields" min:"0s" max:"1m" doc:"From the begin of what the user said over the agent to the agent's silence."`
}

// Load reads a file. The error lists all mistakes, each with its line.
func Load(path string) (*File, error) {
	src, err := strict.Read(path)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{Path: path}
	if err := strict.Decode(path, src, f, strict.Options{Dir: dir}); err != nil {
		return nil, err
	}
	if len(f.Steps) == 0 {
		return nil, fmt.Errorf("%s: call is empty: it has no steps", path)
	}
	if f.Name == "" {
		f.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	return f, nil
}

// Place implements strict.Placed.
func (s *Step) Place(line int, keys []string) { s.line, s.keys = line, keys }

// Check implements strict.Checker.
func (s *Step) Check(fail func(key, format string, args ...any)) {
	kinds, modified := 0, true
	for _, key := range s.keys {
		switch key {
		case "say", "play", "write", "wait", "silence", "answer":
			kinds++
			s.kind = key
		case "over", "pause":
		default:
			modified = false // it has an error already
		}
	}
	if kinds > 1 || kinds == 0 && modified {
		fail("", "a step has one of say, play, write, wait, silence and answer; this one has %d of them", kinds)
		return
	}
	sounds := s.kind == "say" || s.kind == "play"
	switch {
	case kinds == 0:
	case s.Over > 0 && !sounds:
		fail("over", "over belongs to say or play")
	case s.Pause > 0 && len(s.Say) < 2:
		fail("pause", "pause belongs to a say with a list of texts: say: [I want to fly, to Paris]")
	case s.kind == "say" && !slices.ContainsFunc(s.Say, func(text string) bool { return text != "" }), s.kind == "play" && s.Play == "", s.kind == "write" && s.Write == "":
		fail(s.kind, "%s is empty", s.kind)
	}
	if s.Answer == nil {
		s.Answer = &Answer{}
	}
}

// Check implements strict.Checker.
func (a *Answer) Check(fail func(key, format string, args ...any)) {
	for key, all := range map[string][]string{"says": a.Says, "not": a.Not, "heard": a.Heard} {
		for _, text := range all {
			if _, err := pattern(text); err != nil {
				fail(key, "%v", err)
			}
		}
	}
	if len(a.With) > 0 && len(a.Calls) == 0 {
		fail("with", "with belongs to calls: name the tool")
	}
}

// Check implements strict.Checker.
func (t *Tool) Check(fail func(key, format string, args ...any)) {
	if t.Name != "" && !toolName.MatchString(t.Name) {
		fail("name", "the tool name %q is not 1 to 64 of a-z, A-Z, 0-9, _ and -", t.Name)
	}
	if t.Answers != "" && t.Fails != "" {
		fail("fails", "a tool answers or fails")
	}
	if _, err := json.Marshal(t.Parameters); err != nil {
		fail("parameters", "this is no JSON Schema: %v", err)
	}
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Check implements strict.Checker.
func (f *File) Check(fail func(key, format string, args ...any)) {
	named := map[string]bool{}
	for _, t := range f.Tools {
		if t.Name != "" && named[t.Name] {
			fail("tools", "two tools have the name %s", t.Name)
		}
		named[t.Name] = true
	}
}

// pattern returns the regular expression of a text: what stands between slashes, or its words in this order, whatever the case, the
// punctuation and the spaces between them are.
func pattern(text string) (*regexp.Regexp, error) {
	if expr, is := strings.CutPrefix(text, "/"); is && strings.HasSuffix(expr, "/") {
		return regexp.Compile("(?i)" + strings.TrimSuffix(expr, "/"))
	}
	words := wordsOf(text)
	if len(words) == 0 {
		return nil, fmt.Errorf("%q has no words", text)
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.Compile(`(?i)(^|[^\pL\pN])` + strings.Join(words, `[^\pL\pN]+`) + `($|[^\pL\pN])`)
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
