package once

// The record of one key in the store: the machine's state, the events of the write that stored it, and the response.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/steps"
)

// record is what the store has of one key.
type record struct {
	State  idempotency.State
	Events []idempotency.Event // those of the write that stored it; a renewal of a lease has none
	Node   string              // the process that holds the lock
	Answer *answer             // of Cached

	written time.Time // by the store's clock
}

// answer is a response of the service, as it is stored.
type answer struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Pieces int         `json:"pieces,omitempty"` // how many pieces of the body the other bucket has; 0: the record has the body
	Body   []byte      `json:"-"`
}

// fields has the fields of any state and of any event.
type fields struct {
	Name     string               `json:"name"`
	Try      idempotency.Try      `json:"try,omitempty"`
	Lease    idempotency.Lease    `json:"lease,omitempty"`
	Payload  idempotency.Payload  `json:"payload,omitempty"`
	Response idempotency.Response `json:"response,omitempty"`
	Sent     bool                 `json:"sent,omitempty"`
	Safe     bool                 `json:"safe,omitempty"`
}

// head is the first line of a stored record. The body of the response follows it.
type head struct {
	State  fields   `json:"state"`
	Events []fields `json:"events,omitempty"`
	Node   string   `json:"node,omitempty"`
	Answer *answer  `json:"answer,omitempty"`
}

// encode returns the stored form of a record.
func (r record) encode() ([]byte, error) {
	h := head{State: states.Of(r.State), Node: r.Node, Answer: r.Answer}
	for _, e := range r.Events {
		h.Events = append(h.Events, events.Of(e))
	}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	if r.Answer != nil && r.Answer.Pieces == 0 {
		line = append(line, r.Answer.Body...)
	}
	return line, nil
}

// errRecord: the store has something that this package has not written.
var errRecord = errors.New("a stored record cannot be read")

// decode reads the stored form of a record. A key that the store does not have is Free.
func decode(v steps.Version) (r record, state idempotency.State, err error) {
	if v.Revision == 0 {
		return record{State: idempotency.Free{}}, idempotency.Free{}, nil
	}
	line, body, found := bytes.Cut(v.Value, []byte("\n"))
	var h head
	if err := json.Unmarshal(line, &h); err != nil || !found {
		return r, nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	r.Node, r.Answer, r.written = h.Node, h.Answer, v.Written
	if r.Answer != nil && r.Answer.Pieces == 0 {
		r.Answer.Body = body
	}
	var ok bool
	if r.State, ok = states.Back(&h.State); !ok {
		return r, nil, fmt.Errorf("%w: it has the state %q", errRecord, h.State.Name)
	}
	for i := range h.Events {
		e, ok := events.Back(&h.Events[i])
		if !ok {
			return r, nil, fmt.Errorf("%w: it has the event %q", errRecord, h.Events[i].Name)
		}
		r.Events = append(r.Events, e)
	}
	return r, r.State, nil
}

// All states and events of the machine.
var (
	states = steps.NewFlat[idempotency.State, fields](idempotency.Free{}, idempotency.Locked{}, idempotency.Cached{}, idempotency.Unknown{})
	events = steps.NewFlat[idempotency.Event, fields](idempotency.Check{}, idempotency.Sending{}, idempotency.Processed{}, idempotency.GaveUp{}, idempotency.LeaseExpired{})
)
