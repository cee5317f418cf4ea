package parakeet

// This file decodes one utterance: while the user speaks, or at its end.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of one utterance.
const (
	maxText  = 64 << 10                    // bytes of text
	maxWords = 4096                        // words with times; the final text and its words fit into one frame of the protocol
	maxAudio = 6 * 60 * pipeline.InputRate // samples that a model gets that does not stream: 6 minutes
)

// document is what the library returns for a piece of audio, as JSON.
type document struct {
	Text   string `json:"text"` // what is new
	EOU    int    `json:"eou"`  // 1: an end of utterance is in it
	EOB    int    `json:"eob"`  // 1: an end of backchannel is in it
	Events []struct {
		Type string `json:"type"` // "eou" or "eob"
	} `json:"events"`
	Words []struct {
		Text       string  `json:"w"`
		Start      float64 `json:"start"` // seconds since the begin of the stream
		End        float64 `json:"end"`
		Confidence float64 `json:"conf"` // 0..1
	} `json:"words"` // those that are complete now
}

// boundary returns what has ended. If both an utterance and a backchannel have ended, the last event decides.
func (d *document) boundary() backend.Boundary {
	last := ""
	if len(d.Events) > 0 {
		last = d.Events[len(d.Events)-1].Type
	}
	switch {
	case d.EOU == 0 && d.EOB == 0:
		return backend.NoBoundary
	case d.EOU == 0, d.EOB != 0 && last == "eob":
		return backend.EndOfBackchannel
	}
	return backend.EndOfUtterance
}

// stream is an utterance that is decoded while the user speaks. It implements backend.Stream.
type stream struct {
	engine   *Engine
	handle   uintptr
	text     strings.Builder
	words    []backend.Word
	boundary backend.Boundary // what has ended, if no text came after it
}

func (s *stream) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	if len(pcm) == 0 {
		return backend.Update{Partial: s.text.String()}, nil
	}
	said, err := s.take(s.engine.lib.feed(s.handle, unsafe.SliceData(pcm), int32(len(pcm))))
	return backend.Update{Partial: strings.TrimSpace(s.text.String()), Boundary: said}, err
}

func (s *stream) Finish(context.Context) (backend.Result, error) {
	if _, err := s.take(s.engine.lib.finish(s.handle)); err != nil {
		return backend.Result{}, err
	}
	return backend.Result{Text: strings.TrimSpace(s.text.String()), Boundary: s.boundary, Words: s.words}, nil
}

// take adds a document of the library to the utterance, and returns what has ended in it.
func (s *stream) take(raw *byte) (backend.Boundary, error) {
	text, err := s.engine.lib.take(raw, s.engine.model)
	if err != nil {
		return backend.NoBoundary, err
	}
	var d document
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return backend.NoBoundary, fmt.Errorf("%w: its answer is not the JSON that the C interface describes: %w", ErrDecode, err)
	}
	if s.text.Len()+len(d.Text) > maxText || len(s.words)+len(d.Words) > maxWords {
		return backend.NoBoundary, fmt.Errorf("%w: an utterance has more than %d bytes of text or %d words", ErrDecode, maxText, maxWords)
	}
	s.text.WriteString(d.Text)
	for _, w := range d.Words {
		s.words = append(s.words, backend.Word{
			Text: w.Text, StartMS: milliseconds(w.Start), EndMS: milliseconds(w.End), Prob: min(max(w.Confidence, 0), 1),
		})
	}
	said := d.boundary()
	if said != backend.NoBoundary || strings.TrimSpace(d.Text) != "" {
		s.boundary = said
	}
	return said, nil
}

// milliseconds returns seconds as whole milliseconds, within a day.
func milliseconds(seconds float64) int {
	return int(math.Round(1000 * min(max(seconds, 0), 24*60*60)))
}

func (s *stream) Close() error {
	if s.handle != 0 {
		s.engine.lib.end(s.handle)
		s.handle = 0
	}
	return nil
}

// whole is an utterance that is decoded at its end, because the model does not stream. It implements backend.Stream.
type whole struct {
	engine   *Engine
	language string
	pcm      []float32
}

func (w *whole) Feed(_ context.Context, pcm []float32) (backend.Update, error) {
	if len(w.pcm)+len(pcm) > maxAudio {
		return backend.Update{}, fmt.Errorf("%w: an utterance is longer than %d s", ErrDecode, maxAudio/pipeline.InputRate)
	}
	w.pcm = append(w.pcm, pcm...)
	return backend.Update{}, nil
}

func (w *whole) Finish(context.Context) (backend.Result, error) {
	if len(w.pcm) == 0 {
		return backend.Result{}, nil
	}
	const modelsOwn = 0 // the decoder that the model prefers
	e := w.engine
	text, err := e.lib.take(e.lib.transcribe(e.model, unsafe.SliceData(w.pcm), int32(len(w.pcm)), pipeline.InputRate, modelsOwn, w.language), e.model)
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%w: an utterance has more than %d bytes of text", ErrDecode, maxText)
	}
	return backend.Result{Text: strings.TrimSpace(text)}, err
}

func (w *whole) Close() error { return nil }
