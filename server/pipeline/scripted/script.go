package scripted

import (
	"time"
)

// Script says how each stage behaves. The zero value is the default behaviour. A Script that was parsed is not changed any
// more, and may be used by several pipelines.
type Script struct {
	Pipeline    string           `yaml:"pipeline"` // "scripted", so that a file says what it is for
	Load        time.Duration    `yaml:"load"`     // how long Warm takes
	Prompts     []Prompt         `yaml:"prompts"`  // stored prompts
	Transcriber TranscriberRules `yaml:"transcriber"`
	Model       ModelRules       `yaml:"model"`
	Synthesizer SynthesizerRules `yaml:"synthesizer"`
}

// Prompt is a stored prompt that a session may name.
type Prompt struct {
	ID      string `yaml:"id"`
	Version string `yaml:"version"`
	Text    string `yaml:"text"` // {{name}} is replaced by the variable of that name
}

// TranscriberRules is the script of the transcriber.
type TranscriberRules struct {
	Missing      string        `yaml:"missing"`       // not empty: unavailable, and this command would install it
	Offline      bool          `yaml:"offline"`       // no live results: a live stream is refused
	PartialEvery time.Duration `yaml:"partial_every"` // of audio, between partial results; default 100 ms
	Delay        time.Duration `yaml:"delay"`         // before the final result
	Logprobs     bool          `yaml:"logprobs"`      // knows how sure it is: each word has the probability 0.9
	Fixtures     []Fixture     `yaml:"fixtures"`
	Rules        []HearRule    `yaml:"rules"`
}

// Fixture is a recording and what is said in it.
type Fixture struct {
	Fingerprint string `yaml:"fingerprint"` // as Fingerprint.String gives it
	Text        string `yaml:"text"`

	print Fingerprint
}

// HearRule changes what the transcriber makes of a text that it heard.
type HearRule struct {
	When     When          `yaml:"when"`
	Text     *string       `yaml:"text"`     // says this instead
	Boundary string        `yaml:"boundary"` // eou, eob or none
	Delay    time.Duration `yaml:"delay"`    // before the final result
	Fail     string        `yaml:"fail"`     // fails with this message instead of the final result
	Stall    bool          `yaml:"stall"`    // never gives the final result
	Speakers []Speaker     `yaml:"speakers"` // says this instead, by several people
}

// Speaker is what one person says of a text.
type Speaker struct {
	Name string `yaml:"name"`
	Text string `yaml:"text"`
}

// ModelRules is the script of the model.
type ModelRules struct {
	FirstToken time.Duration `yaml:"first_token"` // delay before the first token (a word)
	Token      time.Duration `yaml:"token"`       // delay before each other token
	Window     int           `yaml:"window"`      // tokens of a request and its answer; default pipeline.DefaultContextWindow
	Replies    []Reply       `yaml:"replies"`     // the first that matches counts; none: the default behaviour
}

// Reply is what the model answers. Its parts come in this order: words, calls, failure.
type Reply struct {
	When       When           `yaml:"when"`
	Say        string         `yaml:"say"` // with {text}, {result}, {turn} and a regexp's groups {1} .. {9}
	Calls      []Call         `yaml:"calls"`
	FirstToken *time.Duration `yaml:"first_token"`
	Token      *time.Duration `yaml:"token"`
	Fail       string         `yaml:"fail"`
	Stall      bool           `yaml:"stall"`
	Cut        bool           `yaml:"cut"` // ends as if the limit of output tokens was reached
}

// Call is a tool call. Without arguments they are made to fit the tool's schema.
type Call struct {
	Name      string         `yaml:"name"`
	Arguments map[string]any `yaml:"arguments"`
}

// SynthesizerRules is the script of the synthesizer.
type SynthesizerRules struct {
	Missing   string        `yaml:"missing"`   // not empty: unavailable, and this command would install it
	Character time.Duration `yaml:"character"` // audio for each character; default 60 ms
	Speedup   float64       `yaml:"speedup"`   // how much faster than real time; default 20
	Rules     []SpeakRule   `yaml:"rules"`
}

// SpeakRule changes how a text is spoken.
type SpeakRule struct {
	When  When          `yaml:"when"`
	Delay time.Duration `yaml:"delay"` // before the first audio
	After time.Duration `yaml:"after"` // this much audio comes before a failure or a stall
	Fail  string        `yaml:"fail"`
	Stall bool          `yaml:"stall"`
}
