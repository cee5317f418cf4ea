package runs

// What does the work of a run, and what it may ask of its turn.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
)

// Limits of one run.
const (
	MaxInput    = 64 << 10  // bytes of the input
	MaxOutput   = 64 << 10  // bytes of the output of a step, and of the run
	maxRun      = 512 << 10 // bytes of what a turn may store of a run
	maxEntries  = 1000      // entries that a turn may store of a run
	maxProgress = 500       // messages of progress
	maxText     = 4 << 10   // bytes of a progress message and of a prompt
	maxAnswer   = 16 << 10  // bytes of an answer
	maxChoices  = 20        // choices of a question
	maxChoice   = 100       // bytes of a choice
	maxName     = 64        // bytes of the name of a step, of a question, of a tool
	maxResumes  = 5         // how often a run is taken over after its owner was lost
)

// Worker does the runs of one tool.
type Worker struct {
	// Tool is the name that runs name. It has 1 to 64 letters, digits, _ or -.
	Tool string
	// Version changes when Work no longer continues runs that an earlier version has begun: such runs fail. 0 is 1.
	Version uint64
	// Approval says that Work asks the user for an approval. All runs of the tool then have the policy RequireReply.
	Approval bool
	// Check returns an error that says what is wrong in the input of a new run. nil takes every JSON value.
	Check func(input json.RawMessage) error
	// Work does the work and returns its output, which is JSON. It is called again from the beginning after an answer of the user, and after its owner was
	// lost: what has an effect belongs in a step. It returns errors of its Turn as they are. An end of ctx means that the run has ended or belongs to somebody else. A
	// Failure says how the run fails; any other error has the code "failed". Several goroutines call it at a time, each with a Turn of its own.
	Work func(ctx context.Context, t *Turn) (json.RawMessage, error)
}

func (w *Worker) session() run.Session { return run.Session(max(w.Version, 1)) }

// Failure is an error of a Worker that says how its run fails.
type Failure struct{ Code, Message string }

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Question is a question to the user.
type Question struct {
	// Prompt is what the user reads or hears.
	Prompt string `json:"prompt"`
	// Approval asks for a yes or a no. An approval always waits for the user's reply, whatever the policy of the run is.
	Approval bool `json:"approval,omitempty"`
	// Choices are what the user may reply, each a text of 1 to 100 bytes; 20 at most. Empty for any reply, and for an approval.
	Choices []string `json:"choices,omitempty"`
}

// check returns an error for a question that cannot be asked.
func (q *Question) check() error {
	if q.Prompt == "" || len(q.Prompt) > maxText {
		return fmt.Errorf("want a prompt of 1 to %d bytes", maxText)
	}
	if len(q.Choices) == 0 {
		return nil
	}
	if q.Approval || len(q.Choices) > maxChoices {
		return fmt.Errorf("want at most %d choices, and none of an approval", maxChoices)
	}
	for i, c := range q.Choices {
		if c == "" || len(c) > maxChoice || slices.Contains(q.Choices[:i], c) {
			return fmt.Errorf("the choice %q: want different texts of 1 to %d bytes", c, maxChoice)
		}
	}
	return nil
}

func (q Question) kind() string {
	if q.Approval {
		return KindApproval
	}
	return "question"
}

// Answer is how a question was resolved.
type Answer struct {
	// Decided: there is no answer of the user, and the worker decides by itself. The other fields are zero.
	Decided bool `json:"decided,omitempty"`
	// Approved is the answer to an approval.
	Approved bool `json:"approved,omitempty"`
	// Reply is the answer to any other question: a JSON value; with choices it is one of them, as a string.
	Reply json.RawMessage `json:"reply,omitempty"`
}

// The errors of a Turn. A Worker returns them as they are.
var (
	// ErrWaiting: the run waits for the user. The Worker is called again with the answer.
	ErrWaiting = errors.New("the run waits for the user")
	// ErrTaken: the run has ended, or another owner has it.
	ErrTaken = errors.New("the run has ended or belongs to another owner")
	// ErrUnknown: the step was begun and its owner was lost, so that it is not known whether it was done.
	ErrUnknown = errors.New("it is not known whether the step was done")
)

// Turn is one attempt at a run. Its methods are for the goroutine of Worker.Work alone.
type Turn struct {
	r       *Runner
	key     key
	attempt run.Attempt
	begin   *beginning
	worker  *Worker
	stop    context.CancelCauseFunc

	steps   map[string]step
	answers map[string]Answer
}

// ID returns the id of the run.
func (t *Turn) ID() string { return t.key.id }

// Attempt returns the number of the attempt, from 1 on.
func (t *Turn) Attempt() uint64 { return uint64(t.attempt) }

// Input returns the input of the run.
func (t *Turn) Input() json.RawMessage { return t.begin.Input }

// Progress publishes how far the work is: a text of at most 4 KiB. A run has 500 of them at most; further ones are left out.
func (t *Turn) Progress(ctx context.Context, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("a progress message has %d bytes: want at most %d", len(text), maxText)
	}
	_, err := t.write(ctx, func(w *writing) error {
		if w.Was.Said >= maxProgress {
			return nil
		}
		w.Now.Said++
		return w.Now.say(t.key.id, typeProgress, progressed{text})
	})
	return err
}

