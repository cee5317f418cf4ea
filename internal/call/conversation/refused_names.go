package conversation

// Refused names: fields of the protocol's beta that the protocol does not have any more, and fields of the protocol that this server does not have.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/wire"
)

// Codes of errors that refuse a field by its name.
const (
	codeUnknown     = "unknown_parameter"
	codeUnsupported = "unsupported_parameter"
)

// refusal says why a field is refused. To ignore such a field would apply only a part of what the client asked for, and not say so. Names
// that are in no protocol are ignored: a newer client may send fields that this server does not know yet.
type refusal struct {
	instead string // the field of the same object that has taken its place; "" for none
	// why is what the client is told of a field that this server does not have; "" for a field of the beta.
	why string
}

// noReasoning refuses the field reasoning of a session and of a response.
var noReasoning = refusal{why: "how much a model reasons is chosen at its own server: leave this field out"}

// refusedSettings are the refused fields of a session.
var refusedSettings = map[string]refusal{
	"modalities":                  {instead: "output_modalities"},
	"voice":                       {instead: "audio.output.voice"},
	"speed":                       {instead: "audio.output.speed"},
	"input_audio_format":          {instead: "audio.input.format"},
	"output_audio_format":         {instead: "audio.output.format"},
	"input_audio_transcription":   {instead: "audio.input.transcription"},
	"input_audio_noise_reduction": {instead: "audio.input.noise_reduction"},
	"turn_detection":              {instead: "audio.input.turn_detection"},
	"max_response_output_tokens":  {instead: "max_output_tokens"},
	"temperature":                 {},
	"reasoning":                   noReasoning,
}

// refusedTranscription are the refused fields of a session's audio.input.transcription.
var refusedTranscription = map[string]refusal{
	"delay":     {why: "no recogniser here has a delay to choose: leave this field out"},
	"keywords":  {instead: "prompt", why: "no recogniser here takes a list of words"},
	"languages": {instead: "language", why: "a recogniser here takes one language, or finds the language itself"},
}

// refusedAsked are the refused fields of a response.create.
var refusedAsked = map[string]refusal{
	"modalities":                 {instead: "output_modalities"},
	"voice":                      {instead: "audio.output.voice"},
	"output_audio_format":        {instead: "audio.output.format"},
	"max_response_output_tokens": {instead: "max_output_tokens"},
	"temperature":                {},
	"reasoning":                  noReasoning,
}

// CheckNames refuses a response.create, the JSON text of the whole event, that has a refused field.
func CheckNames(event wire.Raw) *wire.DecodeError {
	asked, _ := event.Field("response")
	return refusedIn(asked, "response", refusedAsked)
}

// checkSettingNames refuses a session object that has a refused field.
func checkSettingNames(patch wire.Raw) *wire.DecodeError {
	if bad := refusedIn(patch, "session", refusedSettings); bad != nil {
		return bad
	}
	object := patch
	for _, name := range []string{"audio", "input", "transcription"} {
		object, _ = object.Field(name)
	}
	return refusedIn(object, "session.audio.input.transcription", refusedTranscription)
}

// nothing are the values that ask for nothing. turn_detection is an exception: null was how the beta switched turn detection off.
var nothing = []string{"null", "[]", "{}"}

// refusedIn returns the error for the first of names in object, nil when there is none. at is the name of object in the event.
func refusedIn(object wire.Raw, at string, names map[string]refusal) (refused *wire.DecodeError) {
	object.Members(func(name string, value wire.Raw) bool {
		r, is := names[name]
		if is && (name == "turn_detection" || !slices.Contains(nothing, string(value))) {
			refused = r.of(at, name)
		}
		return refused == nil
	})
	return refused
}

// of returns the error for the field name of the object at.
func (r refusal) of(at, name string) *wire.DecodeError {
	e := &wire.DecodeError{Code: codeUnsupported, Param: at + "." + name, Message: r.why}
	want := "want " + at + "." + r.instead
	switch {
	case r.why == "" && r.instead == "":
		e.Code, e.Message = codeUnknown, "this field was the protocol's beta's and is not in it any more: leave it out"
	case r.why == "":
		e.Code, e.Message = codeUnknown, "this is the field's name in the protocol's beta: "+want
	case r.instead != "":
		e.Message += ": " + want
	}
	return e
}
