package conversation

// Refused names: fields of the protocol's beta that the protocol does not have any more.

import "github.com/antiphon-rt/antiphon/wire"

// codeUnknown is the code of an error that refuses a field by its name.
const codeUnknown = "unknown_parameter"

// betaNames maps each session field of the protocol's beta to its replacement, "" for none. To ignore such a field would
// apply only a part of what the client asked for, and not say so. Names that are in neither protocol are ignored: a newer
// client may send fields that this server does not know yet.
var betaNames = map[string]string{
	"modalities":                  "output_modalities",
	"voice":                       "audio.output.voice",
	"speed":                       "audio.output.speed",
	"input_audio_format":          "audio.input.format",
	"output_audio_format":         "audio.output.format",
	"input_audio_transcription":   "audio.input.transcription",
	"input_audio_noise_reduction": "audio.input.noise_reduction",
	"turn_detection":              "audio.input.turn_detection",
	"max_response_output_tokens":  "max_output_tokens",
	"temperature":                 "",
}

// betaAsked is betaNames for the fields of a response.create.
var betaAsked = map[string]string{
	"modalities":                 "output_modalities",
	"voice":                      "audio.output.voice",
	"output_audio_format":        "audio.output.format",
	"max_response_output_tokens": "max_output_tokens",
	"temperature":                "",
}

// CheckBeta refuses a response.create, the JSON text of the whole event, that has a field of the protocol's beta.
func CheckBeta(event wire.Raw) *wire.DecodeError {
	asked, _ := event.Field("response")
	return betaIn(asked, "response", betaAsked)
}

// betaIn returns the error for the first of names in object, nil when there is none. at is the name of object in the event. A
// field that is null is ignored, except turn_detection: null was how the beta switched turn detection off.
func betaIn(object wire.Raw, at string, names map[string]string) (refusal *wire.DecodeError) {
	object.Members(func(name string, value wire.Raw) bool {
		place, is := names[name]
		if !is || string(value) == "null" && name != "turn_detection" {
			return true
		}
		message := "this field was the protocol's beta's and is not in it any more: leave it out"
		if place != "" {
			message = "this is the field's name in the protocol's beta: want " + at + "." + place
		}
		refusal = &wire.DecodeError{Code: codeUnknown, Param: at + "." + name, Message: message}
		return false
	})
	return refusal
}
