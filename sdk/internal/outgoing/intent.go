package outgoing

// The intents of events, so that a refusal of the server can be handled.

import "github.com/antiphon-rt/antiphon/coord/view"

// Intent says why an event was sent, so that the session can handle a refusal of the event.
type Intent struct {
	Kind Kind
	Item string   // the item or the run that the event is about; may be empty
	Seq  view.Seq // the input that the event belongs to; 0 for none
}

// Kind is the purpose of an event.
type Kind uint8

// The purposes.
const (
	Configure Kind = iota
	Hello          // a server that does not know the event refuses it
	Cancel
	Clear
	Answer
	Message
	Output
	Retrieve
	Truncate
	Commit
	CarriedOver // an item of a lost conversation, sent to the new one
	Run         // an answer to a run, or its end; item is the run
	Follow      // asks for the messages of a run; item is the run
	Candidate   // an event of barge-in; after a refusal the deadline decides
)

// Intents remembers the intents of the last events that were sent, by event id.
type Intents struct {
	byID  map[string]Intent
	order []string // Invariant: len <= maxIntents.
}

// maxIntents bounds how many sent events are remembered. The refusal of an older event is shown as an error of its own.
const maxIntents = 256

// NewIntents returns intents without an event.
func NewIntents() Intents { return Intents{byID: map[string]Intent{}} }

// Add remembers the intent of an event.
func (p *Intents) Add(id string, in Intent) {
	p.byID[id] = in
	p.order = append(p.order, id)
	if len(p.order) > maxIntents {
		delete(p.byID, p.order[0])
		p.order = p.order[1:]
	}
}

// Of returns the intent of an event, if it is remembered.
func (p *Intents) Of(id string) (in Intent, known bool) {
	in, known = p.byID[id]
	return in, known
}
