package session

import (
	"math"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// What a recogniser knows beyond the text.

// segments tells who said what of a turn, where the recogniser tells speakers apart.
func (s *Session) segments(itemID string, part int, words []pipeline.Word) {
	for rest := words; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Speaker == rest[0].Speaker {
			n++
		}
		said := rest[:n]
		rest = rest[n:]
		if said[0].Speaker == "" {
			continue
		}
		var text []string
		for _, w := range said {
			text = append(text, w.Text)
		}
		s.send(&wire.ConversationItemInputAudioTranscriptionSegment{
			ItemID: itemID, ContentIndex: part, SegmentID: newID("seg_"), Speaker: said[0].Speaker, Text: strings.Join(text, " "),
			Start: said[0].Start.Seconds(), End: said[n-1].End.Seconds(),
		})
	}
}

// logprobs are the probabilities of a transcript's words as the protocol has them; nil where nobody asked, or nothing is known.
func (s *Session) logprobs(words []pipeline.Word) wire.Raw {
	if !s.settings.Logprobs() || len(words) == 0 {
		return nil
	}
	out := wire.Raw{'['}
	for i, w := range words {
		if !(w.Prob > 0) {
			return nil
		}
		token := w.Text
		if i > 0 {
			out = append(out, ',')
			token = " " + token
		}
		out = append(out, `{"token":`...)
		out = wire.AppendString(out, token)
		out = append(out, `,"logprob":`...)
		out = strconv.AppendFloat(out, math.Log(min(w.Prob, 1)), 'f', 6, 64)
		out = append(out, `,"bytes":[`...)
		for j := range len(token) {
			if j > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, int64(token[j]), 10)
		}
		out = append(out, "]}"...)
	}
	return append(out, ']')
}
