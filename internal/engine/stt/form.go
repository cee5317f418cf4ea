package stt

// The forms of the Realtime transcription WebSocket, as data.

import (
	"encoding/json"
	"net/url"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// SocketForm is the form of a server's Realtime transcription.
type SocketForm struct {
	name   string
	intent bool // the query has intent=transcription
	model  bool // the query has the model and the language
	rate   int  // of the audio, in hertz
	// update returns the event session.update.
	update  func(model, language, prompt string) any
	opening any // the event before the audio; nil for none
	closing any // the event after the audio
	// pass reports whether an error of the server does not end the utterance.
	pass func(message string) bool
}

// object is an object of JSON.
type object = map[string]any

var commit = object{"type": "input_audio_buffer.commit"}

// The forms.
var (
	// SocketOpenAI is `/v1/realtime?intent=transcription` of OpenAI, LocalAI and Antiphon.
	SocketOpenAI = SocketForm{name: "openai", intent: true, rate: pipeline.OutputRate, closing: commit, update: openAISession}
	// SocketSpeaches is the same of speaches, which wants the model in the query.
	SocketSpeaches = SocketForm{
		name: "speaches", intent: true, model: true, rate: pipeline.OutputRate, closing: commit, update: speachesSession,
		// speaches reports the fields that it passes over as errors.
		pass: func(message string) bool { return contains(message, "is not supported") },
	}
	// SocketVLLM is `/v1/realtime` of vLLM: it begins with a commit, and the last commit is final.
	SocketVLLM = SocketForm{
		name: "vllm", rate: pipeline.InputRate, opening: commit, closing: object{"type": "input_audio_buffer.commit", "final": true},
		update: func(model, _, _ string) any { return object{"type": "session.update", "model": model} },
	}
)

// SocketForms returns the forms by their names.
func SocketForms() map[string]SocketForm {
	all := map[string]SocketForm{}
	for _, f := range []SocketForm{SocketOpenAI, SocketSpeaches, SocketVLLM} {
		all[f.name] = f
	}
	return all
}

// openAISession describes a session that transcribes, and leaves the turns to us.
func openAISession(model, language, prompt string) any {
	transcription := object{}
	for name, value := range map[string]string{"model": model, "language": language, "prompt": prompt} {
		if value != "" {
			transcription[name] = value
		}
	}
	return object{"type": "session.update", "session": object{"type": "transcription", "audio": object{"input": object{
		"format": object{"type": "audio/pcm", "rate": pipeline.OutputRate}, "transcription": transcription, "turn_detection": nil,
	}}}}
}

// speachesSession makes the server's detector deaf: it cannot be switched off, and a turn of its own would cut the utterance.
func speachesSession(string, string, string) any {
	return object{"type": "session.update", "session": object{"turn_detection": object{
		"type": "server_vad", "threshold": 1, "prefix_padding_ms": 0, "silence_duration_ms": 2500, "create_response": false,
	}}}
}

// path returns the path and the query of the WebSocket, behind the address of the server.
func (f *SocketForm) path(model, language string) string {
	q := url.Values{}
	if f.intent {
		q.Set("intent", "transcription")
	}
	if f.model {
		q.Set("model", model)
		if language != "" {
			q.Set("language", language)
		}
	}
	return (&url.URL{Path: "realtime", RawQuery: q.Encode()}).String()
}

// said is an event of a server, of any form.
type said struct {
	Type       string          `json:"type"`
	Item       string          `json:"item_id"`
	Delta      string          `json:"delta"`
	Transcript string          `json:"transcript"` // of OpenAI's form
	Text       string          `json:"text"`       // of vLLM's
	Error      json.RawMessage `json:"error"`      // an object, or a text (vLLM)
}

// complaint returns the message and the code of an error.
func (s *said) complaint() (message, code string) {
	var text string
	if json.Unmarshal(s.Error, &text) == nil {
		return text, ""
	}
	var o struct{ Message, Code, Type string }
	if json.Unmarshal(s.Error, &o) != nil || o.Message == "" {
		return string(s.Error), o.Code
	}
	return o.Message, o.Code
}
