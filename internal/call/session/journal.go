package session

// The journal of a session: after each event, the actor gives away what has changed, so that another process can go on with the call.

import (
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/link"
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

// survival has what a session needs in order to go on in another process.
type survival struct {
	recorder     recorder
	continuation continuation
	fresh        bool // the session goes on with a call whose former session was nearly over
}

// recorder has what the journal does not know yet. It belongs to the actor.
type recorder struct {
	to     Journal // nil: the session is not journalled
	begun  bool    // the first record is given
	newest uint64  // the number of the newest numbered event
	events []journal.Event
	open   journal.Open
	known  struct {
		open    journal.Open
		heard   time.Time
		client  journal.Client
		taken   string
		summary string
	}
	settings bool // they have changed
	touched  bool // something may have changed
	ended    bool // the end of the session is recorded
	opened   bool // the session has opened
	moving   bool // another session goes on with the call: how this one ends concerns nobody
}

// survives reports whether another process can go on with the session after the end of this one.
func (r *recorder) survives() bool { return r.to != nil && r.begun && !r.ended }

// passing reports whether an event is lost with its process: it has no meaning after another event, such as response.done, or none for a client that has
// reconnected.
func passing(name string) bool {
	switch name {
	case "antiphon.barge_in.rejected", "antiphon.turn.metrics", "antiphon.response.progress", "antiphon.input.sounds":
		return true
	}
	return name == movingEvent || strings.HasSuffix(name, ".delta")
}

// movingEvent is the last event of this session to a client whose call goes on in another one, which must not send it again.
const movingEvent = "antiphon.session.moving"

// number gives an event of a journalled session its id, and returns its number; 0 for an event that is lost with its process.
func (r *recorder) number(e wire.ServerEvent, name string) uint64 {
	number := uint64(0)
	if !passing(e.Type()) {
		r.newest++
		number = r.newest
	}
	e.SetID(call.NumberedID(name, r.to.Epoch(), r.newest))
	return number
}

// sends notes an event that is about to be sent to the client.
func (r *recorder) sends(e wire.ServerEvent, encoded call.Event) {
	r.events = append(r.events, journal.Event{ID: encoded.ID, Type: encoded.Type, Text: encoded.Text, Number: encoded.Number})
	if !r.begun && len(r.events) > keptBeforeHello {
		r.events = slices.Delete(r.events, 0, 1)
	}
	r.touched = true
	r.follow(e)
}

// follow notes what an event begins and ends for the client.
func (r *recorder) follow(e wire.ServerEvent) {
	o := &r.open
	switch e := e.(type) {
	case *wire.SessionUpdated:
		r.settings = true
	case *wire.ResponseCreated:
		o.Responses = append(slices.Clone(o.Responses), journal.Response{Response: e.Response})
	case *wire.ResponseOutputItemAdded:
		r.item(e.ResponseID, e.Item.ID, func(it *journal.OpenItem) { it.Index, it.Kind = e.OutputIndex, e.Item.Type })
	case *wire.ResponseContentPartAdded:
		r.item(e.ResponseID, e.ItemID, func(it *journal.OpenItem) { it.Part = e.Part.Type })
	case *wire.ResponseOutputItemDone:
		r.item(e.ResponseID, e.Item.ID, func(it *journal.OpenItem) { it.Done = true })
	case *wire.ResponseDone:
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
	case *wire.InputAudioBufferCleared:
		o.Speech = ""
	}
}

// item changes what is known of an output item of an open response.
func (r *recorder) item(of, name string, change func(*journal.OpenItem)) {
	r.open.Responses = slices.Clone(r.open.Responses)
	for i := range r.open.Responses {
		resp := &r.open.Responses[i]
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

// touch notes that something other than an event may have changed.
func (r *recorder) touch() { r.touched = true }

// journalChanges gives the journal what has changed. The actor calls it after every event.
func (s *Session) journalChanges() {
	r := &s.recorder
	if r.to == nil || r.ended || r.moving || !s.client.Reconnects.Load() {
		return
	}
	at, heard := s.heard()
	if !r.touched && !heard && r.begun {
		return
	}
	r.touched = false
	if !r.begun {
		r.begun = true
		r.to.Record(journal.Record{State: s.wholeState()})
		return
	}
	var change journal.Record
	change.Events, r.events = r.events, nil
	change.Items, change.Removed = s.conversation.Changes()
	if client := s.client.Kept(); client != r.known.client {
		r.known.client, change.Client = client, &client
	}
	if summary := s.conversation.Summary(); summary != r.known.summary {
		r.known.summary, change.Summary = summary, &summary
	}
	if r.settings {
		set := s.settings.Current()
		r.settings, change.Settings = false, &set
	}
	if open := s.openNow(at); heard || !sameOpen(&r.known.open, &open) {
		r.known.open, change.Open = open, &open
	}
	change.Runs = s.runs.followed.changed()
	if len(change.Events)+len(change.Items)+len(change.Removed) == 0 && change.Client == nil && change.Summary == nil && change.Settings == nil && change.Open == nil && change.Runs == nil {
		return // what the client has said since changes nothing: it says it again
	}
	if heard {
		r.known.heard = s.now()
	}
	change.Last = s.conversation.Newest()
	if !s.client.Acting() {
		change.Taken, change.Sent = s.client.Taken(), s.client.SentSince()
	}
	r.to.Record(change)
}

// sameOpen reports whether the journal need not learn of a change.
func sameOpen(a, b *journal.Open) bool {
	return a.Playing == b.Playing && a.Speech == b.Speech && a.Answering == b.Answering &&
		slices.EqualFunc(a.Responses, b.Responses, func(x, y journal.Response) bool {
			return x.Response.ID == y.Response.ID && slices.Equal(x.Items, y.Items)
		})
}

// openNow returns what has begun for the client and has not ended.
func (s *Session) openNow(at playout.Position) journal.Open {
	open := s.recorder.open
	m := &s.machines.state
	_, idle := m.Response.(response.Idle)
	open.Answering = !idle || m.Waiting != 0 || m.Queued != coord.Queue{} || s.runs.informed
	open.Heard = journal.Heard{Item: uint64(at.Item), MS: at.MS}
	return open
}

// heard returns how far the far end has heard the response on air. due says that the journal is to learn of it.
func (s *Session) heard() (at playout.Position, due bool) {
	if _, silent := s.machines.state.Playout.(playout.Silent); silent {
		return at, false
	}
	return s.player.ItemPosition(), s.now().Sub(s.recorder.known.heard) >= heardEvery
}

// wholeState returns everything that the journal must know.
func (s *Session) wholeState() *journal.State {
	r := &s.recorder
	at, _ := s.heard()
	s.conversation.ForgetChanges()
	items, _ := s.conversation.Changes()
	of := s.cfg.Kept.Call
	of.Conversation = s.conversation.ID()
	state := &journal.State{
		Epoch: r.to.Epoch(), Call: of, Settings: s.settings.Current(), Client: s.client.Kept(), Taken: s.client.Taken(), Sent: s.client.SentSince(), Items: items,
		Last: s.conversation.Newest(), Summary: s.conversation.Summary(), Open: s.openNow(at), Events: r.events, Base: r.newest - uint64(len(r.events)),
		Runs: slices.Clone(s.runs.followed.runs),
	}
	s.runs.followed.news = false
	r.events, r.settings = nil, false
	r.known.client, r.known.summary, r.known.open = state.Client, state.Summary, state.Open
	return state
}

// journalEnd records that the call ends. Nobody can go on with it then, unless only its server stops, or it goes on in a fresh session, or its client is lost before a session that goes
// on here opens: such a client comes back.
func (s *Session) journalEnd() {
	s.journalChanges()
	r := &s.recorder
	comesBack := s.cfg.Kept.Restore != nil && !r.opened && s.reason == conn.Failed
	if r.to == nil || !r.begun || r.ended || s.reason == conn.ServerStops || s.reason == conn.Moves || comesBack {
		return
	}
	r.ended = true
	r.to.Record(journal.Record{Ended: true})
}
