package tts

// The synthesis voices: which ones the server has, and which one a session gets.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of the list of voices.
const (
	maxList     = 4 << 20 // bytes
	shownVoices = 30      // names in an error
)

// knownVoices returns the names of synthesis voices in the protocol, and those that only /audio/speech of OpenAI has.
func knownVoices() []string { return append(pipeline.ProtocolVoices(), "fable", "nova", "onyx") }

// listed returns the voices that the server lists; nil: it lists none.
func (s *Synthesizer) listed() []string {
	if list := s.voices.Load(); list != nil {
		return *list
	}
	return nil
}

// Component returns the state for users.
func (s *Synthesizer) Component() pipeline.Component {
	name, detail := "speech", strings.Join(s.client.Servers(), ", ")
	if s.form == (piper{}) {
		name = "piper"
	}
	if n := len(s.listed()); n > 0 {
		detail += fmt.Sprintf(", %d voices", n)
	}
	return s.warmed.Component(pipeline.StageSynthesizer, cmp.Or(s.config.Model, name), detail)
}

// Warm connects to the server and asks for its voices. A server that lists none is no error. Warm may be called again.
func (s *Synthesizer) Warm(ctx context.Context) error {
	voices, err := s.ask(ctx)
	if err == nil {
		s.voices.Store(&voices)
	}
	return s.warmed.Note(ctx, err)
}

func (s *Synthesizer) ask(ctx context.Context) ([]string, error) {
	got, err := s.client.Get(ctx, s.form.list(), mimeJSON)
	var status *remote.StatusError
	if errors.As(err, &status) && status.Code/100 == 4 && status.Code != http.StatusUnauthorized && status.Code != http.StatusForbidden && status.Code != http.StatusTooManyRequests {
		return nil, nil // a server without a list
	}
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, maxList))
	if err != nil {
		return nil, err
	}
	return voiceNames(text), nil
}

// voiceNames returns the names in a list of voices, in its order; nil if it is no such list. Servers send a list of names or of objects, alone
// or in a field, or an object with a field for each voice.
func voiceNames(text []byte) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) == nil {
		for _, name := range []string{"voices", "data"} {
			if list, ok := fields[name]; ok {
				return voiceNames(list)
			}
		}
		delete(fields, "")
		return slices.Sorted(maps.Keys(fields))
	}
	var items []json.RawMessage
	_ = json.Unmarshal(text, &items) // no list has no items
	var names []string
	for _, item := range items {
		var name string
		var object struct {
			VoiceID string `json:"voice_id"`
			ID      string
			Name    string
		}
		if json.Unmarshal(item, &name) != nil {
			if json.Unmarshal(item, &object) != nil {
				continue
			}
			for _, candidate := range []string{object.Name, object.ID, object.VoiceID} {
				if candidate != "" {
					name = candidate
				}
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// CheckVoice implements pipeline.VoiceChecker.
func (s *Synthesizer) CheckVoice(name string) error {
	_, err := s.pick(name)
	return err
}

// pick returns the voice of the server for the voice that a session asks for; empty for the server's own choice.
func (s *Synthesizer) pick(name string) (string, error) {
	listed := s.listed()
	if mapped, ok := s.config.Voices[name]; ok {
		return mapped, nil
	}
	switch {
	case name == "":
		return s.fallback("", listed), nil
	case slices.Contains(listed, name), name == s.config.Voice:
		return name, nil
	case slices.Contains(knownVoices(), name):
		return s.fallback(name, listed), nil
	case len(listed) == 0:
		return name, nil // the server decides
	}
	all := append(slices.Sorted(maps.Keys(s.config.Voices)), listed...)
	hint := "there are " + strings.Join(all[:min(len(all), shownVoices)], ", ")
	if len(all) > shownVoices {
		hint += fmt.Sprintf(" and %d more", len(all)-shownVoices)
	}
	return "", s.fail(fmt.Errorf("%w %q", pipeline.ErrUnknownVoice, name), hint)
}

// fallback returns the voice for a name of the protocol that the server does not list.
func (s *Synthesizer) fallback(name string, listed []string) string {
	switch {
	case s.config.Voice != "":
		return s.config.Voice
	case s.form == (piper{}):
		return "" // the voice with which it was started
	case len(listed) > 0:
		return listed[0]
	}
	return name
}
