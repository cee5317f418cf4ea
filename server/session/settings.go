package session

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// coordConfig is what of the settings decides transitions.
func coordConfig(set *wire.Session) coord.Config {
	td := set.Audio.Input.TurnDetection
	if td == nil {
		return coord.Config{}
	}
	return coord.Config{Interrupt: td.InterruptResponse, CreateResponse: td.CreateResponse}
}

// Settings merges patch, a session object, into set. What the protocol allows and this server does not do is refused
// or comes back as null, never ignored: the error says what to ask instead. On an error set is as it was.
func Settings(set *wire.Session, patch wire.Raw) error {
	next := *set
	if err := next.Merge(patch); err != nil {
		return err
	}
	refuse := func(param, message string) error {
		return &wire.DecodeError{Code: wire.CodeInvalidValue, Param: "session." + param, Message: message}
	}
	switch {
	case next.Type != set.Type:
		return refuse("type", "a session's type cannot be changed; this server has sessions of type \"realtime\"")
	case next.Audio.Input.Format.Type != wire.FormatPCM:
		return refuse("audio.input.format.type", "this server takes \"audio/pcm\" at 24000 Hz")
	case next.Audio.Output.Format.Type != wire.FormatPCM:
		return refuse("audio.output.format.type", "this server gives \"audio/pcm\" at 24000 Hz")
	}
	for _, t := range next.Tools {
		if t.Type != "function" {
			return refuse("tools", "this server takes tools of type \"function\"")
		}
	}
	next.Audio.Input.NoiseReduction = nil
	next.ID, next.Object, next.ExpiresAt = set.ID, set.Object, set.ExpiresAt
	*set = next
	return nil
}

// toolChoice is the protocol's tool_choice as a model reads it.
func toolChoice(raw wire.Raw) string {
	if mode, ok := raw.Text(); ok {
		return mode
	}
	if field, ok := raw.Field("name"); ok {
		if name, ok := field.Text(); ok {
			return name
		}
	}
	return "auto"
}
