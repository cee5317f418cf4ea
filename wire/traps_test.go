package wire

// Details of the JSON that clients of other projects rely on.

import (
	"testing"

	"github.com/onsi/gomega"
)

// object encodes an event and reads the object at path, the first of each list.
func object(t *testing.T, e ServerEvent, path ...string) map[string]any {
	t.Helper()
	v := view(t, AppendServer(nil, e))
	for _, name := range path {
		if list, ok := v.([]any); ok {
			v = list[0]
		}
		v = v.(map[string]any)[name]
	}
	if list, ok := v.([]any); ok {
		v = list[0]
	}
	return v.(map[string]any)
}

// Each of these, and of those in the next test, has broken a client of somebody's server.
func TestWhatClientsRelyOn(t *testing.T) {
	t.Run("input_audio always has a transcript", func(t *testing.T) {
		g := gomega.NewWithT(t)
		item := Item{ID: "i", Type: ItemMessage, Role: "user", Content: []Content{{Type: ContentInputAudio}}}
		content := object(t, &ConversationItemAdded{Item: item}, "item", "content")
		g.Expect(content).To(gomega.Equal(map[string]any{"type": "input_audio", "transcript": nil}))
		item.Content[0].Transcript = ptr("")
		content = object(t, &ResponseDone{Response: Response{Output: []Item{item}}}, "response", "output", "content")
		g.Expect(content).To(gomega.HaveKeyWithValue("transcript", ""))
	})
	t.Run("a client does not send a transcript that it has not", func(t *testing.T) {
		item := Item{Type: ItemMessage, Role: "user", Content: []Content{{Type: ContentInputAudio, Audio: []byte{0}}}}
		text := string(AppendClient(nil, &ConversationItemCreate{Item: item}))
		gomega.NewWithT(t).Expect(text).NotTo(gomega.ContainSubstring("transcript"))
	})
	t.Run("a response has all keys, from the first event on", func(t *testing.T) {
		g := gomega.NewWithT(t)
		response := object(t, &ResponseCreated{}, "response")
		for _, name := range []string{"status_details", "usage", "metadata", "conversation_id"} {
			g.Expect(response).To(gomega.HaveKeyWithValue(name, gomega.BeNil()))
		}
		g.Expect(response).To(gomega.HaveKeyWithValue("output", gomega.BeEmpty()))
		g.Expect(response).To(gomega.HaveKeyWithValue("object", "realtime.response"))
		g.Expect(response).To(gomega.HaveKeyWithValue("max_output_tokens", "inf"))
	})
	t.Run("turn_detection is whole", func(t *testing.T) {
		g := gomega.NewWithT(t)
		for _, kind := range []string{ServerVAD, SemanticVAD} {
			s := DefaultSession()
			s.Audio.Input.TurnDetection = &TurnDetection{Type: kind}
			detection := object(t, &SessionUpdated{Session: s}, "session", "audio", "input", "turn_detection")
			g.Expect(detection).To(gomega.HaveKeyWithValue("interrupt_response", false))
			g.Expect(detection).To(gomega.HaveKeyWithValue("create_response", false))
		}
	})
	t.Run("turn_detection that is off is null", func(t *testing.T) {
		s := DefaultSession()
		s.Audio.Input.TurnDetection = nil
		input := object(t, &SessionUpdated{Session: s}, "session", "audio", "input")
		gomega.NewWithT(t).Expect(input).To(gomega.HaveKeyWithValue("turn_detection", gomega.BeNil()))
	})
	t.Run("the first item has a previous item, which is null", func(t *testing.T) {
		g := gomega.NewWithT(t)
		for _, e := range []ServerEvent{&ConversationItemAdded{}, &ConversationItemDone{}, &InputAudioBufferCommitted{}} {
			g.Expect(object(t, e)).To(gomega.HaveKeyWithValue("previous_item_id", gomega.BeNil()))
		}
	})
}

func TestWhatClientsRelyOnInReports(t *testing.T) {
	t.Run("an error names the client's event, or null", func(t *testing.T) {
		g := gomega.NewWithT(t)
		g.Expect(object(t, &ErrorEvent{}, "error")).To(gomega.HaveKeyWithValue("event_id", gomega.BeNil()))
		_, err := DecodeClient([]byte(`{"event_id":"mine","type":"no.such"}`))
		report := err.(*DecodeError).Event() //nolint:errorlint // the type is documented
		g.Expect(object(t, report, "error")).To(gomega.Equal(map[string]any{
			"type": "invalid_request_error", "code": "unknown_event", "param": "type", "event_id": "mine",
			"message": `no event is called "no.such" in this direction`,
		}))
	})
	t.Run("a part has the short type and its own key", func(t *testing.T) {
		g := gomega.NewWithT(t)
		part := object(t, &ResponseContentPartAdded{Part: Part{Type: "audio"}}, "part")
		g.Expect(part).To(gomega.Equal(map[string]any{"type": "audio", "transcript": ""}))
		part = object(t, &ResponseContentPartAdded{Part: Part{Type: "text"}}, "part")
		g.Expect(part).To(gomega.Equal(map[string]any{"type": "text", "text": ""}))
	})
	t.Run("a function call has its arguments from the first event on", func(t *testing.T) {
		item := Item{ID: "i", Type: ItemFunctionCall, Status: "in_progress", CallID: "c", Name: "f"}
		got := object(t, &ResponseOutputItemAdded{Item: item}, "item")
		gomega.NewWithT(t).Expect(got).To(gomega.HaveKeyWithValue("arguments", ""))
	})
	t.Run("metadata comes back as it was sent", func(t *testing.T) {
		g := gomega.NewWithT(t)
		e, err := DecodeClient([]byte(`{"type":"response.create","response":{"metadata":{"k":"v","k2":"ü"}}}`))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		done := &ResponseDone{Response: Response{Metadata: e.(*ResponseCreate).Response.Metadata}}
		g.Expect(object(t, done, "response", "metadata")).To(gomega.Equal(map[string]any{"k": "v", "k2": "ü"}))
	})
}

