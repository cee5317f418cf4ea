// Package survival lets a call outlive its session and its process: after each event a Survival gives the journal what has changed, and a session that goes on with a call
// ends what the session before has begun, and begins the response that goes on with an interrupted answer.
//
// A Survival belongs to the session's goroutine. Files: survival.go (what the journal gets), goon.go (a session that goes on), going.go (which answer goes
// on), taken.go (events that a client sends
// again).
package survival

import (
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// Journal keeps what another process needs in order to go on with the session. A journal.Writer is one.
type Journal interface {
	// Epoch is that of this process: it grows with each process that takes the session over.
	Epoch() uint32
	// Record takes what has changed. It does not wait, and keeps r.
	Record(r journal.Record)
}

const (
	// heardEvery is how often the journal learns how far the agent's audio was heard while it plays. So much of it may be said again.
	heardEvery = 500 * time.Millisecond
	// keptBeforeHello is how many events are kept for the first record. Nothing is journalled before the client says that it can reconnect.
	keptBeforeHello = 16
)

// Parts are what a Survival works with. The rooms belong to the session's goroutine, as the Survival does.
type Parts struct {
	Env env.Env
	Log *slog.Logger
	// Journal keeps the call; nil: it is not journalled. Call says whose call it is.
	Journal Journal
	Call    journal.Call
	// Restored is what the journal knows of a call with which the session goes on; nil begins one.
	Restored *journal.State
	// Reconnects reports that the client can come back over another connection. Nothing is journalled before.
	Reconnects   *atomic.Bool
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	Generator    *speaking.Generator
	Player       *speaking.Player
	Runs         *runs.Runs
	// Trace sees every step of the machine; nil for none. Broken is called with an invariant that does not hold, where they are checked; nil where they are not.
	Trace  func(name string, step coord.Step)
	Broken func(invariant, event string)
}

// Survival has what a session needs in order to go on in another process, and what the journal does not know yet. See the package comment.
type Survival struct {
	Parts
	begun  bool   // the first record is given
	newest uint64 // the number of the newest numbered event
	events []journal.Event
	open   journal.Open
	known  known
	taken  string // the event_id of the client's last event
	sent   takenEvents

	settings bool // they have changed
	touched  bool // something may have changed
	ended    bool // the end of the session is recorded
	opened   bool // the session has opened
	moving   bool // another session goes on with the call: how this one ends concerns nobody
	fresh    bool // the session goes on with a call whose former session was nearly over

	going going
}

// known is what the journal knows.
type known struct {
	open    journal.Open
	answer  journal.Answer
	heard   time.Time
	client  journal.Client
	summary string
}

// New returns the Survival of a session that has not begun.
func New(p Parts) *Survival {
	return &Survival{Parts: p, going: going{state: continuation.Quiet{}, answers: map[uint32]journal.Answer{}}}
}

// Survives reports whether another process can go on with the session after the end of this one.
func (s *Survival) Survives() bool { return s.Journal != nil && s.begun && !s.ended }

// passing reports whether an event is lost with its process: it has no meaning after another event, such as response.done, or none for a client that has
// reconnected.
func passing(name string) bool {
	switch name {
	case "antiphon.barge_in.rejected", "antiphon.turn.metrics", "antiphon.response.progress", "antiphon.input.sounds", "antiphon.input.words":
		return true
	}
	return name == movingEvent || strings.HasSuffix(name, ".delta")
}

// movingEvent is the last event of this session to a client whose call goes on in another one, which must not send it again.
const movingEvent = "antiphon.session.moving"

// Leaves reports whether another session goes on with the call, so that no event is sent any more. next is the type of the event that is about to be sent.
func (s *Survival) Leaves(next string) bool {
	left := s.moving
	s.moving = left || next == movingEvent
	return left
}

// Number gives an event of a journalled session its id, and returns its number; 0 for an event that is lost with its process. ok is false, and the event has no id, if
// the session is not journalled.
func (s *Survival) Number(e wire.ServerEvent) (number uint64, ok bool) {
	if s.Journal == nil {
		return 0, false
	}
	name := s.Env.NewID("event_")
	if !passing(e.Type()) {
		s.newest++
		number = s.newest
	}
	e.SetID(link.NumberedID(name, s.Journal.Epoch(), s.newest))
	return number, true
}

// Sends notes a numbered event that is about to be sent to the client.
func (s *Survival) Sends(e wire.ServerEvent, encoded link.Event) {
	s.events = append(s.events, journal.Event{ID: encoded.ID, Type: encoded.Type, Text: encoded.Text, Number: encoded.Number})
	if !s.begun && len(s.events) > keptBeforeHello {
		s.events = slices.Delete(s.events, 0, 1)
	}
	s.touched = true
	s.follow(e)
}

// follow notes what an event begins and ends for the client.
func (s *Survival) follow(e wire.ServerEvent) {
	o := &s.open
	switch e := e.(type) {
	case *wire.SessionUpdated:
		s.settings = true
	case *wire.ResponseCreated:
		o.Responses = append(slices.Clone(o.Responses), journal.Response{Response: e.Response})
		if e.Response.ConversationID != nil {
			s.created(e.Response.ID)
		}
	case *wire.ResponseOutputItemAdded:
		s.item(e.ResponseID, e.Item.ID, func(it *journal.OpenItem) { it.Index, it.Kind = e.OutputIndex, e.Item.Type })
	case *wire.ResponseContentPartAdded:
		s.item(e.ResponseID, e.ItemID, func(it *journal.OpenItem) { it.Part = e.Part.Type })
	case *wire.ResponseOutputItemDone:
		s.item(e.ResponseID, e.Item.ID, func(it *journal.OpenItem) { it.Done = true })
		if e.ResponseID == s.going.kept().Response && e.Item.Type == wire.ItemFunctionCall && e.Item.Status == "completed" {
			s.step(continuation.Called{}, nil)
		}
	case *wire.ResponseDone:
		if d := e.Response.StatusDetails; e.Response.ID == s.going.kept().Response && d != nil && d.Error == nil && d.Type == "cancelled" {
			s.step(continuation.Cancelled{}, nil)
		}
		o.Responses = slices.DeleteFunc(slices.Clone(o.Responses), func(x journal.Response) bool { return x.Response.ID == e.Response.ID })
	case *wire.OutputAudioBufferStarted:
		o.Playing = e.ResponseID
	case *wire.OutputAudioBufferStopped:
		o.Playing = ""
	case *wire.OutputAudioBufferCleared:
		o.Playing = ""
	case *wire.InputAudioBufferSpeechStarted:
		o.Speech = e.ItemID
	case *wire.InputAudioBufferCommitted:
		o.Speech = ""
		s.going.turned = true
	case *wire.InputAudioBufferCleared:
		o.Speech = ""
	}
}

// item changes what is known of an output item of an open response.
func (s *Survival) item(of, name string, change func(*journal.OpenItem)) {
	s.open.Responses = slices.Clone(s.open.Responses)
	for i := range s.open.Responses {
		resp := &s.open.Responses[i]
		if resp.Response.ID != of {
			continue
		}
		resp.Items = slices.Clone(resp.Items)
		at := slices.IndexFunc(resp.Items, func(it journal.OpenItem) bool { return it.Item == name })
		if at < 0 {
			at = len(resp.Items)
			resp.Items = append(resp.Items, journal.OpenItem{Item: name})
		}
		change(&resp.Items[at])
	}
}

// Touch notes that something other than an event may have changed.
func (s *Survival) Touch() { s.touched = true }

// Record gives the journal what has changed. The actor calls it after every event. m is the state of the machines. buffered: the client has sent audio that it has
// to commit.
func (s *Survival) Record(m *coord.State, buffered bool) {
	if s.Restored != nil && !s.opened {
		return // the journal has what the session before has begun
	}
	s.open.Buffered = buffered
	if s.Journal == nil || s.ended || s.moving || !s.Reconnects.Load() {
		return
	}
	at, heard := s.heard(m)
	if !s.touched && !heard && s.begun && s.open.Buffered == s.known.open.Buffered {
		return
	}
	s.touched = false
	if !s.begun {
		s.begun = true
		s.Journal.Record(journal.Record{State: s.wholeState(m)})
		return
	}
	var change journal.Record
	change.Events, s.events = s.events, nil
	change.Items, change.Removed = s.Conversation.Changes()
	if client := s.Settings.Client; client != s.known.client {
		s.known.client, change.Client = client, &client
	}
	if summary := s.Conversation.Summary(); summary != s.known.summary {
		s.known.summary, change.Summary = summary, &summary
	}
	if s.settings {
		set := s.Settings.Current()
		s.settings, change.Settings = false, &set
	}
	if open := s.openNow(at, m); heard || !sameOpen(&s.known.open, &open) {
		s.known.open, change.Open = open, &open
	}
	if answer := s.going.kept(); answer != s.known.answer {
		s.known.answer, change.Answer = answer, &answer
	}
	change.Runs = s.Runs.Changed()
	if len(change.Events)+len(change.Items)+len(change.Removed) == 0 && change.Client == nil && change.Summary == nil && change.Settings == nil && change.Open == nil && change.Answer == nil && change.Runs == nil {
		return // what the client has said since changes nothing: it says it again
	}
	if heard {
		s.known.heard = s.Env.Now()
	}
	change.Last = s.Conversation.Newest()
	if !s.Runs.Acting() {
		change.Taken, change.Sent = s.taken, s.sent.unrecorded()
	}
	s.Journal.Record(change)
}

// sameOpen reports whether the journal need not learn of a change.
func sameOpen(a, b *journal.Open) bool {
	return a.Playing == b.Playing && a.Speech == b.Speech && a.Buffered == b.Buffered && a.Answering == b.Answering && a.Queued == b.Queued &&
		slices.EqualFunc(a.Responses, b.Responses, func(x, y journal.Response) bool {
			return x.Response.ID == y.Response.ID && slices.Equal(x.Items, y.Items)
		})
}

// openNow returns what has begun for the client and has not ended.
func (s *Survival) openNow(at playout.Position, m *coord.State) journal.Open {
	open := s.open
	_, idle := m.Response.(response.Idle)
	open.Queued = m.Waiting != 0 || s.Runs.Informed()
	open.Answering = !idle || open.Queued || m.Queued != coord.Queue{} || s.Due()
	open.Heard = journal.Heard{Item: uint64(at.Item), MS: at.MS}
	return open
}

// heard returns how far the far end has heard the response on air. due says that the journal is to learn of it.
func (s *Survival) heard(m *coord.State) (at playout.Position, due bool) {
	if _, silent := m.Playout.(playout.Silent); silent {
		return at, false
	}
	return s.Player.ItemPosition(), s.Env.Now().Sub(s.known.heard) >= heardEvery
}

// wholeState returns everything that the journal must know.
func (s *Survival) wholeState(m *coord.State) *journal.State {
	at, _ := s.heard(m)
	s.Conversation.ForgetChanges()
	items, _ := s.Conversation.Changes()
	of := s.Call
	of.Conversation = s.Conversation.ID()
	state := &journal.State{
		Epoch: s.Journal.Epoch(), Call: of, Settings: s.Settings.Current(), Client: s.Settings.Client, Taken: s.taken, Sent: s.sent.unrecorded(), Items: items,
		Last: s.Conversation.Newest(), Summary: s.Conversation.Summary(), Open: s.openNow(at, m), Answer: s.going.kept(), Events: s.events, Base: s.newest - uint64(len(s.events)),
		Runs: s.Runs.Followed(),
	}
	s.events, s.settings = nil, false
	s.known.client, s.known.summary, s.known.open, s.known.answer = state.Client, state.Summary, state.Open, state.Answer
	return state
}

// End records that the call ends. Nobody can go on with it then, unless only its server stops, or it goes on in a fresh session, or its client is lost before a session that goes
// on here opens: such a client comes back.
func (s *Survival) End(why conn.Reason, m *coord.State) {
	s.Record(m, s.open.Buffered)
	comesBack := s.Restored != nil && !s.opened && why == conn.Failed
	if s.Journal == nil || !s.begun || s.ended || why == conn.ServerStops || why == conn.Moves || comesBack {
		return
	}
	s.ended = true
	s.Journal.Record(journal.Record{Ended: true})
}
