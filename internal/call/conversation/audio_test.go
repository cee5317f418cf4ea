package conversation

// The audio of items: how much is kept, retrieved and truncated.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

var pcmFormats = Formats{Input: wire.FormatPCM, Output: wire.FormatPCM}

// audio retrieves an item and returns the audio of its first part.
func (r tester) audio(it *Item) []byte {
	r.t.Helper()
	events, refused := r.Retrieve(it.ID, pcmFormats)
	r.g.Expect(refused).To(gomega.BeNil())
	return events[0].(*wire.ConversationItemRetrieved).Item.Content[0].Audio
}

// said adds a turn of the user with a recording: silence of this many seconds.
func (r tester) said(name string, seconds int) *Item {
	it, _, _ := r.Append(wire.Item{ID: name, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputAudio}}})
	it.AwaitTranscript()
	r.g.Expect(r.Pending()).To(gomega.BeTrue())
	it.SetTranscript(0, "")
	r.g.Expect(r.Pending()).To(gomega.BeFalse())
	r.SetRecording(it, make([]int16, seconds*room.InputRate))
	return it
}

// answered adds a spoken answer with the name "a" that is complete: each clause takes one second.
func (r tester) answered(clauses ...string) *Item {
	it, events := r.Begin(wire.Item{ID: "a", Type: wire.ItemMessage, Role: "assistant", Status: "in_progress"})
	r.g.Expect(events).To(gomega.HaveExactElements(gomega.BeAssignableToTypeOf(&wire.ConversationItemAdded{})))
	text := ""
	for _, c := range clauses {
		n := it.AddClause(c)
		it.SpokenClause(n, it.Length(), second)
		r.AddAudio(it, make([]int16, second))
		it.EndClause(n, it.Length())
		text += c
	}
	it.Content = []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &text}}
	return it
}

func TestRetrievedAudio(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	user := r.said("u", 0)
	pcm := []int16{1, -2, 3}
	r.SetRecording(user, pcm)
	r.g.Expect(r.audio(user)).To(gomega.Equal(voice.PCM16ToBytes(nil, pcm)))
	r.g.Expect(user.Content[0].Audio).To(gomega.BeEmpty(), "events about the item have no audio")
	agent := r.answered("One.", "Two.")
	r.g.Expect(r.audio(agent)).To(gomega.HaveLen(2 * 2 * room.OutputRate))
	events, refused := r.Retrieve("a", Formats{Input: wire.FormatPCM, Output: wire.FormatPCMU})
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(events[0].(*wire.ConversationItemRetrieved).Item.Content[0].Audio).To(gomega.HaveLen(2 * room.LawRate))
	r.Cut(agent, 300)
	r.g.Expect(r.audio(agent)).To(gomega.HaveLen(300 * 48))
	events, refused = r.Retrieve("u", Formats{Input: wire.FormatPCMU, Output: wire.FormatPCM})
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(len(events[0].(*wire.ConversationItemRetrieved).Item.Content[0].Audio)).To(gomega.BeNumerically("<=", len(pcm)))
}

func TestNoAudioIsKeptForADataChannel(t *testing.T) {
	r := begin(t, "")
	r.g.Expect(r.audio(r.said("u", 1))).To(gomega.BeEmpty())
	r.g.Expect(r.audio(r.answered("One."))).To(gomega.BeEmpty())
}

// Of a long conversation only the newest audio is kept.
func TestKeptAudioIsLimited(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	one, two, three := r.said("1", 12), r.said("2", 12), r.said("3", 12)
	r.g.Expect(r.audio(one)).To(gomega.BeEmpty())
	r.g.Expect(r.audio(two)).To(gomega.HaveLen(48 * 12_000))
	r.g.Expect(r.audio(three)).To(gomega.HaveLen(48 * 12_000))
	long := r.said("4", 16)
	r.g.Expect(r.audio(long)).To(gomega.BeEmpty(), "an item comes with all of its audio or none")
	r.g.Expect(r.audio(two)).To(gomega.BeEmpty())
	r.g.Expect(r.audio(three)).NotTo(gomega.BeEmpty())
	kept := 0
	for _, it := range r.items {
		kept += len(it.pcm)
	}
	r.g.Expect(kept).To(gomega.BeNumerically("<=", maxKept))
}

// An item whose audio was dropped has no audio again; an item that gets audio now keeps it, however old the item is.
func TestAudioThatWasDroppedStaysDropped(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	old, agent := r.said("1", 1), r.answered("One.")
	r.said("2", 15)
	r.said("3", 14)
	r.g.Expect(old.pcm).To(gomega.BeEmpty())
	r.SetRecording(old, make([]int16, second))
	r.g.Expect(old.pcm).To(gomega.BeEmpty())
	r.AddAudio(agent, make([]int16, second))
	r.g.Expect(agent.pcm).To(gomega.HaveLen(2 * int(second)))
}

