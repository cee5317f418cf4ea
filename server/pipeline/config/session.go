package config

// The section `session`: what a session begins with. It has the names of the protocol's session object.

import (
	"encoding/json"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

// Session has the fields of the protocol's session object that a file can set. A field that is left out keeps the server's default.
type Session struct {
	Model             string   `yaml:"model" doc:"The name of the model that a session shows; the stage llm says which model answers."`
	Instructions      string   `yaml:"instructions" doc:"What the model is told before the conversation."`
	OutputModalities  []string `yaml:"output_modalities" enum:"audio,text" doc:"[audio] or [text]."`
	MaxOutputTokens   int      `yaml:"max_output_tokens" min:"1" max:"4096" doc:"Limit of the tokens of a response."`
	Audio             Audio    `yaml:"audio"`
	Tools             []Tool   `yaml:"tools" doc:"Functions that the model may call. The client runs them."`
	ToolChoice        string   `yaml:"tool_choice" enum:"auto,none,required" doc:"Whether the model calls a tool."`
	ParallelToolCalls *bool    `yaml:"parallel_tool_calls" doc:"Whether a response may have several tool calls."`
}

// Audio has the settings of both directions of a session.
type Audio struct {
	Input  AudioInput  `yaml:"input"`
	Output AudioOutput `yaml:"output"`
}

// AudioInput has the settings for the user's speech.
type AudioInput struct {
	Transcription *Transcription `yaml:"transcription" doc:"Whether a session shows transcripts of the user, and hints for the recogniser."`
	TurnDetection TurnDetection  `yaml:"turn_detection" doc:"How the server finds the end of a turn; null: the client commits turns itself."`
}

// Transcription has hints for the recogniser.
type Transcription struct {
	Model    string `yaml:"model"`
	Language string `yaml:"language" doc:"ISO 639-1, such as en."`
	Prompt   string `yaml:"prompt" doc:"Words to expect."`
}

// AudioOutput has the settings for the agent's speech.
type AudioOutput struct {
	Voice string  `yaml:"voice" doc:"The synthesis voice."`
	Speed float64 `yaml:"speed" min:"0.25" max:"1.5" doc:"1 is the normal speed."`
}

// Tool is a function that the model may call.
type Tool struct {
	Type        string         `yaml:"type" enum:"function" required:""`
	Name        string         `yaml:"name" required:""`
	Description string         `yaml:"description"`
	Parameters  map[string]any `yaml:"parameters" doc:"JSON Schema of the arguments."`
}

// TurnDetection says how the server finds the begin and the end of a turn.
type TurnDetection struct {
	Off    bool // null in the file
	Fields TurnFields
}

// TurnFields are the fields of a TurnDetection.
type TurnFields struct {
	Type              string   `yaml:"type" enum:"server_vad,semantic_vad"`
	Threshold         *float64 `yaml:"threshold" min:"0" max:"1" doc:"Probability of speech (server_vad)."`
	PrefixPaddingMS   *int     `yaml:"prefix_padding_ms" min:"0" max:"10000" doc:"Audio before the speech onset that belongs to the turn (server_vad)."`
	SilenceDurationMS *int     `yaml:"silence_duration_ms" min:"0" max:"30000" doc:"Silence that ends the turn (server_vad)."`
	IdleTimeoutMS     *int     `yaml:"idle_timeout_ms" min:"5000" max:"30000" doc:"Time without speech after which the model speaks (server_vad)."`
	CreateResponse    *bool    `yaml:"create_response" doc:"Whether the end of a turn creates a response."`
	InterruptResponse *bool    `yaml:"interrupt_response" doc:"Whether speech interrupts a response."`
	Eagerness         string   `yaml:"eagerness" enum:"low,medium,high,auto" doc:"How soon a turn ends (semantic_vad)."`
}

// UnmarshalNode implements strict.Unmarshaler.
func (t *TurnDetection) UnmarshalNode(d *Decoder, n *yaml.Node) {
	if t.Off = strict.IsNull(n); !t.Off {
		d.Into(n, &t.Fields)
	}
}

// json returns the fields that are set as the object `session` of a session.update; nil where none is.
func (s Session) json() (json.RawMessage, error) {
	set := present(reflect.ValueOf(s))
	if len(set) == 0 {
		return nil, nil
	}
	return json.Marshal(set)
}

// present returns the fields of a struct that are not zero, by their keys.
func present(v reflect.Value) map[string]any {
	set := map[string]any{}
	for _, f := range strict.Fields(v.Type()) {
		field := v.FieldByIndex(f.Index)
		if field.IsZero() {
			continue
		}
		set[f.Key] = written(field)
	}
	return set
}

// written returns a value as encoding/json writes it under the protocol's names.
func written(v reflect.Value) any {
	if t, is := v.Interface().(TurnDetection); is {
		if t.Off {
			return nil
		}
		return written(reflect.ValueOf(t.Fields))
	}
	switch {
	case v.Kind() == reflect.Pointer:
		return written(v.Elem())
	case v.Kind() == reflect.Struct:
		return present(v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		var all []any
		for i := range v.Len() {
			all = append(all, present(v.Index(i)))
		}
		return all
	}
	return v.Interface()
}
