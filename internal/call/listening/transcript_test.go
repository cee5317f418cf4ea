package listening

// The events with which a client gets a transcript.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestTranscriptEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	word := func(text, speaker string, at time.Duration) pipeline.Word {
		return pipeline.Word{Text: text, Speaker: speaker, Start: at, End: at + time.Second, Prob: 0.9}
	}
	said := Transcript{
		Part: 1, Text: "good morning hi", Samples: 36000,
		Words: []pipeline.Word{word("good", "ann", 0), word("morning", "ann", time.Second), word("um", "", 2*time.Second), word("hi", "ben", 3*time.Second)},
	}

	events, failure := said.Events(env.System(), "item_1", Wants{Transcripts: true})
	g.Expect(failure).To(gomega.BeNil())
	g.Expect(events).To(gomega.HaveLen(4), "the delta, one for each speaker, without the words of an unknown one, and the whole")
	for i, want := range []wire.ConversationItemInputAudioTranscriptionSegment{
		{ItemID: "item_1", ContentIndex: 1, Speaker: "ann", Text: "good morning", Start: 0, End: 2},
		{ItemID: "item_1", ContentIndex: 1, Speaker: "ben", Text: "hi", Start: 3, End: 4},
	} {
		segment := *events[i+1].(*wire.ConversationItemInputAudioTranscriptionSegment)
		g.Expect(segment.SegmentID).To(gomega.HavePrefix("seg_"))
		segment.SegmentID = ""
		g.Expect(segment).To(gomega.Equal(want))
	}
	g.Expect(events[3]).To(gomega.Equal(wire.ServerEvent(&wire.ConversationItemInputAudioTranscriptionCompleted{
		ItemID: "item_1", ContentIndex: 1, Transcript: "good morning hi", Usage: wire.TranscriptionUsage{Type: "duration", Seconds: 1.5},
	})))

	events, _ = said.Events(env.System(), "item_1", Wants{Transcripts: true, Logprobs: true})
	g.Expect(string(events[3].(*wire.ConversationItemInputAudioTranscriptionCompleted).Logprobs)).To(gomega.HavePrefix(
		`[{"token":"good","logprob":-0.105361,"bytes":[103,111,111,100]},{"token":" morning",`))

	said.Start = 24000 // at 1 s of the session's audio, of which 1.5 s are the item's
	events, _ = said.Events(env.System(), "item_1", Wants{Transcripts: true, Times: true})
	g.Expect(string(events[1].(*wire.AntiphonInputWords).Words)).To(gomega.Equal(
		`[{"word":"good","start_ms":1000,"end_ms":2000},{"word":"morning","start_ms":2000,"end_ms":2500},`+
			`{"word":"um","start_ms":2500,"end_ms":2500},{"word":"hi","start_ms":2500,"end_ms":2500}]`), "none is outside of the item's audio")
	untimed := Transcript{Text: "hi"}
	events, _ = untimed.Events(env.System(), "item_1", Wants{Transcripts: true, Times: true})
	g.Expect(events).To(gomega.HaveLen(2), "the recogniser does not know the times")

	events, failure = said.Events(env.System(), "item_1", Wants{Logprobs: true})
	g.Expect(events).To(gomega.BeEmpty(), "the client wants none")
	g.Expect(failure).To(gomega.BeNil())
}

// Some clients keep the deltas alone, so they add up to the transcript.
func TestDeltasAddUpToTheTranscript(t *testing.T) {
	g := gomega.NewWithT(t)
	for sent, rest := range map[string]string{"": "good morning", "good ": "morning", "good morning": "", "could ": ""} {
		said := Transcript{Text: "good morning", Captions: sent}
		events, _ := said.Events(env.System(), "item_1", Wants{Transcripts: true})
		if rest != "" {
			g.Expect(events[0]).To(gomega.Equal(wire.ServerEvent(&wire.ConversationItemInputAudioTranscriptionDelta{ItemID: "item_1", Delta: rest})))
			events = events[1:]
		}
		g.Expect(events).To(gomega.HaveLen(1), "what was sent before: %q", sent)
	}
}

func TestUnknownProbabilitiesAreNone(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(logprobs(nil)).To(gomega.BeNil())
	g.Expect(logprobs([]pipeline.Word{{Text: "a", Prob: 0.5}, {Text: "b"}})).To(gomega.BeNil())
	g.Expect(string(logprobs([]pipeline.Word{{Text: "a", Prob: 2}}))).To(gomega.Equal(`[{"token":"a","logprob":0.000000,"bytes":[97]}]`))
}

func TestTranscriptFailure(t *testing.T) {
	g := gomega.NewWithT(t)
	none := Transcript{Part: 1, Failure: "no room"}
	events, failure := none.Events(env.System(), "item_1", Wants{Transcripts: true})
	g.Expect(failure).To(gomega.BeNil())
	g.Expect(events).To(gomega.Equal([]wire.ServerEvent{&wire.ConversationItemInputAudioTranscriptionFailed{
		ItemID: "item_1", ContentIndex: 1,
		Error: wire.TranscriptionError{Type: "transcription_error", Code: "transcription_failed", Message: "no room"},
	}}))

	events, failure = none.Events(env.System(), "item_1", Wants{})
	g.Expect(events).To(gomega.BeEmpty())
	g.Expect([]string{failure.Type, failure.Code, failure.Message}).To(gomega.Equal([]string{"server_error", "transcription_failed", "no room"}),
		"a client without transcripts gets an error")
}
