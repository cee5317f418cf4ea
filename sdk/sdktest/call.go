package sdktest

// What a test sees of the last call, and what the server says in it: turns of the user, and responses of the agent.

import (
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// now returns the peer of the last call; nil before the first.
func (s *Server) now() *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peer
}

// Heard makes the user hear this position now: an RTP timestamp with Tracks, milliseconds of the item with Messages. A session
// that awaits the position gets PositionPassed.
func (s *Server) Heard(place uint32) {
	if p := s.now(); p != nil {
		p.play(place)
	}
}

// Gain returns the gain that the session has set: 1 without a call, 0.1 while it ducks the agent by 20 dB.
func (s *Server) Gain() float32 {
	p := s.now()
	if p == nil {
		return 1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gain
}

// Mutes returns how often the session has muted the rest of an interrupted response.
func (s *Server) Mutes() int {
	p := s.now()
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mutes
}

// Muted reports whether the microphone is closed.
func (s *Server) Muted() bool {
	p := s.now()
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.muted
}

// Volume returns the volume that the session has set last; 0 when it has set none.
func (s *Server) Volume() float32 {
	p := s.now()
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.volume
}

// Closed reports whether the last call was closed.
func (s *Server) Closed() bool {
	p := s.now()
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// Speak sends the events of a whole turn of the user, from speech onset to the transcript. item is its item id.
func (s *Server) Speak(item, words string) {
	transcript := words
	s.Send(
		&wire.InputAudioBufferSpeechStarted{ItemID: item},
		&wire.InputAudioBufferSpeechStopped{ItemID: item},
		&wire.InputAudioBufferCommitted{ItemID: item},
		&wire.ConversationItemAdded{Item: spoken(item, "user", nil)},
		&wire.ConversationItemDone{Item: spoken(item, "user", nil)},
		&wire.ConversationItemInputAudioTranscriptionCompleted{ItemID: item, Transcript: transcript},
	)
}

func spoken(id, role string, words *string) wire.Item {
	kind := wire.ContentInputAudio
	if role == "assistant" {
		kind = wire.ContentOutputAudio
	}
	return wire.Item{
		ID: id, Type: wire.ItemMessage, Role: role, Status: "completed",
		Content: []wire.Content{{Type: kind, Transcript: words}},
	}
}

// Reply is a response of the agent that is being made.
type Reply struct {
	// Response and Item are the protocol's ids.
	Response, Item string

	server *Server
	words  strings.Builder
}

// Begin starts a response, and its playback.
func (s *Server) Begin(response string) *Reply {
	r := &Reply{Response: response, Item: "item_" + response, server: s}
	conversation := "conv_test"
	item := wire.Item{ID: r.Item, Type: wire.ItemMessage, Role: "assistant", Status: "in_progress"}
	s.Send(
		&wire.ResponseCreated{Response: wire.Response{ID: response, Status: "in_progress", ConversationID: &conversation}},
		&wire.ResponseOutputItemAdded{ResponseID: response, Item: item},
		&wire.ConversationItemAdded{Item: item},
		&wire.ResponseContentPartAdded{ResponseID: response, ItemID: r.Item, Part: wire.Part{Type: "audio"}},
	)
	if s.Sound != Messages {
		s.Send(&wire.OutputAudioBufferStarted{ResponseID: response})
	}
	return r
}

// msPerWord is how long the sound of a word in a Reply is, in milliseconds.
const msPerWord = 300

// Say sends the next words, and with Messages their sound.
func (r *Reply) Say(words string) {
	r.words.WriteString(words)
	r.server.Send(&wire.ResponseOutputAudioTranscriptDelta{ResponseID: r.Response, ItemID: r.Item, Delta: words})
	if r.server.Sound == Messages {
		pcm := make([]byte, 48*msPerWord*len(strings.Fields(words)))
		r.server.Send(&wire.ResponseOutputAudioDelta{ResponseID: r.Response, ItemID: r.Item, Delta: pcm})
	}
}

// Made completes the response. Its playback may go on.
func (r *Reply) Made() { r.done("completed", "") }

func (r *Reply) done(status, reason string) {
	words := r.words.String()
	item := spoken(r.Item, "assistant", &words)
	conversation := "conv_test"
	over := wire.Response{ID: r.Response, Status: status, ConversationID: &conversation}
	if status == "cancelled" {
		item.Status = "incomplete"
		over.StatusDetails = &wire.StatusDetails{Type: status, Reason: reason}
	}
	over.Output = []wire.Item{item}
	r.server.Send(
		&wire.ResponseOutputAudioTranscriptDone{ResponseID: r.Response, ItemID: r.Item, Transcript: words},
		&wire.ResponseOutputItemDone{ResponseID: r.Response, Item: item},
		&wire.ConversationItemDone{Item: item},
		&wire.ResponseDone{Response: over},
	)
}

// End completes the response and ends its playback.
func (r *Reply) End() {
	r.Made()
	r.Stopped()
}

// Stopped ends the playback of the response.
func (r *Reply) Stopped() {
	if r.server.Sound == Messages {
		if p := r.server.now(); p != nil {
			p.set(func() { p.response = "" })
			p.tell(sdk.PlaybackStopped{ResponseID: r.Response})
		}
		return
	}
	r.server.Send(&wire.OutputAudioBufferStopped{ResponseID: r.Response})
}

// Interrupt sends the events of a turn that interrupts the response. item is the item id of the turn, heard is how much of the
// response the user heard, and words are the words in that; the session asks for them.
func (r *Reply) Interrupt(item string, heard time.Duration, words string) {
	r.server.Send(&wire.InputAudioBufferSpeechStarted{ItemID: item})
	if r.server.Sound != Messages {
		r.server.Send(&wire.OutputAudioBufferCleared{ResponseID: r.Response})
	}
	r.done("cancelled", "turn_detected")
	r.server.Send(&wire.ConversationItemTruncated{ItemID: r.Item, AudioEndMS: int(heard.Milliseconds())})
	r.server.Send(&wire.ConversationItemRetrieved{Item: spoken(r.Item, "assistant", &words)})
}
