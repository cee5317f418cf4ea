package speaking

// A Response: its fields, grouped by the part of the response that they belong to.

import (
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Response is one response, in the conversation or out of band: its state, and the items that it has begun.
type Response struct {
	id      response.ID
	object  wire.Response // the response object as the client sees it
	request *wire.ResponseParams
	turn    *room.Timing // the turn that the response answers; nil for a client's request
	says    string       // what it says, in place of the model; "" lets the model write it
	state   generation.State
	status  response.Status // the status in the terminal event, once it is announced
	own     *outOfBand      // the machines of an out-of-band response; nil where the session's serve
	body    *body           // nil until it runs or is refused
	track   *Track

	spoken bool // it is audio with a transcript; else text
	single bool // it may call one tool only
	cut    bool // its items were truncated
	// progress is what the client was told of the model before its first word: "loading", "thinking", or nothing.
	progress string
	text     text
	tools    toolSteps
	cost     cost
}

// text is the text of a response, and how much of it the synthesizer has got.
type text struct {
	message  *outputItem         // the open message, nil when none is open
	calls    map[int]*outputItem // tool calls by the model's index
	items    []*outputItem
	splitter *pipeline.Clauses
	clauses  uint32                     // how many the synthesizer was given
	saying   map[uint32]synthesizedPart // the clauses whose audio is not complete
}

// cost has the tokens of a response, and the errors of its stages.
type cost struct {
	usage    pipeline.Usage
	counted  bool // the model has reported its tokens
	prompt   int  // the tokens of what the model was asked; a response that was refused has asked nothing
	textErr  error
	voiceErr error
}

// outputItem is one item of a response.
type outputItem struct {
	item  *conversation.Item
	index int
	start voice.Samples // where its audio begins in the track
	said  int           // how many characters of its text the synthesizer has spoken
	text  strings.Builder
	split string // the first bytes of a character whose rest the model has not written yet
	done  bool
	// running: the tool that it calls runs, or waits for approval.
	running bool
	remote  *remoteCall // nil if it calls no remote tool
}

// synthesizedPart is a clause that the synthesizer has got.
type synthesizedPart struct {
	item   *outputItem
	span   int // the index in the alignment of item
	text   string
	sounds sounding
}

// ID returns the id that the state machines use.
func (r *Response) ID() response.ID { return r.id }

// Name returns the response's id for the client, such as "resp_…".
func (r *Response) Name() string { return r.object.ID }

// Track returns the response's audio.
func (r *Response) Track() *Track { return r.track }

// Turn returns the user turn that the response answers, nil for a client's request.
func (r *Response) Turn() *room.Timing { return r.turn }

// OutOfBand reports whether the response is outside the conversation.
func (r *Response) OutOfBand() bool { return r.own != nil }

func (r *Response) closed() bool { return generation.Closed(r.state) }

// lastMessage returns the message that the newest audio belongs to, nil for none.
func (r *Response) lastMessage() *outputItem {
	for i := len(r.text.items) - 1; i >= 0; i-- {
		if r.text.items[i].item.Type == wire.ItemMessage {
			return r.text.items[i]
		}
	}
	return nil
}

// asks reports whether the last message of r ends with a question.
func (r *Response) asks() bool {
	last := r.lastMessage()
	return last != nil && strings.HasSuffix(strings.TrimRight(last.text.String(), " \t\n\"'”’)"), "?")
}

// LostWords reports whether a message of r has fewer words than were said, because the client has not played them.
func (r *Response) LostWords() bool {
	return r.spoken && slices.ContainsFunc(r.text.items, func(o *outputItem) bool {
		return o.item.Cut() && strings.TrimSpace(o.item.HeardText()) != strings.TrimSpace(o.text.String())
	})
}

// has returns the output item of r for the item it; nil for none.
func (r *Response) has(it *conversation.Item) *outputItem {
	for _, o := range r.text.items {
		if o.item == it {
			return o
		}
	}
	return nil
}
