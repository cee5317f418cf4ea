package clients

// The steps of an application with the package openai.

import (
	"encoding/json"
	"time"

	"github.com/onsi/gomega"
)

func (s *openai) connects() {
	at, err := asked[struct{ Call string }](s, "connect", s.target)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.call = at.Call
	if s.webRTC {
		s.Expect(s.call).To(gomega.HavePrefix("rtc_"))
	}
	created := s.next("session.created")
	s.Expect(created.Session.ID).To(gomega.HavePrefix("sess_"))
	s.Expect(created.Session.Type).To(gomega.Equal("realtime"))
}

func (s *openai) configures() {
	s.send(args{"type": "session.update", "event_id": "by_hand", "session": args{
		"type": "realtime", "instructions": "Be brief.", "tools": []args{{
			"type": "function", "name": "look_up_weather", "description": "Says what the weather is like.", "parameters": args{
				"type": "object", "properties": args{"place": args{"type": "string"}}, "required": []string{"place"},
			},
		}},
		"audio": args{"input": args{"transcription": args{"model": "whisper-1"}, "turn_detection": nil}},
	}})
	updated := s.next("session.updated").Session
	s.Expect(updated.Instructions).To(gomega.Equal("Be brief."))
	s.Expect(updated.Tools).To(gomega.HaveExactElements(gomega.HaveField("Name", "look_up_weather")))
	s.Expect(string(updated.Audio.Input.TurnDetection)).To(gomega.Equal("null"))
	s.Expect(updated.Audio.Input.Transcription.Model).To(gomega.Equal("whisper-1"))
}

// asksInWriting: the server uses the client's own ids, and the deltas make up the text.
func (s *openai) asksInWriting() {
	item := message("good morning")
	item["id"] = "item_of_mine"
	s.send(args{"type": "conversation.item.create", "item": item})
	s.Expect(s.next("conversation.item.added").Item.ID).To(gomega.Equal("item_of_mine"))
	s.Expect(s.next("conversation.item.done").Item.ID).To(gomega.Equal("item_of_mine"))
	s.create(args{"output_modalities": []string{"text"}, "metadata": args{"topic": "greeting"}})
	created := s.next("response.created").Response
	s.Expect(created.Metadata).To(gomega.HaveKeyWithValue("topic", "greeting"))
	s.Expect(s.next("response.content_part.added").Part.Type).To(gomega.Equal("text"))
	from := s.read
	s.Expect(s.next("response.output_text.done").Text).To(gomega.Equal("You said: good morning"))
	var text string
	for _, e := range s.seen[from:s.read] {
		if e.Type == "response.output_text.delta" {
			text += e.Delta
		}
	}
	s.Expect(text).To(gomega.Equal("You said: good morning"))
	done := s.answer("You said: good morning").Response
	s.Expect(done.ID).To(gomega.Equal(created.ID))
	s.Expect(done.Metadata).To(gomega.HaveKeyWithValue("topic", "greeting"))
}

func (s *openai) hears() {
	s.write("good day")
	s.create(nil)
	s.Expect(s.next("response.content_part.added").Part.Type).To(gomega.Equal("audio"))
	s.Expect(s.next("response.output_audio_transcript.done").Transcript).To(gomega.Equal("You said: good day"))
	s.answer("You said: good day")
	s.Eventually(s.heard).Should(gomega.BeNumerically(">", 600*time.Millisecond))
	s.played()
}

// played waits until the agent's playback has ended, where the server reports it.
func (s *openai) played() {
	s.t.Helper()
	if s.webRTC {
		s.next("output_audio_buffer.stopped")
	}
}

func (s *openai) answersCall() {
	s.write("please look up weather")
	s.create(nil)
	call := s.next("response.function_call_arguments.done")
	s.Expect(call.Name).To(gomega.Equal("look_up_weather"))
	s.Expect(json.Valid([]byte(call.Arguments))).To(gomega.BeTrue(), call.Arguments)
	done := s.next("response.output_item.done").Item
	s.Expect(done.Status).To(gomega.Equal("completed"))
	s.Expect(done.CallID).To(gomega.Equal(call.CallID))
	s.Expect(s.next("response.done").Response.Output).To(gomega.HaveExactElements(gomega.HaveField("Type", "function_call")))
	s.send(args{"type": "conversation.item.create", "item": args{"type": "function_call_output", "call_id": call.CallID, "output": "rain"}})
	s.create(nil)
	s.answer("Tool said: rain")
	s.played()
}

