package conversation

// One item: its audio, its transcript and the clauses that it is spoken in.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// The protocol's statuses of items.
const (
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusInProgress = "in_progress"
)

// Item is one item of a conversation, or of an out-of-band response.
type Item struct {
	wire.Item
	num     machine.Item
	clauses alignment     // the alignment of a spoken message of the assistant; nil for other items
	length  voice.Samples // how much audio it has, recorded or generated, without audio that was cut off
	cut     bool          // it was truncated; audio that its response still makes is not counted
	silent  bool          // it was truncated because the synthesizer has failed: nobody has interrupted it
	pending bool          // the transcript of its audio is awaited
	running bool          // the tool of the server that it calls runs
	weight  weight
	// summarised: the model reads the summary in place of the item.
	summarised bool
	left       bool // it is left out of the model's input, because the conversation is too long

	pcm    []int16 // its audio from the start, as far as that is kept
	unkept bool    // its audio was dropped to make room; nothing more of it is kept
}

// NewItem returns an item of an out-of-band response: it is in no conversation.
func NewItem(w wire.Item) *Item { return &Item{Item: w} }

// Num returns the item's number, by which the state machines name it. It is 0 for an item of an out-of-band response.
func (it *Item) Num() machine.Item { return it.num }

// Cut reports whether the item was truncated.
func (it *Item) Cut() bool { return it.cut }

// Length returns how much audio the item has, without audio that was cut off.
func (it *Item) Length() voice.Samples { return it.length }

// TakeBack shortens the item's audio to sent: the client will not get the rest.
func (it *Item) TakeBack(sent voice.Samples) { it.length = min(it.length, sent) }

// HeardText returns the part of the transcript that belongs to the item's audio, cut after the last whole word.
func (it *Item) HeardText() string { return it.clauses.heardText(it.length) }

// AwaitTranscript marks the item as one whose transcript is awaited. Responses wait for it.
func (it *Item) AwaitTranscript() { it.pending = true }

// Running reports whether the tool of the server runs that the item calls.
func (it *Item) Running() bool { return it.running }

// Asking reports whether the item is a call of a remote tool that waits for approval.
func (it *Item) Asking() bool {
	return it.Type == wire.ItemMCPCall && it.ApprovalRequestID != "" && !it.running && it.Status == statusInProgress
}

// SetTranscript sets the transcript of the content part with that index and ends the wait for it.
func (it *Item) SetTranscript(part int, text string) {
	it.pending = false
	it.Content = slices.Clone(it.Content)
	it.Content[part].Transcript = &text
}

// AddClause adds a clause that the synthesizer will speak. It returns the clause's index in the item.
func (it *Item) AddClause(text string) int {
	it.clauses = append(it.clauses, span{text: text, from: -1})
	return len(it.clauses) - 1
}

// SpokenClause notes that the synthesizer has made n more samples of a clause. at is where in the item's audio they begin; it counts for the first samples only.
func (it *Item) SpokenClause(clause int, at, n voice.Samples) {
	s := &it.clauses[clause]
	if s.from < 0 {
		s.from, s.to = at, at
	}
	s.to += n
}

// EndClause notes that all audio of a clause is made. at is the end of the item's audio; it counts for a clause without audio only.
func (it *Item) EndClause(clause int, at voice.Samples) {
	it.SpokenClause(clause, at, 0)
	it.clauses[clause].done = true
}

// truncate removes the part of an assistant's message after ms: the audio and its words.
func (it *Item) truncate(ms int) {
	at := voice.SamplesIn(int64(ms), room.OutputRate)
	if it.cut {
		at = min(at, it.length)
	}
	it.cut = true
	heard := it.clauses.heardText(at)
	it.Status = statusIncomplete
	it.Content = []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &heard}}
	it.length = min(it.length, at)
	it.pcm = it.pcm[:min(len(it.pcm), int(at))]
}

// Stop notes that the user interrupted a message in text. The message keeps the text that the client has got, and the model hears of the interruption.
func (it *Item) Stop() { it.cut = true }

// FallSilent notes that the message ends early because the synthesizer has failed, and not because of the user.
func (it *Item) FallSilent() { it.silent = true }

// HideFromModel leaves the item out of the model's input.
func (it *Item) HideFromModel() { it.left = true }