func TestResponseCreateWithoutParameters(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(string(AppendClient(nil, &ResponseCreate{}))).To(gomega.Equal(`{"type":"response.create"}`))
	for _, text := range []string{`{"type":"response.create"}`, `{"type":"response.create","response":{}}`, `{"type":"response.create","response":null}`} {
		e, err := DecodeClient([]byte(text))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(e).To(gomega.Equal(&ResponseCreate{}))
	}
	e, err := DecodeClient([]byte(`{"type":"response.create","response":{"tools":[],"input":[],"instructions":""}}`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	want := ResponseParams{HasTools: true, Tools: []Tool{}, HasInput: true, Input: []Item{}, Instructions: ptr("")}
	g.Expect(e.(*ResponseCreate).Response).To(gomega.Equal(want))
	g.Expect(string(AppendClient(nil, e))).To(gomega.Equal(`{"type":"response.create","response":{"instructions":"","tools":[],"input":[]}}`))
}

func TestOfTwoMembersTheLastCounts(t *testing.T) {
	g := gomega.NewWithT(t)
	e, err := DecodeServer([]byte(`{"type":"response.done","event_id":"a","event_id":"b",
		"response":{"id":"r","usage":{"total_tokens":5},"output":[{"type":"message"}],"status_details":null,"conversation_id":"c","metadata":{"k":1}},
		"response":{"status":"x","usage":{"input_tokens":1},"usage":{"input_tokens":2},"output_modalities":["text"],"output_modalities":["audio"]}}`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(e).To(gomega.Equal(&ResponseDone{EventID: "b", Response: Response{
		Status: "x", Usage: &Usage{InputTokens: 2}, OutputModalities: []string{"audio"},
	}}))
}

func TestDefaultSessionsShareNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	a, b := DefaultSession(), DefaultSession()
	a.Audio.Input.TurnDetection.Threshold = 0.9
	a.OutputModalities[0] = "text"
	a.ToolChoice[1] = 'x'
	g.Expect(b).To(gomega.Equal(DefaultSession()))
}

func TestSnapshotsShareNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	s := DefaultSession()
	g.Expect(s.Merge(Raw(`{"tools":[{"type":"function","name":"f","parameters":{}}],"include":["x"],"prompt":{"id":"p"},"tracing":"auto",
		"audio":{"input":{"transcription":{"model":"m"},"noise_reduction":{"type":"far_field"},"turn_detection":{"idle_timeout_ms":5000}}}}`))).To(gomega.Succeed())
	text := string(AppendServer(nil, &SessionUpdated{Session: s}))
	snapshot := s.Clone()
	snapshot.Tools[0].Parameters[0] = 'x'
	snapshot.Tools[0].Name = "g"
	snapshot.Include[0] = "y"
	snapshot.Prompt[0] = 'x'
	snapshot.Tracing[1] = 'x'
	*snapshot.Audio.Input.TurnDetection.IdleTimeoutMS = 1
	snapshot.Audio.Input.TurnDetection.Type = "x"
	snapshot.Audio.Input.Transcription.Model = "n"
	snapshot.Audio.Input.NoiseReduction.Type = "x"
	g.Expect(string(AppendServer(nil, &SessionUpdated{Session: s}))).To(gomega.Equal(text))
}

// The marks in the descriptions of objects are no part of any name.
func TestOddKeysAreUnknownFields(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, key := range []string{"", "-", "id?", "id!", "type!", "event_id? item_id", "event_id!", "object=realtime.item", "item", " item_id", "é"} {
		text := `{` + string(AppendString(nil, key)) + `:[],"type":"conversation.item.delete",` + string(AppendString(nil, key)) + `:[],"item_id":"i"}`
		e, err := DecodeClient([]byte(text))
		g.Expect(err).NotTo(gomega.HaveOccurred(), text)
		g.Expect(e).To(gomega.Equal(&ConversationItemDelete{ItemID: "i"}))
		s := DefaultSession()
		g.Expect(s.Merge(Raw(`{` + string(AppendString(nil, key)) + `:[]}`))).To(gomega.Succeed())
		g.Expect(s).To(gomega.Equal(DefaultSession()))
	}
}