// commits: without turn detection the client ends the turn.
func (s *openai) commits() {
	s.send(args{"type": "input_audio_buffer.commit", "event_id": "too_early"})
	s.Expect(s.next("error").Error.Code).To(gomega.Equal("input_audio_buffer_commit_empty"))
	s.tell("append", args{"pcm": tones("by hand")})
	s.send(args{"type": "input_audio_buffer.commit"})
	item := s.next("input_audio_buffer.committed").ItemID
	added := s.next("conversation.item.added").Item
	s.Expect(added.ID).To(gomega.Equal(item))
	s.Expect(added.Content).To(gomega.HaveExactElements(gomega.HaveField("Type", "input_audio")))
	heard := s.next("conversation.item.input_audio_transcription.completed")
	s.Expect(heard.ItemID).To(gomega.Equal(item))
	s.Expect(heard.Transcript).To(gomega.Equal("by hand"))
	s.create(nil)
	s.answer("You said: by hand")
}

// speaks: the server detects the beginning and the end of a turn, and one item has all of it.
func (s *openai) speaks() {
	s.send(args{"type": "session.update", "session": args{
		"type": "realtime", "audio": args{"input": args{"turn_detection": args{"type": "server_vad", "silence_duration_ms": 400}}},
	}})
	s.next("session.updated")
	s.listens()
	s.speak("hello there")
	item := s.next("input_audio_buffer.speech_started").ItemID
	s.Expect(s.next("input_audio_buffer.speech_stopped").ItemID).To(gomega.Equal(item))
	s.Expect(s.next("input_audio_buffer.committed").ItemID).To(gomega.Equal(item))
	s.Expect(s.next("conversation.item.added").Item.ID).To(gomega.Equal(item))
	s.answer("You said: hello there")
	s.played()
}

// long begins a long answer and waits for some of its sound.
func (s *openai) long() (item string) {
	s.t.Helper()
	before, err := s.heard()
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.write("say 60 words")
	s.create(nil)
	item = s.next("response.output_item.added").Item.ID
	s.Eventually(s.heard).Should(gomega.BeNumerically(">", before+time.Second))
	return item
}

func (s *openai) bargesIn() {
	item := s.long()
	s.speak("stop, I know")
	s.next("input_audio_buffer.speech_started")
	if s.webRTC {
		s.next("output_audio_buffer.cleared")
	}
	done := s.next("response.done").Response
	s.Expect(done.Status).To(gomega.Equal("cancelled"))
	s.Expect(done.StatusDetails.Reason).To(gomega.Equal("turn_detected"))
	if !s.webRTC {
		s.send(args{"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": 700})
	}
	truncated, _ := s.ahead("conversation.item.truncated") // over a WebSocket the answer may be there before it
	s.Expect(truncated.ItemID).To(gomega.Equal(item))
	s.answer("You said: stop, I know")
	s.played()
}

func (s *openai) cancels() {
	s.long()
	s.send(args{"type": "response.cancel"})
	if s.webRTC {
		s.send(args{"type": "output_audio_buffer.clear"})
	}
	done := s.next("response.done").Response
	s.Expect(done.Status).To(gomega.Equal("cancelled"))
	s.Expect(done.StatusDetails.Reason).To(gomega.Equal("client_cancelled"))
	if s.webRTC {
		s.next("output_audio_buffer.cleared")
	}
	s.write("thank you")
	s.create(nil)
	s.answer("You said: thank you")
	s.played()
}

// asksOutOfBand: an out-of-band response does not change the conversation.
func (s *openai) asksOutOfBand() {
	from := s.read
	s.create(args{
		"conversation": "none", "output_modalities": []string{"text"}, "metadata": args{"topic": "aside"},
		"input": []args{message("an aside")},
	})
	done := s.answer("You said: an aside").Response
	s.Expect(done.Metadata).To(gomega.HaveKeyWithValue("topic", "aside"))
	s.Expect(done.ConversationID).To(gomega.BeNil())
	// A request can refer to items of the conversation by id.
	s.create(args{
		"conversation": "none", "output_modalities": []string{"text"}, "input": []args{{"type": "item_reference", "id": "item_of_mine"}},
	})
	s.answer("You said: good morning")
	s.Expect(types(s.seen[from:s.read])).NotTo(gomega.ContainElement("conversation.item.added"))
}

