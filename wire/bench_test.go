package wire

import (
	"encoding/json"
	"testing"
)

// The reference is encoding/json with structs of just the fields that the message has, and already knowing which event it is.

type refDelta struct {
	Type         string `json:"type"`
	EventID      string `json:"event_id"`
	ResponseID   string `json:"response_id"`
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
	Delta        []byte `json:"delta"`
}

type refUpdate struct {
	Type    string          `json:"type"`
	EventID string          `json:"event_id"`
	Session json.RawMessage `json:"session"`
}

type refFormat struct {
	Type string `json:"type"`
	Rate int    `json:"rate"`
}

type refContent struct {
	Type       string  `json:"type"`
	Transcript *string `json:"transcript"`
}

type refItem struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Type    string       `json:"type"`
	Status  string       `json:"status"`
	Role    string       `json:"role"`
	Content []refContent `json:"content"`
}

type refTokens struct {
	TextTokens   int `json:"text_tokens"`
	AudioTokens  int `json:"audio_tokens"`
	ImageTokens  int `json:"image_tokens"`
	CachedTokens int `json:"cached_tokens"`
}

type refDone struct {
	Type     string `json:"type"`
	EventID  string `json:"event_id"`
	Response struct {
		Object           string    `json:"object"`
		ID               string    `json:"id"`
		Status           string    `json:"status"`
		StatusDetails    *struct{} `json:"status_details"`
		Output           []refItem `json:"output"`
		ConversationID   *string   `json:"conversation_id"`
		OutputModalities []string  `json:"output_modalities"`
		MaxOutputTokens  any       `json:"max_output_tokens"`
		Audio            struct {
			Output struct {
				Format refFormat `json:"format"`
				Voice  string    `json:"voice"`
			} `json:"output"`
		} `json:"audio"`
		Usage struct {
			TotalTokens        int       `json:"total_tokens"`
			InputTokens        int       `json:"input_tokens"`
			OutputTokens       int       `json:"output_tokens"`
			InputTokenDetails  refTokens `json:"input_token_details"`
			OutputTokenDetails refTokens `json:"output_token_details"`
		} `json:"usage"`
		Metadata json.RawMessage `json:"metadata"`
	} `json:"response"`
}

// benchMessage is one message with its reference.
type benchMessage struct {
	name   string
	server bool
	event  Event
	ref    func() any
}

func benchMessages() []benchMessage {
	audio := make([]byte, 4800) // 100 ms of 16 bit at 24 kHz
	for i := range audio {
		audio[i] = byte(i * 37)
	}
	update := Raw(`{"type":"realtime","instructions":"You keep a lighthouse. Answer in one sentence.","audio":{"input":` +
		`{"transcription":{"model":"m"},"turn_detection":{"type":"server_vad","threshold":0.6,"silence_duration_ms":400}},` +
		`"output":{"voice":"awb"}},"tools":[{"type":"function","name":"tide","description":"High and low water","parameters":` +
		`{"type":"object","properties":{"port":{"type":"string"}},"required":["port"]}}],"tool_choice":"auto"}`)
	said := "High water is at ten past two, and low water at twenty to nine."
	done := Response{
		ID: "resp_0123456789", Status: "completed", ConversationID: ptr("conv_0123456789"), OutputModalities: []string{"audio"},
		Output: []Item{{
			ID: "item_0123456789", Type: ItemMessage, Status: "completed", Role: "assistant",
			Content: []Content{{Type: ContentOutputAudio, Transcript: &said}},
		}},
		Audio: &ResponseAudio{Format: Format{Type: FormatPCM, Rate: 24000}, Voice: "awb"},
		Usage: &Usage{TotalTokens: 253, InputTokens: 132, OutputTokens: 121, InputTokenDetails: InputTokenDetails{TextTokens: 119, AudioTokens: 13}},
	}
	delta := &ResponseOutputAudioDelta{EventID: "event_0123456789", ResponseID: "resp_0123456789", ItemID: "item_0123456789", Delta: audio}
	return []benchMessage{
		{"audio-delta-100ms", true, delta, func() any { return new(refDelta) }},
		{"session.update", false, &SessionUpdate{EventID: "event_0123456789", Session: update}, func() any { return new(refUpdate) }},
		{"response.done", true, &ResponseDone{EventID: "event_0123456789", Response: done}, func() any { return new(refDone) }},
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, m := range benchMessages() {
		text := encode(m.event)
		b.Run(m.name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(text, m.server); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(m.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Unmarshal(text, m.ref()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, m := range benchMessages() {
		text := encode(m.event)
		ref := m.ref()
		if err := json.Unmarshal(text, ref); err != nil {
			b.Fatal(err)
		}
		b.Run(m.name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				if s, ok := m.event.(ServerEvent); ok {
					dst = AppendServer(dst[:0], s)
				} else {
					dst = AppendClient(dst[:0], m.event.(ClientEvent))
				}
			}
		})
		b.Run(m.name+"/encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	patch := benchMessages()[1].event.(*SessionUpdate).Session
	s := DefaultSession()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Merge(patch); err != nil {
			b.Fatal(err)
		}
	}
}