// The beginning of a long item is kept, so that its audio is whole again after a truncation.
func TestALongItemHasItsAudioAgainWhenItIsCut(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	agent := r.answered(make([]string, 20)...)
	r.g.Expect(r.audio(agent)).To(gomega.BeEmpty())
	r.Cut(agent, 14_000)
	r.g.Expect(r.audio(agent)).To(gomega.HaveLen(14_000 * 48))
}

func TestRetrievedAudioFitsIntoAnEvent(t *testing.T) {
	c := &wire.Content{Type: wire.ContentOutputAudio, Audio: make([]byte, 2*maxKeptItem)}
	text := wire.AppendServer(nil, &wire.ConversationItemRetrieved{Item: wire.Item{Type: wire.ItemMessage, Content: []wire.Content{*c}}})
	gomega.NewWithT(t).Expect(len(text)).To(gomega.BeNumerically("<", 1<<20))
}

func TestTruncate(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	agent := r.answered("One two. ", "Three four.")
	cut := func(ms, part int) (*wire.ConversationItemTruncate, voice.Samples) {
		return &wire.ConversationItemTruncate{ItemID: "a", ContentIndex: part, AudioEndMS: ms}, agent.Length()
	}
	refuses := func(ms, part int, param string) {
		t.Helper()
		e, sent := cut(ms, part)
		_, refused := r.Truncate(agent, e, sent)
		r.refused(refused, "invalid_value", param)
	}
	refuses(0, 1, "content_index")
	refuses(-1, 0, "audio_end_ms")
	refuses(2002, 0, "audio_end_ms")
	e, _ := cut(1000, 0)
	_, refused := r.Truncate(agent, e, second/2)
	r.refused(refused, "invalid_value", "audio_end_ms")
	r.g.Expect(refused.Message).To(gomega.Equal("Audio content of 500ms is already shorter than 1000ms"))

	e, sent := cut(1600, 0)
	events, refused := r.Truncate(agent, e, sent)
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(events).To(gomega.Equal([]wire.ServerEvent{&wire.ConversationItemTruncated{ItemID: "a", AudioEndMS: 1600}}))
	r.g.Expect(agent.Status).To(gomega.Equal("incomplete"))
	r.g.Expect(agent.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("One two. Three")))
	r.g.Expect(agent.Length()).To(gomega.Equal(second * 16 / 10))
	r.AddAudio(agent, make([]int16, second))
	r.g.Expect(agent.Length()).To(gomega.Equal(second*16/10), "what its response still makes is not counted")
	r.g.Expect(agent.HeardText()).To(gomega.Equal("One two. Three"))
	refuses(1700, 0, "audio_end_ms")

	typed := r.note("hi")
	_, refused = r.Truncate(typed, &wire.ConversationItemTruncate{ItemID: typed.ID}, 0)
	r.refused(refused, "unsupported_content_type", "item_id")
}

// A client rounds to milliseconds. A truncation one millisecond after the end removes nothing.
func TestTruncateAtTheEnd(t *testing.T) {
	r := begin(t, "")
	agent := r.answered("One two. ", "Three four.")
	_, refused := r.Truncate(agent, &wire.ConversationItemTruncate{ItemID: "a", AudioEndMS: 2001}, agent.Length())
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(agent.Length()).To(gomega.Equal(2 * second))
	r.Cut(agent, 500)
	r.g.Expect(agent.HeardText()).To(gomega.Equal("One"))
	r.Cut(agent, 2000)
	r.g.Expect(agent.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("One")), "what was cut off does not come back")
	r.g.Expect(agent.Length()).To(gomega.Equal(second / 2))
}

// Audio that was not sent to a client is removed from the item's length: the client cannot truncate there.
func TestTakeBack(t *testing.T) {
	r := begin(t, "")
	agent := r.answered("One.", "Two.")
	agent.TakeBack(second)
	r.g.Expect(agent.Length()).To(gomega.Equal(second))
	agent.TakeBack(5 * second)
	r.g.Expect(agent.Length()).To(gomega.Equal(second))
}

// An item of an out-of-band response is cut like others, and the conversation does not change.
func TestAnOutOfBandItemIsInNoConversation(t *testing.T) {
	r := begin(t, "")
	r.KeepAudio()
	it := NewItem(wire.Item{ID: "x", Type: wire.ItemMessage, Role: "assistant"})
	n := it.AddClause("One.")
	it.SpokenClause(n, 0, second)
	r.AddAudio(it, make([]int16, second))
	r.g.Expect(it.Length()).To(gomega.Equal(second))
	r.g.Expect(it.pcm).To(gomega.BeEmpty())
	r.g.Expect(it.Num()).To(gomega.BeZero())
	r.g.Expect(r.Cut(it, 0)).To(gomega.BeEmpty())
	r.g.Expect(it.Cut()).To(gomega.BeTrue())
	r.g.Expect(r.Done(it)).To(gomega.BeEmpty())
	r.g.Expect(r.Find("x")).To(gomega.BeNil())
}
