package listening

// Transcripts: the events with which a client gets the text of an item's audio.

import (
	"math"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Transcript is the text of one part of an item.
type Transcript struct {
	Part  int // which part of the item
	Text  string
	Words []pipeline.Word // the words of Text; nil where the recogniser does not know them
	// Captions is what the client got of Text while the user spoke.
	Captions string
	Start    voice.Samples // where the audio begins in that of the session; 0 for a recording
	Samples  int           // the length of the audio, at room.InputRate
	Failure  string        // why there is no text, "" if there is
}

// Wants is what the client wants to know of transcripts.
type Wants struct {
	Transcripts bool // audio.input.transcription is set
	Logprobs    bool // include asks for the probabilities of words
	Times       bool // the client knows our extensions and wants the times of words
}

// Events returns the events that tell a client the transcript of the item named itemID: none if it wants no transcripts. A failure
// that such a client would miss is returned as a Failure.
func (t *Transcript) Events(e env.Env, itemID string, w Wants) ([]wire.ServerEvent, *room.Failure) {
	switch {
	case t.Failure != "" && !w.Transcripts:
		return nil, &room.Failure{Type: room.TypeServer, Code: "transcription_failed", Message: t.Failure}
	case t.Failure != "":
		return []wire.ServerEvent{&wire.ConversationItemInputAudioTranscriptionFailed{
			ItemID: itemID, ContentIndex: t.Part,
			Error: wire.TranscriptionError{Type: "transcription_error", Code: "transcription_failed", Message: t.Failure},
		}}, nil
	case !w.Transcripts:
		return nil, nil
	}
	completed := &wire.ConversationItemInputAudioTranscriptionCompleted{
		ItemID: itemID, ContentIndex: t.Part, Transcript: t.Text,
		Usage: wire.TranscriptionUsage{Type: "duration", Seconds: float64(t.Samples) / room.InputRate},
	}
	if w.Logprobs {
		completed.Logprobs = logprobs(t.Words)
	}
	var out []wire.ServerEvent
	// Some clients keep the deltas alone. The protocol's deltas only add, so a text that revises what was sent gets none.
	if rest, extends := strings.CutPrefix(t.Text, t.Captions); extends && rest != "" {
		out = append(out, &wire.ConversationItemInputAudioTranscriptionDelta{ItemID: itemID, ContentIndex: t.Part, Delta: rest})
	}
	if w.Times && len(t.Words) > 0 {
		out = append(out, &wire.AntiphonInputWords{ItemID: itemID, ContentIndex: t.Part, Words: t.times()})
	}
	return append(append(out, t.segments(e, itemID)...), completed), nil
}

// segments returns one event for each stretch of words of one speaker, where the recogniser tells speakers apart.
func (t *Transcript) segments(e env.Env, itemID string) (out []wire.ServerEvent) {
	for rest := t.Words; len(rest) > 0; {
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
		out = append(out, &wire.ConversationItemInputAudioTranscriptionSegment{
			ItemID: itemID, ContentIndex: t.Part, SegmentID: e.NewID("seg_"), Speaker: said[0].Speaker, Text: strings.Join(text, " "),
			Start: said[0].Start.Seconds(), End: said[n-1].End.Seconds(),
		})
	}
	return out
}

// maxTimes is how many words have times at most: those of a quarter of an hour of speech.
const maxTimes = 4096

// times returns the times of the words, on the clock of the session's audio.
func (t *Transcript) times() wire.Raw {
	begin, end := t.Start.Milliseconds(room.InputRate), (t.Start + voice.Samples(t.Samples)).Milliseconds(room.InputRate)
	var out wire.Writer
	out.List()
	for _, w := range t.Words[:min(len(t.Words), maxTimes)] {
		start := min(begin+max(w.Start, 0).Milliseconds(), end)
		out.Object().Key("word").Text(w.Text).Key("start_ms").Int(start).Key("end_ms").Int(min(max(begin+w.End.Milliseconds(), start), end)).EndObject()
	}
	return out.EndList().Bytes()
}

// logprobs returns the probabilities of the words as a JSON array of the protocol; nil if the recogniser does not know all of
// them.
func logprobs(words []pipeline.Word) wire.Raw {
	if len(words) == 0 {
		return nil
	}
	var out wire.Writer
	out.List()
	for i, w := range words {
		if !(w.Prob > 0) {
			return nil
		}
		token := w.Text
		if i > 0 {
			token = " " + token
		}
		logprob := strconv.AppendFloat(nil, math.Log(min(w.Prob, 1)), 'f', 6, 64)
		out.Object().Key("token").Text(token).Key("logprob").Raw(logprob).Key("bytes").List()
		for _, b := range []byte(token) {
			out.Int(int64(b))
		}
		out.EndList().EndObject()
	}
	return out.EndList().Bytes()
}
