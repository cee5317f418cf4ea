// Package runs keeps the runs of a call: work in the background that the agent has begun, as the server's messages describe it. One
// goroutine at a time may use it.
package runs

import (
	"github.com/antiphon-rt/antiphon/sdk/internal/words"
	"github.com/antiphon-rt/antiphon/wire"
)

// Run is one run. Its fields are those of sdk.Run. It never changes: a new one replaces it.
type Run struct {
	ID, Tool, Status string
	Question         *Question
	Progress         string
	Result           *Result
	Timeline         []Step

	newest int // the number of the newest message
}

// Question is a question of a run to the user. Its fields are those of sdk.RunQuestion.
type Question struct {
	ID       string
	Approval bool
	Prompt   string
	Choices  []string
	Answered bool
}

// Result is how a run has ended. Its fields are those of sdk.RunResult.
type Result struct {
	Output        string
	Code, Message string
}

// Step is one thing that has happened to a run. Its fields are those of sdk.RunStep.
type Step struct{ At, Kind, Text string }

const (
	maxRuns  = 32
	maxSteps = 32
	// maxFollowed is how many runs a new conversation follows, the newest ones. The server takes 16 requests for runs at a time.
	maxFollowed = 16
)

// List has the runs of a call.
type List struct {
	// All has the newest run first. Nobody writes to the slice again. Invariant: len <= maxRuns.
	All []Run
	// Changed: All is another slice than before. Whoever shows the runs clears it.
	Changed bool

	mostBytes int // bounds each text
}

// New makes an empty list whose texts have at most so many bytes.
func New(mostBytes int) List { return List{Changed: true, mostBytes: mostBytes} }

// Message is what a client reads of antiphon.run.message. Members that the message does not have are zero.
type Message struct {
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

// Read reads the members of a message.
func Read(e wire.Members) Message {
	m := e.Object("message")
	data := m.Object("data")
	return Message{
		run: e.Text("run_id"), tool: e.Text("tool"), seq: m.Whole("seq"), at: m.Text("ts"), kind: m.Text("type"),
		text: data.Text("text") + data.Text("step") + data.Text("prompt"), // a message has at most one of them
		to:   data.Text("to"), question: data.Text("interaction_id"), approval: data.Text("kind") == "approval",
		choices: data.Texts("choices"), reply: data.Value("reply"), output: data.Value("output"), code: data.Text("code"), reason: data.Text("message"),
	}
}

// Take takes a message. A message that came before changes nothing.
func (l *List) Take(m *Message) {
	at := l.find(m.run)
	r := Run{ID: m.run, Tool: m.tool, Status: "queued"}
	if at >= 0 {
		if r = l.All[at]; m.seq <= r.newest {
			return
		}
	}
	r.newest = m.seq
	text := l.cut(m.text)
	switch m.kind {
	case "conversation.state.changed":
		r.Status, text = m.to, m.to
		if m.to != "waiting_user" {
			r.Question = nil
		}
	case "interaction.requested":
		r.Question = &Question{ID: m.question, Approval: m.approval, Prompt: text, Choices: m.choices}
	case "interaction.replied":
		text = l.textOf(m.reply)
	case "interaction.reply.accepted", "interaction.auto_decide.timeout":
		r.Question = nil
	case "run.progress":
		r.Progress = text
	case "run.step.completed":
	case "run.result":
		r.Result = &Result{Output: l.textOf(m.output), Code: m.code, Message: l.cut(m.reason)}
		l.set(at, r)
		return // the change of the state follows
	default:
		return
	}
	first := max(0, len(r.Timeline)+1-maxSteps)
	r.Timeline = append(append([]Step(nil), r.Timeline[first:]...), Step{At: m.at, Kind: m.kind, Text: text})
	l.set(at, r)
}

func (l *List) cut(text string) string { return words.CutBytes(text, l.mostBytes) }

// textOf returns a value as a text: the output of a run, or a reply.
func (l *List) textOf(value wire.Raw) string {
	text, is := value.Text()
	if !is {
		text = string(value)
	}
	return l.cut(text)
}

// find returns the place of a run, or -1.
func (l *List) find(id string) int {
	for i := range l.All {
		if l.All[i].ID == id {
			return i
		}
	}
	return -1
}

// set puts a run in its place, or before all others for the place -1. If there are too many, the oldest that has ended leaves; if none
// has, the oldest.
func (l *List) set(at int, r Run) {
	var all []Run // the old list stays as it is
	if at < 0 {
		all = append(all, r)
	}
	all = append(all, l.All...)
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
	l.All, l.Changed = all, true
}

// Follow returns the runs that have not ended, which a new conversation asks the server for. Those beyond the limit leave the list.
// The answers that the lost conversation has sent do not count.
func (l *List) Follow() (ids []string) {
	for _, r := range l.All {
		switch {
		case r.Result != nil:
		case len(ids) == maxFollowed:
			l.Lose(r.ID)
		default:
			l.Answered(r.ID, false)
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Lose removes a run of which the server tells no more: it is gone, or this call may not hear of it.
func (l *List) Lose(id string) {
	if at := l.find(id); at >= 0 {
		l.All, l.Changed = append(append([]Run(nil), l.All[:at]...), l.All[at+1:]...), true
	}
}

// Answered notes whether this client has sent an answer to the question of a run.
func (l *List) Answered(id string, answered bool) {
	at := l.find(id)
	if at < 0 || l.All[at].Question == nil {
		return
	}
	r, q := l.All[at], *l.All[at].Question
	q.Answered = answered
	r.Question = &q
	l.set(at, r)
}