// isCutShort: an answer that reaches the limit says so.
func (s *openai) isCutShort() {
	s.write("say 60 words")
	s.create(args{"output_modalities": []string{"text"}, "max_output_tokens": 5})
	done := s.next("response.done")
	s.Expect(done.Response.Status).To(gomega.Equal("incomplete"))
	s.Expect(done.Response.StatusDetails.Reason).To(gomega.Equal("max_output_tokens"))
	s.Expect(done.Response.Output).To(gomega.HaveExactElements(gomega.HaveField("Status", "incomplete")))
	s.Expect(done.said()).To(gomega.HavePrefix("One two three"))
}

// isRefused: each mistake gets its own error with the id of the event, and the session goes on.
func (s *openai) isRefused() {
	for _, mistake := range []struct {
		event args
		code  string
	}{
		{args{"type": "conversation.item.delete", "item_id": "nobody"}, "item_delete_invalid_item_id"},
		{args{"type": "conversation.item.retrieve", "item_id": "nobody"}, "item_retrieve_invalid_item_id"},
		{args{"type": "response.cancel"}, "response_cancel_not_active"},
		{args{"type": "session.update", "session": args{"type": "realtime", "audio": args{"output": args{"speed": 9}}}}, "invalid_value"},
		{args{"type": "session.dance"}, "unknown_event"},
	} {
		mistake.event["event_id"] = "mistake_" + mistake.code
		s.send(mistake.event)
		e := s.next("error")
		s.Expect(e.Error.Code).To(gomega.Equal(mistake.code))
		s.Expect(e.Error.EventID).To(gomega.Equal("mistake_" + mistake.code))
		s.Expect(e.Error.Type).To(gomega.Equal("invalid_request_error"))
		if !s.webRTC {
			s.Expect(s.report().Errors).To(gomega.ContainElement(gomega.And(
				gomega.HaveField("Name", "OpenAIRealtimeError"), gomega.HaveField("Code", mistake.code),
				gomega.HaveField("Event", "mistake_"+mistake.code),
			)))
		}
	}
	s.send(args{"type": "conversation.item.retrieve", "item_id": "item_of_mine"})
	s.Expect(s.next("conversation.item.retrieved").Item.ID).To(gomega.Equal("item_of_mine"))
}

func (s *openai) report() talkReport {
	s.t.Helper()
	r, err := asked[talkReport](s, "report", nil)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	return r
}

func (s *openai) closes() {
	if s.webRTC {
		s.tell("close", nil)
		s.Expect(s.report().State).To(gomega.Equal("closed"))
		s.Expect(s.report().Errors).To(gomega.BeEmpty())
		return
	}
	code, err := asked[int](s, "close", nil)
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(code).To(gomega.Equal(1000))
	s.again()
}

// again forgets the events of the closed connection.
func (s *openai) again() { s.seen, s.read = nil, 0 }

func (s *openai) transcribes() {
	s.tell("connect", args{"target": args{"intent": "transcription"}})
	s.Expect(s.next("session.created").Session.Type).To(gomega.Equal("transcription"))
	s.listens()
	s.speak("take this down")
	item := s.next("input_audio_buffer.committed").ItemID
	heard := s.next("conversation.item.input_audio_transcription.completed")
	s.Expect(heard.ItemID).To(gomega.Equal(item))
	s.Expect(heard.Transcript).To(gomega.Equal("take this down"))
	s.closes()
}

// beginsWithSecret: the session has the settings of the client secret.
func (s *openai) beginsWithSecret() {
	secret, err := asked[struct {
		Value   string
		Session session
	}](s, "secret", args{"session": args{"type": "realtime", "instructions": "Whisper."}})
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(secret.Value).To(gomega.HavePrefix("ek_"))
	s.Expect(secret.Session.Instructions).To(gomega.Equal("Whisper."))
	s.tell("connect", args{"target": args{"model": "gpt-realtime"}, "key": secret.Value})
	s.Expect(s.next("session.created").Session.Instructions).To(gomega.Equal("Whisper."))
	s.write("good night")
	s.create(nil)
	s.answer("You said: good night")
	s.closes()
}
