package sdk

// The runs of a call: work in the background that the agent has begun, as the server's messages describe it, and the user's answers.

import (
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/runs"
	"github.com/antiphon-rt/antiphon/wire"
)

// Run is work in the background that the agent has begun. It never changes: a new one replaces it.
type Run struct {
	// ID names the run. Tool is the tool that works.
	ID, Tool string
	// Status is "queued", "running", "waiting_user", "succeeded", "failed" or "canceled".
	Status string
	// Question is what the run asks the user; nil unless it waits for the user.
	Question *RunQuestion
	// Progress is the last text about how far the work is. May be empty.
	Progress string
	// Result is how the run has ended; nil until then.
	Result *RunResult
	// Timeline has what has happened, oldest first, the last 32 of it. Not to be changed.
	Timeline []RunStep
}

// RunQuestion is a question of a run to the user.
type RunQuestion struct {
	// ID names the question in Session.ApproveRun and Session.ReplyRun.
	ID string
	// Approval: the user approves or declines. Otherwise the user replies with a text.
	Approval bool
	// Prompt is the question.
	Prompt string
	// Choices are what the user may reply; empty for any text, and for an approval. Not to be changed.
	Choices []string
	// Answered: this client has sent an answer, and the server has not said yet whether it counts.
	Answered bool
}

// RunResult is how a run has ended.
type RunResult struct {
	// Output is the text of the result; JSON if the result is no text. Empty unless the run has succeeded.
	Output string
	// Code and Message say why a run has not succeeded; see docs/runs.md for the codes.
	Code, Message string
}

// RunStep is one thing that has happened to a run.
type RunStep struct {
	// At is the server's time, as RFC 3339.
	At string
	// Kind is the type of the message: "conversation.state.changed", "interaction.requested", "interaction.replied", "interaction.reply.accepted",
	// "interaction.auto_decide.timeout", "run.progress" or "run.step.completed".
	Kind string
	// Text is the new state, the question, the user's reply, the progress or the name of the step; empty for the other kinds.
	Text string
}

// shownRuns returns the runs as a snapshot shows them.
func shownRuns(all []runs.Run) []Run {
	shown := make([]Run, len(all))
	for i, r := range all {
		timeline := make([]RunStep, len(r.Timeline))
		for k, step := range r.Timeline {
			timeline[k] = RunStep(step)
		}
		shown[i] = Run{
			ID: r.ID, Tool: r.Tool, Status: r.Status, Progress: r.Progress, Timeline: timeline,
			Question: (*RunQuestion)(r.Question), Result: (*RunResult)(r.Result),
		}
	}
	return shown
}

// followRuns has the server tell the new conversation of the runs that the lost one has begun and that have not ended.
func (s *Session) followRuns() {
	for _, id := range s.runs.Follow() {
		s.send("antiphon.run.follow", newJSON().Key("run_id").Text(id), outgoing.Intent{Kind: outgoing.Follow, Item: id})
	}
}

// answerRun sends the user's answer to a question of a run. member and value are the answer in the event.
func (s *Session) answerRun(run, question, member string, value []byte) {
	s.runs.Answered(run, true)
	answer := newJSON().Key("run_id").Text(run).Key("interaction_id").Text(question).Key(member).Raw(value)
	s.send("antiphon.run.reply", answer, outgoing.Intent{Kind: outgoing.Run, Item: run})
}

// ApproveRun approves or declines what a run asks. run and question are Run.ID and RunQuestion.ID. While the connection is lost, the answer
// waits for it. Errors: ErrNotConnected. A refusal by the server is in Snapshot.Err: only the first answer counts, and a call that
// was begun with a client secret may not answer.
func (s *Session) ApproveRun(run, question string, approve bool) error {
	value := "false"
	if approve {
		value = "true"
	}
	return s.act(func() { s.answerRun(run, question, "approve", []byte(value)) }, true)
}

// ReplyRun answers a question of a run that is no approval with a text. All else is as in ApproveRun. Errors: ErrNotConnected; ErrInvalid for an empty text or
// one longer than Limits.EntryBytes.
func (s *Session) ReplyRun(run, question, reply string) error {
	switch {
	case reply == "":
		return &Error{Kind: ErrInvalid, Detail: "the reply is empty"}
	case len(reply) > s.limits.EntryBytes:
		return &Error{Kind: ErrInvalid, Detail: "the reply is too long"}
	}
	return s.act(func() { s.answerRun(run, question, "reply", wire.AppendString(nil, reply)) }, true)
}

// CancelRun ends a run. While the connection is lost, the request waits for it. Errors: ErrNotConnected. A refusal by the server is in Snapshot.Err.
func (s *Session) CancelRun(run string) error {
	return s.act(func() {
		s.send("antiphon.run.cancel", newJSON().Key("run_id").Text(run), outgoing.Intent{Kind: outgoing.Run, Item: run})
	}, true)
}
