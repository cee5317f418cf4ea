package runs

// An entry of a run's log, as the store has it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
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
	Interaction run.Interaction `json:"interaction,omitempty" of:"Last,Pending"`
	Resolved    run.Mode        `json:"resolved,omitempty"`
	Session     run.Session     `json:"session,omitempty"`
	Policy      run.Policy      `json:"policy,omitempty"`
	Result      run.Result      `json:"result,omitempty"`
	Seq         run.Seq         `json:"seq,omitempty"`
	At          run.Millis      `json:"at,omitempty"`
}

// errRecord: the store has something that this package has not written.
var errRecord = errors.New("the store has an entry of a run that this program cannot read")

// decode returns the entry and the state of a version of a log. A log without an entry is that of a run in the queue.
func decode(v steps.Version) (*entry, run.State, error) {
	if v.Revision == 0 {
		return &entry{State: states.Of(run.Queued{})}, run.Queued{}, nil
	}
	e := &entry{revision: v.Revision, written: v.Written, length: len(v.Value)}
	if err := json.Unmarshal(v.Value, e); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	state, ok := states.Back(&e.State)
	if !ok {
		return nil, nil, fmt.Errorf("%w: it has the state %q", errRecord, e.State.Name)
	}
	return e, state, nil
}

// state returns the state after an entry.
func (e *entry) state() run.State {
	state, _ := states.Back(&e.State) // decode has checked it
	return state
}

// All states and events of the machine.
var (
	states = steps.NewFlat[run.State, fields](run.Queued{}, run.Running{}, run.WaitingUser{}, run.Succeeded{}, run.Failed{}, run.Canceled{})
	events = steps.NewFlat[run.Event, fields](run.TurnStarted{}, run.TurnNeedsInput{}, run.TurnSucceeded{}, run.TurnFailed{}, run.Reply{}, run.Timeout{}, run.Cancel{},
		run.Preserve{}, run.Reconcile{}, run.Resume{})
)
