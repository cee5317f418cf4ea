package sdk

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// plainRecogniser is asked for where the server names none and is no Antiphon: without one there are no captions.
const plainRecogniser = "gpt-4o-mini-transcribe"

// opening is what a new session is told: the options that were given. Nil when there is nothing to tell.
func (s *Session) opening() wire.Raw {
	o := &s.opts
	p := Patch{TurnDetection: o.TurnDetection}
	if o.Instructions != "" {
		p.Instructions = &o.Instructions
	}
	if o.Voice != "" {
		p.Voice = &o.Voice
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

// update changes the session now, and the options for the calls to come.
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
	if p.TurnDetection != nil {
		td := *p.TurnDetection
		o.TurnDetection = &td
	}
	if p.TextReplies != nil {
		o.TextReplies = *p.TextReplies
	}
	if p.Tools != nil {
		o.Tools = *p.Tools
		s.tools.use(o.Tools)
	}
	if s.phase != phaseLive && s.phase != phaseLost {
		return
	}
	if patch := sessionJSON(p, ""); patch != nil {
		s.configure(patch)
	}
}

func (s *Session) configure(patch wire.Raw) {
	s.send("session.update", newJSON().key("session").raw(patch), intent{kind: intentConfigure})
}

// sessionJSON writes the fields of a session that p names. Nil when it names none.
func sessionJSON(p Patch, recogniser string) wire.Raw {
	j := newJSON().open()
	j.key("type").str("realtime")
	empty := len(j.b)
	if p.Instructions != nil {
		j.key("instructions").str(*p.Instructions)
	}
	if p.TextReplies != nil {
		kind := "audio"
		if *p.TextReplies {
			kind = "text"
		}
		j.key("output_modalities").list().str(kind).end()
	}
	if p.Tools != nil {
		writeTools(j.key("tools"), *p.Tools)
	}
	if p.Language != nil || p.TurnDetection != nil || p.Voice != nil {
		writeAudio(j.key("audio"), p, recogniser)
	}
	if len(j.b) == empty {
		return nil
	}
	return j.close().b
}

func writeTools(j *jsonText, tools []Tool) {
	j.list()
	for _, t := range tools {
		j.open().key("type").str("function").key("name").str(t.Name)
		if t.Description != "" {
			j.key("description").str(t.Description)
		}
		j.key("parameters")
		if t.Parameters == nil {
			j.open().key("type").str("object").key("properties").open().close().close()
		} else {
			j.raw(t.Parameters)
		}
		j.close()
	}
	j.end()
}

func writeAudio(j *jsonText, p Patch, recogniser string) {
	j.open()
	if p.Language != nil || p.TurnDetection != nil {
		j.key("input").open()
		if p.Language != nil {
			j.key("transcription").open()
			if recogniser != "" {
				j.key("model").str(recogniser)
			}
			if *p.Language != "" {
				j.key("language").str(*p.Language)
			}
			j.close()
		}
		if p.TurnDetection != nil {
			writeTurnDetection(j.key("turn_detection"), p.TurnDetection)
		}
		j.close()
	}
	if p.Voice != nil {
		j.key("output").open().key("voice").str(*p.Voice).close()
	}
	j.close()
}

func writeTurnDetection(j *jsonText, td *TurnDetection) {
	if td.Manual {
		j.raw([]byte("null"))
		return
	}
	kind := wire.ServerVAD
	if td.Semantic {
		kind = wire.SemanticVAD
	}
	j.open().key("type").str(kind)
	if td.Semantic && td.Eagerness != "" {
		j.key("eagerness").str(td.Eagerness)
	}
	if !td.Semantic {
		if td.Threshold > 0 {
			j.key("threshold").float(td.Threshold)
		}
		if td.PrefixPadding > 0 {
			j.key("prefix_padding_ms").int(td.PrefixPadding.Milliseconds())
		}
		if td.Silence >= time.Millisecond {
			j.key("silence_duration_ms").int(td.Silence.Milliseconds())
		}
	}
	j.key("create_response").bool(true).key("interrupt_response").bool(!td.NoInterrupt).close()
}
