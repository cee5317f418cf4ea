package session

// Ends of utterances that the recogniser reports and that more words retract.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// hearing is a recogniser that returns results by the amount of sound that it has got, whatever the sound is.
type hearing struct {
	live  []heard
	final pipeline.TranscriptResult // the result at the end of the audio
}

// heard is one result of hearing.
type heard struct {
	after  time.Duration // how much sound it needs
	result pipeline.TranscriptResult
}

// ReportsEnds implements pipeline.EndReporter.
func (h hearing) ReportsEnds() bool { return true }

// Open implements pipeline.Transcriber.
func (h hearing) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return &hearingStream{hearing: h, results: make(chan pipeline.TranscriptResult, len(h.live)+1)}, nil
}

// hearingStream is one transcription of hearing.
type hearingStream struct {
	hearing
	results chan pipeline.TranscriptResult
	sound   int
	told    int // how many of live were returned
}

// Write implements pipeline.Transcription.
func (s *hearingStream) Write(pcm []float32) error {
	if voice.RMS(pcm) > 0.01 {
		s.sound += len(pcm)
	}
	for s.told < len(s.live) && time.Duration(s.sound)*time.Second/pipeline.InputRate >= s.live[s.told].after {
		s.results <- s.live[s.told].result
		s.told++
	}
	return nil
}

// CloseInput implements pipeline.Transcription.
func (s *hearingStream) CloseInput() error {
	s.results <- s.final
	return nil
}

// Results implements pipeline.Transcription.
func (s *hearingStream) Results() <-chan pipeline.TranscriptResult { return s.results }

// Close implements pipeline.Transcription.
func (s *hearingStream) Close() error { return nil }

func TestWordsRetractTheEndOfAnUtterance(t *testing.T) {
	story(t, "a short pause after the words does not end the turn", func(t *testing.T) {
		p := plain()
		p.Transcriber = hearing{
			live: []heard{
				{200 * time.Millisecond, pipeline.TranscriptResult{Partial: "I would like that", EOU: true}},
				{400 * time.Millisecond, pipeline.TranscriptResult{Partial: "I would like that one there"}},
			},
			final: pipeline.TranscriptResult{Final: true, Text: "I would like that one there please"},
		}
		c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession()})
		c.pacer = newPacer(c.s, nil)
		c.start()
		c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}`)
		c.quiet(200)
		c.speak(scripted.Tones("some words that take a while")[:24*800])
		c.quiet(600)
		c.g.Expect(c.Names()).NotTo(gomega.ContainElement("input_audio_buffer.committed"))
		c.speak(scripted.Tones("some words that take a while")[:24*300])
		c.quiet(4500)
		c.g.Expect(c.count("input_audio_buffer.committed")).To(gomega.Equal(1), "the time without an end of utterance is over")
		c.g.Expect(next[*wire.ConversationItemDone](c, "conversation.item.done").Item.Role).To(gomega.Equal("user"))
	})
}
