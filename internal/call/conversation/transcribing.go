package conversation

// Sessions of type "transcription": the server transcribes turns and does not answer them.

import "github.com/antiphon-rt/antiphon/wire"

// typeTranscription is the type of a session that only transcribes.
const typeTranscription = "transcription"

// Transcribing makes settings of type "transcription" from set, which are of type "realtime". It keeps audio.input and
// include. Such a session detects and transcribes turns and has no responses.
func Transcribing(set wire.Session) wire.Session {
	t := wire.DefaultSession()
	t.Type = typeTranscription
	t.ID, t.ExpiresAt, t.Model, t.Include = set.ID, set.ExpiresAt, set.Model, set.Include
	next := set.Clone()
	t.Audio.Input = next.Audio.Input
	if t.Audio.Input.Transcription == nil {
		t.Audio.Input.Transcription = &wire.Transcription{}
	}
	withoutResponses(&t)
	return t
}

// withoutResponses switches off the settings that create or interrupt a response.
func withoutResponses(set *wire.Session) {
	if td := set.Audio.Input.TurnDetection; td != nil {
		td.CreateResponse, td.InterruptResponse, td.IdleTimeoutMS = false, false, nil
	}
}

// realtimeOnly are the fields that a session of type transcription does not have.
var realtimeOnly = map[string]bool{
	"model": true, "output_modalities": true, "instructions": true, "max_output_tokens": true, "tools": true, "tool_choice": true,
	"parallel_tool_calls": true, "tracing": true, "prompt": true, "truncation": true,
}

// checkTranscription refuses what a session of type "transcription" does not have. next is the session with patch merged in.
func checkTranscription(next *wire.Session, patch wire.Raw) error {
	foreign := ""
	patch.Members(func(name string, value wire.Raw) bool {
		if realtimeOnly[name] && string(value) != "null" {
			foreign = name
		}
		return foreign == ""
	})
	audio, _ := patch.Field("audio")
	if output, ok := audio.Field("output"); ok && string(output) != "null" {
		foreign = "audio.output"
	}
	if foreign != "" {
		return refused(foreign, "a session of type \"transcription\" has audio.input and include only: leave it out, or open a session of type \"realtime\"")
	}
	if next.Audio.Input.Transcription == nil {
		return refused("audio.input.transcription", "a session of type \"transcription\" transcribes: want an object")
	}
	input, _ := audio.Field("input")
	detection, _ := input.Field("turn_detection")
	for _, name := range []string{"create_response", "interrupt_response", "idle_timeout_ms"} {
		if value, ok := detection.Field(name); ok && string(value) != "null" && string(value) != "false" {
			return refused("audio.input.turn_detection."+name, "a session of type \"transcription\" has no responses: leave it out")
		}
	}
	withoutResponses(next)
	return nil
}