// Step does a step of the work, unless an earlier attempt has done it: then it returns the output of that. The name is the step's own within the run.
// repeatable says that the step may be done twice: if its owner is lost, the next one does it again. Other steps are never begun twice; their run
// fails if it is not known whether one was done. A step that returns an error is not done, and may be tried again.
func (t *Turn) Step(ctx context.Context, name string, repeatable bool, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	switch before, known := t.steps[name]; {
	case name == "" || len(name) > maxName:
		return nil, fmt.Errorf("the step %q: want a name of 1 to %d bytes", name, maxName)
	case known && before.Output != nil:
		return before.Output, nil
	case known && before.Begun:
		return nil, fmt.Errorf("step %s: %w", name, ErrUnknown)
	}
	if !repeatable {
		if err := t.note(ctx, step{Name: name, Attempt: t.attempt, Begun: true}); err != nil {
			return nil, err
		}
	}
	output, err := do(ctx)
	switch {
	case err == nil && len(output) > MaxOutput:
		err = fmt.Errorf("step %s: its output has %d bytes: want at most %d", name, len(output), MaxOutput)
	case err == nil && !json.Valid(output):
		err = fmt.Errorf("step %s: its output is not JSON", name)
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx) // the step may have been done or not: the log says that it was begun
	}
	own := context.WithoutCancel(ctx) // the outcome counts as long as the run belongs to this turn
	if err != nil {
		return nil, errors.Join(err, t.note(own, step{Name: name, Attempt: t.attempt, Failed: cut(err.Error())}))
	}
	return output, t.note(own, step{Name: name, Attempt: t.attempt, Output: output})
}

// note stores what became of a step.
func (t *Turn) note(ctx context.Context, s step) error {
	_, err := t.write(ctx, func(w *writing) error {
		w.Now.Step = &s
		if s.Output == nil {
			return nil
		}
		return w.Now.say(t.key.id, typeStep, stepDone{s.Name})
	})
	if err == nil {
		t.steps[s.Name] = s
	}
	return err
}

// Ask asks the user, unless the question was answered before: then it returns that answer. The name is the question's own within the run. Otherwise the run
// waits, and Ask returns ErrWaiting. With the policy Auto the Worker decides alone.
func (t *Turn) Ask(ctx context.Context, name string, q Question) (Answer, error) {
	if a, known := t.answers[name]; known {
		return a, nil
	}
	if name == "" || len(name) > maxName {
		return Answer{}, fmt.Errorf("the question %q: want a name of 1 to %d bytes", name, maxName)
	}
	if err := q.check(); err != nil {
		return Answer{}, fmt.Errorf("the question %s: %w", name, err)
	}
	policy := t.begin.Policy
	if q.Approval {
		policy = run.RequireReply
	}
	w, err := t.write(ctx, func(w *writing) error { return t.ask(w, name, q, policy) })
	if err != nil {
		return Answer{}, err
	}
	for _, f := range w.Effects() {
		switch f.(type) {
		case run.DecideAlone:
			t.answers[name] = Answer{Decided: true}
			return t.answers[name], nil
		case run.StateChanged, run.ArmTimeout, run.ReplyAccepted, run.AutoDecided, run.Conclude, run.StopTurn, run.AnswerReply:
		}
	}
	return Answer{}, ErrWaiting
}

func (t *Turn) ask(w *writing, name string, q Question, policy run.Policy) error {
	now := w.Now.At
	pending := &question{Name: name, Interaction: w.Was.State.Interaction + 1, Question: q, Asked: now}
	message := requested{InteractionID: interactionText(pending.Interaction), Kind: q.kind(), Prompt: q.Prompt, Choices: q.Choices}
	if policy == run.AutoDecide {
		pending.Deadline = now + run.Millis(t.begin.Timeout.Milliseconds()) //nolint:gosec // above 0
		message.Deadline = timeText(pending.Deadline)
	}
	err := w.take(run.TurnNeedsInput{
		Attempt: t.attempt, Interaction: pending.Interaction, Session: t.worker.session(), Policy: policy, At: now,
	}, newMessage{TypeRequested, message})
	if w.changed() {
		w.Now.Question = pending
	}
	return err
}

// write appends an entry to the log of the run, as long as the run belongs to this turn.
func (t *Turn) write(ctx context.Context, f func(*writing) error) (*writing, error) {
	w, err := t.r.book.write(ctx, t.key, steps.Patience, func(w *writing) error {
		s, runs := w.State.(run.Running)
		switch {
		case !runs || s.Attempt != t.attempt:
			return ErrTaken
		case w.Now.N > maxEntries || w.Now.Bytes > maxRun:
			return &Failure{"run_too_large", fmt.Sprintf("the run has %d entries and %d bytes: at most %d and %d are kept", w.Now.N, w.Now.Bytes, maxEntries, maxRun)}
		}
		return f(w)
	})
	if errors.Is(err, ErrTaken) {
		t.stop(ErrTaken)
	}
	if err != nil {
		return nil, err
	}
	t.r.perform(t.key, w)
	return w, nil
}

// cut returns the beginning of a text, as long as an error may be.
func cut(text string) string {
	if len(text) > maxText {
		return text[:maxText]
	}
	return text
}
