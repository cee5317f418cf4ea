package scripted

// This file has the types of a script.

import (
	"time"
)

// Script says how each stage behaves. The zero value is the default behaviour. Nobody changes a Script after it was parsed, so
// several pipelines may use it.
type Script struct {
	Pipeline    string           `yaml:"pipeline" enum:"scripted"` // "scripted"; it shows the purpose of the file
	Load        time.Duration    `yaml:"load" min:"0s" max:"10m"`  // how long Warm takes
	Prompts     []Prompt         `yaml:"prompts" max:"1000"`       // stored prompts
	Transcriber TranscriberRules `yaml:"transcriber"`
	Model       ModelRules       `yaml:"model"`
	Synthesizer SynthesizerRules `yaml:"synthesizer"`
}

// Prompt is a stored prompt that a session may name.
type Prompt struct {
	ID      string `yaml:"id" required:""`
	Version string `yaml:"version"`
	Text    string `yaml:"text" required:""` // {{name}} is replaced by the variable of that name
}

// TranscriberRules is the script of the recogniser.
type TranscriberRules struct {
	Missing      string        `yaml:"missing"`                          // if set, the stage is unavailable, and this command would install it
	Offline      bool          `yaml:"offline"`                          // the recogniser has no partial results and refuses a live stream
	PartialEvery time.Duration `yaml:"partial_every" min:"0s" max:"10m"` // how much audio lies between partial results; default 100 ms
	Delay        time.Duration `yaml:"delay" min:"0s" max:"10m"`         // before the final result
	Logprobs     bool          `yaml:"logprobs"`                         // each word has the probability 0.9
	Rules        []HearRule    `yaml:"rules" max:"1000"`
}

// HearRule changes the result for a text that the recogniser has recognised.
type HearRule struct {
	When     When          `yaml:"when"`
	Text     *string       `yaml:"text"`                         // returns this text instead
	Boundary string        `yaml:"boundary" enum:"eou,eob,none"` // eou, eob or none
	Delay    time.Duration `yaml:"delay" min:"0s" max:"10m"`     // before the final result
	Fail     string        `yaml:"fail"`                         // fails with this message instead of the final result
	Stall    bool          `yaml:"stall"`                        // never gives the final result
	Speakers []Speaker     `yaml:"speakers" max:"16"`            // returns these texts instead, by several speakers
}

// Speaker is one speaker and what he says.
type Speaker struct {
	Name string `yaml:"name"`
	Text string `yaml:"text"`
}

// ModelRules is the script of the model.
type ModelRules struct {
	FirstToken time.Duration `yaml:"first_token" min:"0s" max:"10m"` // delay before the first token (a word)
	Token      time.Duration `yaml:"token" min:"0s" max:"10m"`       // delay before each other token
	Window     int           `yaml:"window" min:"0"`                 // tokens of a request and its answer; default pipeline.DefaultContextWindow
	Replies    []Reply       `yaml:"replies" max:"1000"`             // the first one that matches is the answer; without one the default behaviour
}

// Reply is one answer of the model. Its parts come in this order: words, tool calls, failure.
type Reply struct {
	When       When           `yaml:"when"`
	Say        string         `yaml:"say"` // the text, which may contain {text}, {result}, {turn} and a regexp's groups {1} .. {9}
	Calls      []Call         `yaml:"calls" max:"16"`
	FirstToken *time.Duration `yaml:"first_token" min:"0s" max:"10m"`
	Token      *time.Duration `yaml:"token" min:"0s" max:"10m"`
	Fail       string         `yaml:"fail"`
	Stall      bool           `yaml:"stall"`
	Cut        bool           `yaml:"cut"` // ends as if the limit of output tokens were reached
}

// Call is a tool call. Without Arguments the model makes arguments that fit the schema of the tool.
type Call struct {
	Name      string         `yaml:"name" required:""`
	Arguments map[string]any `yaml:"arguments"`
}

// SynthesizerRules is the script of the synthesizer.
type SynthesizerRules struct {
	Missing   string        `yaml:"missing"`                      // if set, the stage is unavailable, and this command would install it
	Character time.Duration `yaml:"character" min:"0s" max:"10m"` // audio for each character; default 60 ms
	Speedup   float64       `yaml:"speedup" min:"0.01" max:"1e6"` // how much faster than real time; default 20
	Rules     []SpeakRule   `yaml:"rules" max:"1000"`
}

// SpeakRule changes how a text is spoken.
type SpeakRule struct {
	When  When          `yaml:"when"`
	Delay time.Duration `yaml:"delay" min:"0s" max:"10m"` // before the first audio
	After time.Duration `yaml:"after" min:"0s" max:"10m"` // this much audio comes before a failure or a stall
	Fail  string        `yaml:"fail"`
	Stall bool          `yaml:"stall"`
}
