package sdk

// The runs of a call: work in the background that the agent has begun, as the server's messages describe it, and the user's answers.

import "github.com/antiphon-rt/antiphon/wire"

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

	seq int // the number of the newest message
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

// Limits of what is kept of runs. Further texts are bounded by Limits.EntryBytes.
const (
	maxRuns     = 32
	maxRunSteps = 32
)

// runMessage is what a client reads of antiphon.run.message. Members that the message does not have are zero.
type runMessage struct {
	run, tool    string
	seq          int
	at, kind     string
	text         string // the text, the name of the step or the question
	to           string // the new state
	question     string // the id of the question
	approval     bool
	choices      []string
	reply        wire.Raw
	output       wire.Raw
	code, reason string
}

func readRunMessage(e wire.Members) runMessage {
	m := e.Object("message")
	data := m.Object("data")
	return runMessage{
		run: e.Text("run_id"), tool: e.Text("tool"), seq: m.Whole("seq"), at: m.Text("ts"), kind: m.Text("type"),
		text: data.Text("text") + data.Text("step") + data.Text("prompt"), // a message has at most one of them
		to:   data.Text("to"), question: data.Text("interaction_id"), approval: data.Text("kind") == "approval",
		choices: data.Texts("choices"), reply: data.Value("reply"), output: data.Value("output"), code: data.Text("code"), reason: data.Text("message"),
	}
}

// runTold takes a message of a run. A message that came before changes nothing.
func (s *Session) runTold(m *runMessage) {
	at := s.runAt(m.run)
	if at >= 0 && m.seq <= s.runs[at].seq {
		return
	}
	var r Run
	if at >= 0 {
		r = s.runs[at]
	} else {
		r = Run{ID: m.run, Tool: m.tool, Status: "queued"}
	}
	r.seq = m.seq
	text := cutBytes(m.text, s.limits.EntryBytes)
	switch m.kind {
	case "conversation.state.changed":
		r.Status, text = m.to, m.to
		if m.to != "waiting_user" {
			r.Question = nil
		}
	case "interaction.requested":
		r.Question = &RunQuestion{ID: m.question, Approval: m.approval, Prompt: text, Choices: m.choices}
	case "interaction.replied":
		text = s.runText(m.reply)
	case "interaction.reply.accepted", "interaction.auto_decide.timeout":
		r.Question = nil
	case "run.progress":
		r.Progress = text
	case "run.step.completed":
	case "run.result":
		r.Result = &RunResult{Output: s.runText(m.output), Code: m.code, Message: cutBytes(m.reason, s.limits.EntryBytes)}
		s.setRun(at, r)
		return // the change of the state follows
	default:
		return
	}
	first := max(0, len(r.Timeline)+1-maxRunSteps)
	r.Timeline = append(append([]RunStep(nil), r.Timeline[first:]...), RunStep{At: m.at, Kind: m.kind, Text: text})
	s.setRun(at, r)
}

// runText returns a value as a text: the output of a run, or a reply.
func (s *Session) runText(value wire.Raw) string {
	text, is := value.Text()
	if !is {
		text = string(value)
	}
	return cutBytes(text, s.limits.EntryBytes)
}

// runAt returns the place of a run, or -1.
func (s *Session) runAt(id string) int {
	for i := range s.runs {
		if s.runs[i].ID == id {
			return i
		}
	}
	return -1
}

// setRun puts a run in its place, or before all others for the place -1. If there are too many, the oldest that has ended leaves; if none has, the oldest.
func (s *Session) setRun(at int, r Run) {
	var all []Run // the snapshots share the old list
	if at < 0 {
		all = append(all, r)
	}
	all = append(all, s.runs...)
	if at >= 0 {
		all[at] = r
	}
	if len(all) > maxRuns {
		leaves := len(all) - 1
		for i := leaves; i > 0; i-- {
			if all[i].Result != nil {
				leaves = i
				break
			}
		}
		all = append(all[:leaves], all[leaves+1:]...)
	}
	s.runs, s.dirty = all, true
}

// maxFollowed is how many runs a new conversation follows, the newest ones. The server takes 16 requests for runs at a time.
const maxFollowed = 16

// followRuns has the server tell the new conversation of the runs that the lost one has begun and that have not ended.
func (s *Session) followRuns() {
	followed := 0
	for _, r := range append([]Run(nil), s.runs...) {
		switch {
		case r.Result != nil:
		case followed == maxFollowed:
			s.loseRun(r.ID)
		default:
			followed++
			s.markAnswered(r.ID, false) // perhaps the answer was lost
			s.send("antiphon.run.follow", newJSON().Key("run_id").Text(r.ID), intent{kind: intentFollow, item: r.ID})
		}
	}
}

// loseRun removes a run of which the server tells no more: it is gone, or this call may not hear of it.
func (s *Session) loseRun(id string) {
	var left []Run // the snapshots share the old list
	for i := range s.runs {
		if s.runs[i].ID != id {
			left = append(left, s.runs[i])
		}
	}
	s.runs, s.dirty = left, true
}

// markAnswered notes whether this client has sent an answer to the question of a run.
func (s *Session) markAnswered(run string, answered bool) {
	at := s.runAt(run)
	if at < 0 || s.runs[at].Question == nil {
		return
	}
	r, q := s.runs[at], *s.runs[at].Question
	q.Answered = answered
	r.Question = &q
	s.setRun(at, r)
}

// answerRun sends the user's answer to a question of a run. member and value are the answer in the event.
func (s *Session) answerRun(run, question, member string, value []byte) {
	s.markAnswered(run, true)
	answer := newJSON().Key("run_id").Text(run).Key("interaction_id").Text(question).Key(member).Raw(value)
	s.send("antiphon.run.reply", answer, intent{kind: intentRun, item: run})
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
		s.send("antiphon.run.cancel", newJSON().Key("run_id").Text(run), intent{kind: intentRun, item: run})
	}, true)
}
