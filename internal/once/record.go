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
	h := head{State: stateFields(r.State), Node: r.Node, Answer: r.Answer}
	for _, e := range r.Events {
		h.Events = append(h.Events, eventFields(e))
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

// decode reads the stored form of a record.
func decode(data []byte) (r record, err error) {
	line, body, found := bytes.Cut(data, []byte("\n"))
	var h head
	if err := json.Unmarshal(line, &h); err != nil || !found {
		return r, fmt.Errorf("%w: %w", errRecord, err)
	}
	r.Node, r.Answer = h.Node, h.Answer
	if r.Answer != nil && r.Answer.Pieces == 0 {
		r.Answer.Body = body
	}
	if r.State, err = h.State.state(); err != nil {
		return r, err
	}
	for _, f := range h.Events {
		e, err := f.event()
		if err != nil {
			return r, err
		}
		r.Events = append(r.Events, e)
	}
	return r, nil
}

func stateFields(s idempotency.State) fields {
	f := fields{Name: s.Name()}
	switch s := s.(type) {
	case idempotency.Free:
		f.Lease, f.Payload = s.Lease, s.Payload
	case idempotency.Locked:
		f.Try, f.Lease, f.Payload, f.Sent, f.Safe = s.Try, s.Lease, s.Payload, s.Sent, s.Safe
	case idempotency.Cached:
		f.Response, f.Payload = s.Response, s.Payload
	case idempotency.Unknown:
		f.Try, f.Payload = s.Try, s.Payload
	}
	return f
}

func (f fields) state() (idempotency.State, error) {
	for _, s := range []idempotency.State{
		idempotency.Free{Lease: f.Lease, Payload: f.Payload},
		idempotency.Locked{Try: f.Try, Lease: f.Lease, Payload: f.Payload, Sent: f.Sent, Safe: f.Safe},
		idempotency.Cached{Response: f.Response, Payload: f.Payload},
		idempotency.Unknown{Try: f.Try, Payload: f.Payload},
	} {
		if s.Name() == f.Name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: it has the state %q", errRecord, f.Name)
}

func eventFields(e idempotency.Event) fields {
	f := fields{Name: e.Name()}
	switch e := e.(type) {
	case idempotency.Check:
		f.Try, f.Payload, f.Safe = e.Try, e.Payload, e.Safe
	case idempotency.Sending:
		f.Try = e.Try
	case idempotency.Processed:
		f.Try, f.Response = e.Try, e.Response
	case idempotency.GaveUp:
		f.Try = e.Try
	case idempotency.LeaseExpired:
		f.Lease = e.Lease
	}
	return f
}

func (f fields) event() (idempotency.Event, error) {
	for _, e := range []idempotency.Event{
		idempotency.Check{Try: f.Try, Payload: f.Payload, Safe: f.Safe},
		idempotency.Sending{Try: f.Try},
		idempotency.Processed{Try: f.Try, Response: f.Response},
		idempotency.GaveUp{Try: f.Try},
		idempotency.LeaseExpired{Lease: f.Lease},
	} {
		if e.Name() == f.Name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%w: it has the event %q", errRecord, f.Name)
}
