package llm

// The settings of a model.

import (
	"fmt"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Defaults of a Config.
const (
	DefaultFirstByte   = 50 * time.Second // less than the minute that a session waits for the first token
	DefaultMaxThinking = 2 * time.Minute
	// DefaultInterruption is the note that a model reads before the words with which the user interrupted it.
	DefaultInterruption = "[The user interrupted your answer. They heard only the part of it that is written above.]"
)

// Config says which model of which servers answers.
type Config struct {
	// Server has the base addresses, which end with the version, such as "http://127.0.0.1:11434/v1", the key and the deadlines. Its Stage is
	// set here, and its FirstByte is DefaultFirstByte if it is 0.
	Server remote.Config
	Model  string // name of the model; empty: the only one that the server has
	Window int    // context window in tokens; 0: what the server says, else pipeline.DefaultContextWindow
	// Options are further fields of each request, such as "temperature", or the one that switches a model's thinking off. Fields that the
	// adapter sets are not allowed.
	Options map[string]any
	// Interruption is a note for the model, put before the user's words that interrupted an answer. Empty: DefaultInterruption. None: no note.
	Interruption string
	// Spoken tells the model how to write an answer that is spoken. Empty: DefaultSpoken. None: nothing.
	Spoken string
	// NoTime leaves out the user's time and language, which otherwise follow the instructions.
	NoTime bool
	// Blind says that the model cannot see images. The adapter then answers a message with images with pipeline.NoVisionReply.
	Blind bool
	// Hears says that the model hears: the adapter sends the user's newest speech as an input_audio part, in place of its transcript. Only
	// NewChat takes it.
	Hears bool

	MaxThinking time.Duration // longest time from the first thought to the first word; 0: DefaultMaxThinking
}

// reserved returns the fields that Options may not have.
func reserved() []string {
	return []string{
		"model", "messages", "input", "instructions", "tools", "tool_choice", "stream", "stream_options", "parallel_tool_calls",
		"max_tokens", "max_completion_tokens", "max_output_tokens", "n",
	}
}

// client checks c, sets its defaults, and returns the HTTP client. An error names the setting that is wrong.
func (c *Config) client() (*remote.Client, error) {
	for name := range c.Options {
		if slices.Contains(reserved(), name) {
			return nil, fmt.Errorf("options: %q is set by the server; leave it out", name)
		}
	}
	if c.Window < 0 {
		return nil, fmt.Errorf("window: %d is no number of tokens", c.Window)
	}
	if c.Server.FirstByte == 0 {
		c.Server.FirstByte = DefaultFirstByte
	}
	if c.MaxThinking == 0 {
		c.MaxThinking = DefaultMaxThinking
	}
	switch c.Interruption {
	case "":
		c.Interruption = DefaultInterruption
	case None:
		c.Interruption = ""
	}
	switch c.Spoken {
	case "":
		c.Spoken = DefaultSpoken
	case None:
		c.Spoken = ""
	}
	c.Server.Stage = pipeline.StageModel
	return remote.New(c.Server)
}
