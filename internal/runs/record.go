package runs

// An entry of a run's log, as the store has it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// entry is one write to the log of a run. The newest entry has all that the next write needs.
type entry struct {
	Mark  string     `json:"mark"` // no other write has it
	Owner string     `json:"owner,omitempty"`
	At    run.Millis `json:"at"`
	Event *fields    `json:"event,omitempty"` // the event that the machine took; nil where the state stays as it was
	State fields     `json:"state"`

	N        int       `json:"n"`     // the number of the entry, from 1 on
	Bytes    int       `json:"bytes"` // the size of all entries before it
	Seq      uint64    `json:"seq"`   // the number of the newest message
	Said     int       `json:"said,omitempty"`
	Resumed  int       `json:"resumed,omitempty"` // how often the run was taken over
	Messages []Message `json:"messages,omitempty"`

	Begin    *beginning `json:"begin,omitempty"`    // of the first entry
	Step     *step      `json:"step,omitempty"`     // of a turn's step
	Question *question  `json:"question,omitempty"` // the pending question; the entries of a waiting run have it
	Answer   *answer    `json:"answer,omitempty"`   // of an entry with the event Reply or Timeout
	Result   *Result    `json:"result,omitempty"`   // of the last entry

	revision uint64
	written  time.Time // by the store's clock
	length   int       // of the stored text
}

// beginning is what a run begins with.
type beginning struct {
	Tool    string          `json:"tool"`
	Version uint64          `json:"version"` // of the Worker
	Input   json.RawMessage `json:"input"`
	Policy  run.Policy      `json:"policy"`
	Timeout time.Duration   `json:"timeout,omitempty"` // how long a question waits with the policy AutoDecide
}

// step is what became of a step of a turn.
type step struct {
	Name    string          `json:"name"`
	Attempt run.Attempt     `json:"attempt"`
	Begun   bool            `json:"begun,omitempty"` // it is about to be done: until there is another entry, it is not known whether it was
	Failed  string          `json:"failed,omitempty"`
	Output  json.RawMessage `json:"output,omitempty"`
}

// question is a question to the user.
type question struct {
	Name        string          `json:"name"`
	Interaction run.Interaction `json:"interaction"`
	Question
	Asked    run.Millis `json:"asked"`
	Deadline run.Millis `json:"deadline,omitempty"` // when the run goes on without an answer; 0 for never
}

// answer is how a question was resolved.
type answer struct {
	Name string `json:"name"`
	Answer
}

// Result is how a run has ended: Output, or Code and Message.
type Result struct {
	Output  json.RawMessage `json:"output,omitempty"`
	Code    string          `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

// fields has the fields of any state and of any event of the machine.
type fields struct {
	Name        string          `json:"name"`
	Attempt     run.Attempt     `json:"attempt,omitempty"`
	Interaction run.Interaction `json:"interaction,omitempty"` // of a state: Last or Pending
	Resolved    run.Mode        `json:"resolved,omitempty"`
	Session     run.Session     `json:"session,omitempty"`
	Policy      run.Policy      `json:"policy,omitempty"`
	Result      run.Result      `json:"result,omitempty"`
	Seq         run.Seq         `json:"seq,omitempty"`
	At          run.Millis      `json:"at,omitempty"`
}

// errRecord: the store has something that this package has not written.
var errRecord = errors.New("the store has an entry of a run that this program cannot read")

func decode(value []byte) (*entry, error) {
	e := &entry{}
	if err := json.Unmarshal(value, e); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	return e, nil
}

func stateFields(s run.State) fields {
	f := fields{Name: s.Name()}
	switch s := s.(type) {
	case run.Queued:
		f.open(run.Open(s))
	case run.Running:
		f.open(run.Open(s))
	case run.WaitingUser:
		f.Attempt, f.Interaction, f.Session, f.Policy, f.Seq = s.Attempt, s.Pending, s.Session, s.Policy, s.Seq
	case run.Succeeded:
		f.ended(run.Ended(s))
	case run.Failed:
		f.ended(run.Ended(s))
	case run.Canceled:
		f.ended(run.Ended(s))
	}
	return f
}

func (f *fields) open(s run.Open) {
	f.Attempt, f.Interaction, f.Resolved, f.Seq = s.Attempt, s.Last, s.Resolved, s.Seq
}

func (f *fields) ended(s run.Ended) {
	f.Attempt, f.Interaction, f.Resolved, f.Seq, f.Result = s.Attempt, s.Last, s.Resolved, s.Seq, s.Result
}

func (f fields) state() (run.State, error) {
	open := run.Open{Attempt: f.Attempt, Last: f.Interaction, Resolved: f.Resolved, Seq: f.Seq}
	ended := run.Ended{Attempt: f.Attempt, Last: f.Interaction, Resolved: f.Resolved, Seq: f.Seq, Result: f.Result}
	for _, s := range []run.State{
		run.Queued(open), run.Running(open),
		run.WaitingUser{Attempt: f.Attempt, Pending: f.Interaction, Session: f.Session, Policy: f.Policy, Seq: f.Seq},
		run.Succeeded(ended), run.Failed(ended), run.Canceled(ended),
	} {
		if s.Name() == f.Name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w: it has the state %q", errRecord, f.Name)
}

func eventFields(e run.Event) *fields {
	f := &fields{Name: e.Name()}
	switch e := e.(type) {
	case run.TurnStarted:
		f.Attempt, f.At = e.Attempt, e.At
	case run.TurnNeedsInput:
		f.Attempt, f.Interaction, f.Session, f.Policy, f.At = e.Attempt, e.Interaction, e.Session, e.Policy, e.At
	case run.TurnSucceeded:
		f.Attempt, f.Result, f.At = e.Attempt, e.Result, e.At
	case run.TurnFailed:
		f.Attempt, f.Result, f.At = e.Attempt, e.Result, e.At
	case run.Reply:
		f.Interaction, f.At = e.Interaction, e.At
	case run.Timeout:
		f.Interaction, f.At = e.Interaction, e.At
	case run.Cancel:
		f.Result, f.At = e.Result, e.At
	case run.Preserve:
		f.Interaction, f.Session = e.Interaction, e.Session
	case run.Reconcile:
		f.Result, f.At = e.Result, e.At
	case run.Resume:
		f.Attempt = e.Attempt
	}
	return f
}

func (f fields) event() (run.Event, error) {
	for _, e := range []run.Event{
		run.TurnStarted{Attempt: f.Attempt, At: f.At},
		run.TurnNeedsInput{Attempt: f.Attempt, Interaction: f.Interaction, Session: f.Session, Policy: f.Policy, At: f.At},
		run.TurnSucceeded{Attempt: f.Attempt, Result: f.Result, At: f.At},
		run.TurnFailed{Attempt: f.Attempt, Result: f.Result, At: f.At},
		run.Reply{Interaction: f.Interaction, At: f.At},
		run.Timeout{Interaction: f.Interaction, At: f.At},
		run.Cancel{Result: f.Result, At: f.At},
		run.Preserve{Interaction: f.Interaction, Session: f.Session},
		run.Reconcile{Result: f.Result, At: f.At},
		run.Resume{Attempt: f.Attempt},
	} {
		if e.Name() == f.Name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("%w: it has the event %q", errRecord, f.Name)
}
