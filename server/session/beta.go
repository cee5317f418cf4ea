package session

import "github.com/antiphon-rt/antiphon/wire"

// codeUnknown is the code of an error that refuses a field by its name.
const codeUnknown = "unknown_parameter"

// betaNames are the fields of the protocol's beta, with what stands in their place. A client that sends them would be heard
// in part only, and wonder.
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

// betaAsked are the beta's fields of what a response.create asks for, with what stands in their place.
var betaAsked = map[string]string{
	"modalities":                 "output_modalities",
	"voice":                      "audio.output.voice",
	"output_audio_format":        "audio.output.format",
	"max_response_output_tokens": "max_output_tokens",
	"temperature":                "",
}

// beta refuses the names of the protocol's beta in a session object. Names that nobody knows are passed over: a newer client
// may send what is not there yet.
func beta(patch wire.Raw) error {
	if bad := betaIn(patch, "session", betaNames); bad != nil {
		return bad
	}
	return nil
}

// betaRequest is what of the beta an event with a response.create in it asks for, or nil.
func betaRequest(event wire.Raw) *wire.DecodeError {
	asked, _ := event.Field("response")
	return betaIn(asked, "response", betaAsked)
}

// betaIn is the first of names in object, the event's field at, or nil. A null asks for nothing, but for turn_detection: it was
// how the beta left the turns to the client.
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
