package conversation

// The settings of transcription sessions.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// transcription returns the settings of a session that is opened with the type "transcription" and patch.
func transcription(t *testing.T, patch string) settingsTester {
	t.Helper()
	g := gomega.NewWithT(t)
	set, p := wire.DefaultSession(), plain()
	g.Expect(Merge(p, nil, &set, wire.Raw(`{"type":"transcription"`+patch+`}`))).To(gomega.Succeed())
	set.ID = "sess_1"
	return settingsTester{t, g, NewSettings(env.System(), p, set, nil)}
}

func TestTranscriptionSessionRefusesWhatNeedsAResponse(t *testing.T) {
	r := transcription(t, "")
	r.g.Expect(r.Current().Type).To(gomega.Equal("transcription"))
	r.g.Expect(r.TurnDetection().CreateResponse).To(gomega.BeFalse())
	r.refusesRequest(``, "transcription_session", "type")
	r.refusesRequest(`"conversation":"none"`, "transcription_session", "type")
	for fields, param := range map[string]string{
		`"instructions":"Sing."`:                                                   "instructions",
		`"tools":[]`:                                                               "tools",
		`"audio":{"output":{"voice":"slt"}}`:                                       "audio.output",
		`"audio":{"input":{"transcription":null}}`:                                 "audio.input.transcription",
		`"audio":{"input":{"turn_detection":{"create_response":true}}}`:            "audio.input.turn_detection.create_response",
		`"audio":{"input":{"turn_detection":{"idle_timeout_ms":6000}}}`:            "audio.input.turn_detection.idle_timeout_ms",
		`"include":["everything"]`:                                                 "include",
		`"audio":{"input":{"turn_detection":{"type":"server_vad","threshold":9}}}`: "audio.input.turn_detection.threshold",
	} {
		r.refuses(fields, "invalid_value", "session."+param)
	}
	_, refused := r.Update(wire.Raw(`{"type":"realtime"}`), false)
	r.failed(refused, "invalid_value", "session.type", "another type")
}

// Turn detection that was off comes back without responses.
func TestTranscriptionSessionDetectsTurns(t *testing.T) {
	r := transcription(t, `,"audio":{"input":{"turn_detection":null,"transcription":{"language":"en"}}}`)
	in := r.update(`"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}`)[0].(*wire.SessionUpdated).Session.Audio.Input
	r.g.Expect(in.TurnDetection).To(gomega.HaveValue(gomega.And(gomega.HaveField("Type", "semantic_vad"), gomega.HaveField("CreateResponse", false))))
	r.g.Expect(in.Transcription.Language).To(gomega.Equal("en"))
}

func TestTranscribingKeepsTheSession(t *testing.T) {
	g := gomega.NewWithT(t)
	set := wire.DefaultSession()
	set.ID, set.ExpiresAt, set.Model, set.Include, set.Instructions = "sess_1", 7, "m", []string{"x"}, "Sing."
	only := Transcribing(set)
	g.Expect([]any{only.ID, only.ExpiresAt, only.Model, only.Include}).To(gomega.Equal([]any{"sess_1", int64(7), "m", []string{"x"}}))
	g.Expect(only.Instructions).To(gomega.BeEmpty())
	g.Expect(only.Audio.Input.Transcription).NotTo(gomega.BeNil())
	g.Expect(set.Audio.Input.TurnDetection.CreateResponse).To(gomega.BeTrue(), "the settings that it is made from stay as they are")
}
