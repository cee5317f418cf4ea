package sdk

// The settings that the client gives to the server's session.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/wire"
)

// plainRecogniser is the recogniser that the client asks for when the server names none and is no Antiphon. Without a recogniser
// there are no captions.
const plainRecogniser = "gpt-4o-mini-transcribe"

// opening returns the settings for a new session: the options that were given. Nil when there are none.
func (s *Session) opening() wire.Raw {
	o := &s.opts
	p := Patch{TurnDetection: o.TurnDetection}
	if o.Instructions != "" {
		p.Instructions = &o.Instructions
	}
	if o.Voice != "" {
		p.Voice = &o.Voice
	}
	if s.noise != "" {
		p.NoiseReduction = &s.noise
	}
	if o.TextReplies {
		p.TextReplies = &o.TextReplies
	}
	if len(o.Tools) > 0 {
		p.Tools = &o.Tools
	}
	recogniser := ""
	if !s.call.peer.Antiphon() {
		recogniser = plainRecogniser
	}
	if !s.server.session.transcribes || o.Language != "" {
		p.Language = &o.Language
	}
	return sessionJSON(p, recogniser)
}

// update changes the present session and the options for later calls.
func (s *Session) update(p Patch) {
	o := &s.opts
	take := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	take(&o.Instructions, p.Instructions)
	take(&o.Voice, p.Voice)
	take(&o.Language, p.Language)
	take(&s.noise, p.NoiseReduction)
	if p.DuckBy != nil {
		o.DuckBy = *p.DuckBy
	}
	if o.Voice == "" {
		p.Voice = nil // the session keeps its voice: it does not know the server's own
	}
	if p.TurnDetection != nil {
		td := *p.TurnDetection
		o.TurnDetection = &td
	}
	if p.TextReplies != nil {
		o.TextReplies = *p.TextReplies
	}
	if p.Tools != nil {
		o.Tools = *p.Tools
		s.tools.Use(byName(o.Tools))
	}
	if s.phase != phaseLive && s.phase != phaseLost {
		return
	}
	if patch := sessionJSON(p, ""); patch != nil {
		s.configure(patch)
	}
}

// configure sends settings to the server.
func (s *Session) configure(patch wire.Raw) {
	s.send("session.update", newJSON().Key("session").Raw(patch), outgoing.Intent{Kind: outgoing.Configure})
}

// sessionJSON writes the settings that p names. Nil when it names none.
func sessionJSON(p Patch, recogniser string) wire.Raw {
	w := newJSON().Object()
	w.Key("type").Text("realtime")
	empty := len(w.Bytes())
	if p.Instructions != nil {
		w.Key("instructions").Text(*p.Instructions)
	}
	if p.TextReplies != nil {
		kind := "audio"
		if *p.TextReplies {
			kind = "text"
		}
		w.Key("output_modalities").List().Text(kind).EndList()
	}
	if p.Tools != nil {
		writeTools(w.Key("tools"), *p.Tools)
	}
	if p.Language != nil || p.NoiseReduction != nil || p.TurnDetection != nil || p.Voice != nil {
		writeAudio(w.Key("audio"), p, recogniser)
	}
	if len(w.Bytes()) == empty {
		return nil
	}
	return w.EndObject().Bytes()
}

func writeTools(w *wire.Writer, tools []Tool) {
	w.List()
	for _, t := range tools {
		w.Object().Key("type").Text("function").Key("name").Text(t.Name)
		if t.Description != "" {
			w.Key("description").Text(t.Description)
		}
		w.Key("parameters")
		if t.Parameters == nil {
			w.Object().Key("type").Text("object").Key("properties").Object().EndObject().EndObject()
		} else {
			w.Raw(t.Parameters)
		}
		w.EndObject()
	}
	w.EndList()
}

func writeAudio(w *wire.Writer, p Patch, recogniser string) {
	w.Object()
	if p.Language != nil || p.NoiseReduction != nil || p.TurnDetection != nil {
		w.Key("input").Object()
		switch kind := p.NoiseReduction; {
		case kind == nil:
		case *kind == "":
			w.Key("noise_reduction").Null()
		default:
			w.Key("noise_reduction").Object().Key("type").Text(*kind).EndObject()
		}
		if p.Language != nil {
			w.Key("transcription").Object()
			if recogniser != "" {
				w.Key("model").Text(recogniser)
			}
			if *p.Language != "" {
				w.Key("language").Text(*p.Language)
			}
			w.EndObject()
		}
		if p.TurnDetection != nil {
			writeTurnDetection(w.Key("turn_detection"), p.TurnDetection)
		}
		w.EndObject()
	}
	if p.Voice != nil {
		w.Key("output").Object().Key("voice").Text(*p.Voice).EndObject()
	}
	w.EndObject()
}

func writeTurnDetection(w *wire.Writer, td *TurnDetection) {
	if td.Manual {
		w.Null()
		return
	}
	kind := wire.ServerVAD
	if td.Semantic {
		kind = wire.SemanticVAD
	}
	w.Object().Key("type").Text(kind)
	if td.Semantic && td.Eagerness != "" {
		w.Key("eagerness").Text(td.Eagerness)
	}
	if !td.Semantic {
		if td.Threshold > 0 {
			w.Key("threshold").Float(td.Threshold)
		}
		if td.PrefixPadding > 0 {
			w.Key("prefix_padding_ms").Int(td.PrefixPadding.Milliseconds())
		}
		if td.Silence >= time.Millisecond {
			w.Key("silence_duration_ms").Int(td.Silence.Milliseconds())
		}
	}
	w.Key("create_response").Bool(true).Key("interrupt_response").Bool(!td.NoInterrupt).EndObject()
}
