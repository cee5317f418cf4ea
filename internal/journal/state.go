package journal

// What the journal knows of a call, and the records that change it.

import (
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of the events that are kept for a client that reconnects.
const (
	maxEvents      = 256
	maxEventsBytes = 512 << 10
)

// MaxSent is how many of the client's newest events the journal knows.
const MaxSent = 512

// Call says whose call it is, and how it began. It does not change.
type Call struct {
	ID           string // the call id
	Conversation string // the conversation's id
	Principal    string
	Secret       string   // the client secret that began the call, as its server names it; "" for an API key
	Locks        []string // the settings that the client may not change
	WebRTC       bool     // the transport is WebRTC, and not a WebSocket
	Began        int64    // seconds since 1970
}

// End returns when the call ends at the latest if it may last for longest, with all its sessions: in seconds since 1970.
func (c *Call) End(longest time.Duration) int64 { return c.Began + int64(longest.Seconds()) }

// Client is what the session knows of its client.
type Client struct {
	Extended bool // it knows our extensions
	Metrics  bool
	Sounds   bool
	Reports  bool // it predicts barge-ins
	TakeBack bool // it wants ends of turns taken back
	Words    bool // it wants the times of words
	TimeZone string
}

// Sent is an event of the client. ID and Text recognise its event_id and its text: they are the first 8 bytes of their SHA-256 hashes.
type Sent struct {
	ID     uint64 `json:"i"`
	Text   uint64 `json:"t"`
	Reused bool   `json:"r,omitempty"` // the event_id names several events
}

// Item is one item of the conversation. Its audio is left out.
type Item struct {
	Num        uint64 // the number of the item, which no other item of the call has
	After      uint64 // the number of the item before it; 0 for none. It counts for a new item only
	Item       wire.Item
	Clauses    []Clause // the alignment of a spoken message of the assistant
	Spoken     bool     // it has an alignment, which may be empty
	Length     int64    // how much audio it has, in samples at 24 kHz
	Cut        bool
	Pending    bool // its transcript is awaited
	Running    bool // the tool of the server that it calls runs
	Summarised bool
	Left       bool // it is left out of what the model reads
}

// Clause is one clause of a spoken message, and where its audio is in the item: samples at 24 kHz, negative for none.
type Clause struct {
	Text     string
	From, To int64
	Done     bool
}

// Event is an event of the server, for a client that reconnects.
type Event struct {
	ID     string
	Type   string
	Text   []byte
	Number uint64 // events of a call have the numbers 1, 2, 3, …
}

// State is everything that the journal knows of a call.
type State struct {
	Epoch    uint32 // it grows with each owner
	Call     Call
	Settings wire.Session
	Client   Client
	Taken    string // the event_id of the client's last event that the session has accepted
	Sent     []Sent // the newest events with an event_id that the session has accepted, the oldest first, at most MaxSent
	Items    []Item // in the order of the conversation
	Last     uint64 // the number of the newest item, also of one that is deleted
	Summary  string
	Open     Open
	Answer   Answer
	Runs     []Run // the runs that the session follows
	// Events are the newest events, the oldest first. All events after the number Base are there.
	Events []Event
	Base   uint64
	Ended  bool // the call has ended in order: nobody can go on with it
}

// Run is a run that the session follows, and how far: the numbers of the newest message that the client was told, and of the newest that the model knows.
type Run struct {
	ID         string
	Told, Read uint64
}

// Open is what has begun for the client and has not ended.
type Open struct {
	Responses []Response // responses that were created and are not done
	Playing   string     // the response whose audio plays over WebRTC; "" for none
	Speech    string     // the item of the user's turn that has begun and is not committed; "" for none
	Buffered  bool       // the client has sent audio that it has to commit
	Answering bool       // a response of the conversation is due or under way
	Queued    bool       // a response of the conversation is due, and not under way
	Heard     Heard
}

// Answer is what goes on after a kill: the newest response of the conversation, as a rule. The zero value is of a version that has not kept it.
type Answer struct {
	Response string               // its id; "" if none has begun
	Asked    *wire.ResponseParams // what the client has asked for; nil for an answer to a turn
	Over     bool                 // nothing goes on, and the other fields are zero
	Due      bool                 // a kill has cut it off already, and it has not gone on
	Heard    bool                 // then the user has heard the beginning of an answer
}

// Response is a response that the client knows of.
type Response struct {
	Response wire.Response
	Items    []OpenItem // the items that were added
}

// OpenItem is an output item of an open response.
type OpenItem struct {
	Item  string
	Index int
	Kind  string // the type of the item
	Done  bool
	Part  string // the type of its content part that was added: "audio" or "text"; "" for none
}

// Heard is how far the far end has heard an item.
type Heard struct {
	Item uint64
	MS   uint32
}

// Record is what has changed since the record before. A field that has not changed is zero.
type Record struct {
	State    *State // replaces everything
	Claimed  uint32 // the epoch of a new owner
	Mark     string `json:",omitempty"` // of the claim: no other one has it
	Ended    bool   // the call has ended in order
	Settings *wire.Session
	Client   *Client
	Taken    string
	Sent     []Sent // added or changed
	Items    []Item // added or changed
	Removed  []uint64
	Last     uint64
	Summary  *string
	Open     *Open
	Answer   *Answer
	Runs     *[]Run
	Events   []Event
}

// changesNothing reports whether a record says at most that the call has ended.
func (r *Record) changesNothing() bool {
	return r.State == nil && r.Claimed == 0 && r.Settings == nil && r.Client == nil && r.Taken == "" && len(r.Sent) == 0 && len(r.Items) == 0 && len(r.Removed) == 0 &&
		r.Last == 0 && r.Summary == nil && r.Open == nil && r.Answer == nil && r.Runs == nil && len(r.Events) == 0
}

// Apply changes the state by a record. The state shares the record's slices and texts.
func (s *State) Apply(r Record) {
	if r.State != nil {
		*s = *r.State
		s.Items, s.Events, s.Sent = slices.Clone(s.Items), slices.Clone(s.Events), slices.Clone(s.Sent)
	}
	s.Epoch, s.Ended = max(s.Epoch, r.Claimed), s.Ended || r.Ended
	if r.Settings != nil {
		s.Settings = *r.Settings
	}
	if r.Client != nil {
		s.Client = *r.Client
	}
	if r.Taken != "" {
		s.Taken = r.Taken
	}
	for _, e := range r.Sent {
		s.send(e)
	}
	s.Items = slices.DeleteFunc(s.Items, func(it Item) bool { return slices.Contains(r.Removed, it.Num) })
	for _, it := range r.Items {
		s.put(it)
	}
	s.Last = max(s.Last, r.Last)
	if r.Summary != nil {
		s.Summary = *r.Summary
	}
	if r.Open != nil {
		s.Open = *r.Open
	}
	if r.Answer != nil {
		s.Answer = *r.Answer
	}
	if r.Runs != nil {
		s.Runs = *r.Runs
	}
	s.Events = append(s.Events, r.Events...)
	s.forgetEvents()
}

// send replaces an event of the client, or adds a new one. It forgets the oldest one above the limit.
func (s *State) send(e Sent) {
	if i := slices.IndexFunc(s.Sent, func(known Sent) bool { return known.ID == e.ID }); i >= 0 {
		s.Sent[i] = e
		return
	}
	if len(s.Sent) == MaxSent {
		s.Sent = slices.Delete(s.Sent, 0, 1)
	}
	s.Sent = append(s.Sent, e)
}

// put replaces an item, or inserts a new one.
func (s *State) put(it Item) {
	if i := s.index(it.Num); i >= 0 {
		s.Items[i] = it
		return
	}
	s.Items = slices.Insert(s.Items, s.index(it.After)+1, it)
}

// index returns where the item with that number is; -1 for none.
func (s *State) index(num uint64) int {
	return slices.IndexFunc(s.Items, func(it Item) bool { return it.Num == num })
}

// forgetEvents drops the oldest events above the limits.
func (s *State) forgetEvents() {
	bytes, n := 0, len(s.Events)
	for n > 0 && len(s.Events)-n < maxEvents && bytes+len(s.Events[n-1].Text) <= maxEventsBytes {
		n--
		bytes += len(s.Events[n].Text)
	}
	if n > 0 {
		s.Base = s.Events[n-1].Number
		s.Events = slices.Delete(s.Events, 0, n)
	}
}

// Newest returns the number of the newest event.
func (s *State) Newest() uint64 {
	if n := len(s.Events); n > 0 {
		return s.Events[n-1].Number
	}
	return s.Base
}

// least returns how many bytes the texts of the items have. The stored State has more.
func (s *State) least() (n int) {
	for i := range s.Items {
		it := &s.Items[i].Item
		n += len(it.Arguments) + len(it.Output)
		for _, c := range it.Content {
			n += len(c.Text) + len(c.ImageURL)
		}
	}
	return n
}

// clone returns a copy that Apply of the original does not change.
func (s *State) clone() *State {
	c := *s
	c.Items, c.Events, c.Sent = slices.Clone(s.Items), slices.Clone(s.Events), slices.Clone(s.Sent)
	return &c
}
