package stt

// The answers of the servers: a transcript in JSON, or a stream of its pieces.

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
)

// maxText is the longest transcript, in bytes: six minutes of fast speech have some 6 kB.
const maxText = 64 << 10

// maxEvent is the longest event of a stream, in bytes.
const maxEvent = 256 << 10

// transcript is an answer in JSON. Segments and words are only in the verbose format.
type transcript struct {
	Text     *string         `json:"text"`
	Segments []segment       `json:"segments"`
	Words    []word          `json:"words"`
	Error    json.RawMessage `json:"error"`
}

// segment is a part of a transcript. NoSpeech is nil where the server does not know it.
type segment struct {
	Text     string   `json:"text"`
	Start    float64  `json:"start"` // seconds
	End      float64  `json:"end"`
	NoSpeech *float64 `json:"no_speech_prob"`
	Words    []word   `json:"words"` // whisper.cpp has them here
}

// word is a word of a transcript, and a piece of a word in whisper.cpp's.
type word struct {
	Word        string  `json:"word"`
	Start       float64 `json:"start"` // seconds
	End         float64 `json:"end"`
	Probability float64 `json:"probability"`
}

// read returns the transcript in an answer.
func (e *engine) read(answer *http.Response, text []byte) (backend.Result, error) {
	var t transcript
	err := json.Unmarshal(text, &t)
	switch {
	case err != nil:
		return backend.Result{}, e.wrong(answer, text, "answered with JSON that cannot be read")
	case len(t.Error) > 0 && string(t.Error) != "null":
		return backend.Result{}, e.wrong(answer, text, "answered with an error")
	case t.Text == nil:
		return backend.Result{}, e.wrong(answer, text, "answered without a text")
	case len(*t.Text) > maxText:
		return backend.Result{}, e.tooLong(answer)
	}
	return t.result(e.o.NoSpeech), nil
}

// result returns what was said: without the segments that the server takes for silence, and without markers in brackets.
func (t *transcript) result(noSpeech float64) backend.Result {
	text, words, dropped := *t.Text, t.Words, false
	var kept []string
	var pieces []word
	for _, s := range t.Segments {
		if s.NoSpeech != nil && *s.NoSpeech > noSpeech {
			dropped = true
			words = without(words, s)
			continue
		}
		kept = append(kept, s.Text)
		pieces = append(pieces, s.Words...)
	}
	if dropped {
		text = strings.Join(kept, " ")
	}
	if len(words) == 0 {
		words = joined(pieces)
	}
	r := backend.Result{Text: Spoken(text)}
	if r.Text == "" {
		return r
	}
	for _, w := range words {
		if said := Spoken(w.Word); said != "" {
			r.Words = append(r.Words, backend.Word{Text: said, StartMS: ms(w.Start), EndMS: ms(w.End), Prob: min(max(w.Probability, 0), 1)})
		}
	}
	return r
}

// ms returns a time in seconds as milliseconds. A time that no recording has becomes 0.
func ms(seconds float64) int {
	if !(seconds > 0 && seconds < growing.MaxAudio.Seconds()) {
		return 0
	}
	return int(seconds*1000 + 0.5)
}

// without returns the words that do not begin in the segment.
func without(words []word, s segment) []word {
	var kept []word
	for _, w := range words {
		if w.Start < s.Start || w.Start >= s.End {
			kept = append(kept, w)
		}
	}
	return kept
}

// joined makes words of pieces of words: a piece without a space before it continues the word. The probability of a word is that of its
// least probable piece.
func joined(pieces []word) []word {
	var words []word
	for _, p := range pieces {
		if n := len(words); n > 0 && p.Word != "" && !strings.HasPrefix(p.Word, " ") {
			last := &words[n-1]
			last.Word, last.End, last.Probability = last.Word+p.Word, p.End, min(last.Probability, p.Probability)
			continue
		}
		words = append(words, p)
	}
	return words
}

// marker matches what Whisper writes for something that is no speech, such as [BLANK_AUDIO].
var marker = regexp.MustCompile(`\[[^\]]*\]`)

// Spoken returns a text without markers such as [BLANK_AUDIO], and without a text that is nothing but such a remark: (wind blowing),
// *coughs* or notes of music. White space becomes single spaces.
func Spoken(text string) string {
	text = strings.Join(strings.Fields(marker.ReplaceAllString(text, " ")), " ")
	if strings.Trim(text, "♪♫ ") == "" || remark(text, "(", ")") || remark(text, "*", "*") {
		return ""
	}
	return text
}

// remark reports whether a text is one remark between two marks.
func remark(text, open, end string) bool {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, open), end)
	return len(text) == len(inner)+len(open)+len(end) && !strings.Contains(inner, end)
}

// piece is an event of a stream: OpenAI's, or a chunk like those of a chat, as vLLM sends it.
type piece struct {
	Type    string          `json:"type"`
	Delta   string          `json:"delta"`
	Text    string          `json:"text"`
	Error   json.RawMessage `json:"error"`
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
}

// tooLong returns the error for a transcript that is longer than speech.
func (e *engine) tooLong(answer *http.Response) error {
	return e.client.Error(answer, fmt.Errorf("sent more than %d bytes of text for one utterance", maxText), "")
}

// readStream returns the transcript of a stream, and shows what it has of it with each piece.
func (e *engine) readStream(answer *http.Response, show func(backend.Update)) (backend.Result, error) {
	var text strings.Builder
	whole, shown := false, ""
	for event, err := range e.client.Events(answer, maxEvent) {
		switch {
		case err != nil:
			return backend.Result{}, err
		case event.Data == "[DONE]":
			return backend.Result{Text: Spoken(text.String())}, nil
		}
		var p piece
		if json.Unmarshal([]byte(event.Data), &p) != nil {
			return backend.Result{}, e.wrong(answer, []byte(event.Data), "sent an event that cannot be read")
		}
		text.WriteString(p.delta())
		switch {
		case len(p.Error) > 0 && string(p.Error) != "null":
			return backend.Result{}, e.wrong(answer, []byte(event.Data), "ended its stream with an error")
		case text.Len() > maxText || len(p.Text) > maxText:
			return backend.Result{}, e.tooLong(answer)
		case p.Type == "transcript.text.done" && p.Text != "":
			return backend.Result{Text: Spoken(p.Text)}, nil
		case p.Type == "transcript.text.done": // speaches sends no text here: the pieces are all there is
			return backend.Result{Text: Spoken(text.String())}, nil
		}
		whole = whole || len(p.Choices) > 0 && p.Choices[0].Finish != nil
		if so := Spoken(text.String()); so != shown {
			shown = so
			show(backend.Update{Partial: so})
		}
	}
	if !whole {
		return backend.Result{}, e.client.Error(answer, errors.New("ended its stream before the end of the text"), "")
	}
	return backend.Result{Text: Spoken(text.String())}, nil
}

func (p *piece) delta() string {
	switch {
	case p.Type == "transcript.text.delta":
		return p.Delta
	case p.Type == "" && len(p.Choices) > 0:
		return p.Choices[0].Delta.Content
	}
	return ""
}
