package sdk

// The client's reader of server events agrees with package wire.

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// The client reads every example of a server event, and each member that it reads equals the one in the structs of wire.
func TestEventsAreReadAsTheyAreWritten(t *testing.T) {
	g := gomega.NewWithT(t)
	examples, err := os.ReadFile("../wire/testdata/server.jsonl")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for line := range strings.Lines(string(examples)) {
		e, err := wire.DecodeServer([]byte(line))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Run(e.Type(), func(t *testing.T) { compare(t, e, line) })
	}
}

func compare(t *testing.T, e wire.ServerEvent, line string) {
	g := gomega.NewWithT(t)
	got, err := readEvent([]byte(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]string{got.kind, got.id}).To(gomega.Equal([]string{e.Type(), e.ID()}))
	switch e := e.(type) {
	case *wire.SessionCreated:
		want := serverSession{id: e.Session.ID, model: e.Session.Model, transcribes: e.Session.Audio.Input.Transcription != nil}
		if td := e.Session.Audio.Input.TurnDetection; td != nil {
			want.answers, want.interrupts = td.CreateResponse, td.InterruptResponse
		}
		g.Expect(got.session).To(gomega.Equal(want))
	case *wire.ErrorEvent:
		g.Expect(got.problem).To(gomega.Equal(e.Error))
	case *wire.ConversationItemDone:
		g.Expect(got.previous).To(gomega.Equal(e.PreviousItemID))
		g.Expect(got.item.ID).To(gomega.Equal(e.Item.ID))
		for i, part := range e.Item.Content {
			g.Expect(got.item.Content[i]).To(gomega.Equal(wire.Content{Type: part.Type, Text: part.Text, Transcript: part.Transcript}))
		}
	case *wire.ConversationItemTruncated:
		g.Expect([]any{got.itemID, got.index, got.endMS}).To(gomega.Equal([]any{e.ItemID, e.ContentIndex, e.AudioEndMS}))
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		g.Expect(got.text).To(gomega.Equal(e.Transcript))
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		g.Expect(got.problem.Message).To(gomega.Equal(e.Error.Message))
	case *wire.ResponseDone:
		g.Expect([]any{got.response.ID, got.response.Status, got.response.ConversationID}).
			To(gomega.Equal([]any{e.Response.ID, e.Response.Status, e.Response.ConversationID}))
		g.Expect(got.response.Output).To(gomega.HaveLen(len(e.Response.Output)))
	case *wire.ResponseContentPartAdded:
		g.Expect(got.part).To(gomega.Equal(e.Part.Type))
	case *wire.ResponseOutputTextDelta:
		g.Expect([]any{got.responseID, got.itemID, got.index, got.text}).
			To(gomega.Equal([]any{e.ResponseID, e.ItemID, e.ContentIndex, e.Delta}))
	case *wire.ResponseOutputTextDone:
		g.Expect(got.text).To(gomega.Equal(e.Text))
	case *wire.ResponseOutputAudioDelta:
		g.Expect(got.sound).To(gomega.Equal(e.Delta))
	case *wire.AntiphonAck:
		g.Expect([]any{got.acknowledges, got.rtp, got.machines, got.resume}).
			To(gomega.Equal([]any{e.Acknowledges, e.RTPTimestamp, e.Machines, e.Resume}))
	case *wire.AntiphonBargeInRejected:
		g.Expect(got.candidate).To(gomega.Equal(e.Candidate))
	case *wire.AntiphonTurnMetrics:
		g.Expect(got.times.Commit).To(gomega.Equal(time.Duration(e.CommitMS) * time.Millisecond))
	}
}

// A member that the server leaves out of the session has the protocol's default.
func TestMembersLeftOutOfASessionHaveDefaults(t *testing.T) {
	for audio, want := range map[string]serverSession{
		`{}`:                                {},
		`{"input":{"turn_detection":null}}`: {},
		`{"input":{"turn_detection":{}}}`:   {answers: true, interrupts: true},
		`{"input":{"transcription":{}}}`:    {transcribes: true},
		`{"input":{"turn_detection":{"create_response":false,"interrupt_response":null}}}`: {interrupts: true},
	} {
		e, err := readEvent([]byte(`{"type":"session.updated","event_id":"e","session":{"audio":` + audio + `}}`))
		g := gomega.NewWithT(t)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(e.session).To(gomega.Equal(want), audio)
	}
}

// The client takes an event as a whole or not at all.
func TestAnEventWithAWrongMemberIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"type":"conversation.item.added","event_id":"e","item":{"id":"i"}}`,
		`{"type":"conversation.item.added","event_id":"e","item":{"type":"message","content":[{}]}}`,
		`{"type":"conversation.item.added","event_id":"e","item":{"type":"message","content":[{"type":"output_text","text":1}]}}`,
		`{"type":"response.done","event_id":"e","response":{"output":[1]}}`,
		`{"type":"response.done","event_id":"e","response":{"status_details":{"error":{"code":1}}}}`,
		`{"type":"response.content_part.added","event_id":"e","response_id":"r","item_id":"i","output_index":0,"content_index":0,"part":{}}`,
		`{"type":"conversation.item.truncated","event_id":"e","item_id":"i","content_index":0,"audio_end_ms":1.5}`,
		`{"type":"session.created","event_id":"e","session":{"audio":{"input":[]}}}`,
	} {
		_, err := readEvent([]byte(text))
		_, same := wire.DecodeServer([]byte(text))
		g := gomega.NewWithT(t)
		g.Expect(err).To(gomega.HaveOccurred(), text)
		g.Expect(same).To(gomega.HaveOccurred(), text)
	}
}
