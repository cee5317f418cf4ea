package web

// The runs: a card for each work in the background, with what has happened, the question to the user, and the buttons to answer and cancel.

import (
	"strconv"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// RunInfo is work in the background that the agent has begun.
type RunInfo struct {
	ID       string
	Tool     string
	Status   string // the state as the protocol names it: "queued", "running", "waiting_user", "succeeded", …
	Question *sdk.RunQuestion
	Ended    bool
	Result   string // the output, or why the run has not succeeded; empty until the end
	Steps    []RunStep
}

// RunStep is one line of the timeline of a run.
type RunStep struct {
	Time string // of the user's clock, such as "12:04:05"; may be empty
	Text string
}

// runOf returns a run as the page shows it.
func runOf(r *sdk.Run) RunInfo {
	v := RunInfo{ID: r.ID, Tool: r.Tool, Status: r.Status, Question: r.Question, Ended: r.Result != nil}
	if res := r.Result; res != nil {
		v.Result = res.Output
		if res.Message != "" {
			v.Result = res.Message
		}
		v.Result = clip(v.Result)
	}
	for _, step := range r.Timeline {
		v.Steps = append(v.Steps, RunStep{Time: clockTime(step.At), Text: timelineText(step)})
	}
	return v
}

func timelineText(s sdk.RunStep) string {
	switch s.Kind {
	case "conversation.state.changed":
		return statusWords(s.Text)
	case "interaction.requested":
		return "Asked you: " + clip(s.Text)
	case "interaction.replied":
		return "You answered: " + clip(s.Text)
	case "interaction.reply.accepted":
		return "Your answer was taken"
	case "interaction.auto_decide.timeout":
		return "Nobody answered in time: it goes on without an answer"
	case "run.step.completed":
		return "Finished the step " + clip(s.Text)
	}
	return clip(s.Text)
}

// statusWords returns the words for a state of a run.
func statusWords(status string) string {
	switch status {
	case "queued":
		return "Waiting for its turn"
	case "running":
		return "Working"
	case "waiting_user":
		return "Waiting for you"
	case "succeeded":
		return "Done"
	case "failed":
		return "Failed"
	case "canceled":
		return "Canceled"
	}
	return status
}

// statusText returns the state of a run in a few words.
func (r RunInfo) statusText() string {
	switch q := r.Question; {
	case q == nil:
		return statusWords(r.Status)
	case q.Answered:
		return "Your answer is on its way"
	case q.Approval:
		return "Needs your approval"
	}
	return "Has a question"
}

// runs shows the cards of the runs, the newest first. Its first element stays in the page, so that a screen reader says how it changes.
func (p *Page) runs(s Snapshot) *ui.Node {
	section, news := ui.New("section").ID("runs").Class("runs"), ""
	if len(s.Runs) > 0 {
		section, news = section.Aria("label", "Work in the background"), s.Runs[0].Tool+": "+s.Runs[0].statusText()
	}
	return section.Body(
		ui.New("p").ID("run-news").Class("unseen").Role("status").Text(news),
		ui.Each(len(s.Runs), func(i int) *ui.Node {
			return (&runCard{Run: s.Runs[i], InCall: s.Phase.InCall(), page: p}).show()
		}),
	)
}

// runCard is the card of one run.
type runCard struct {
	Run    RunInfo
	InCall bool // there is a call, over which the user can answer
	page   *Page
}

// show returns the card's elements.
func (v *runCard) show() *ui.Node {
	r := v.Run
	return ui.New("article").ID(v.name("card")).Class("run").TabIndex(-1).Data("status", r.Status).Aria("labelledby", v.name("title")).Body(
		ui.New("header").Class("run-head").Body(
			ui.New("h3").ID(v.name("title")).Class("run-tool").Text(r.Tool),
			ui.New("span").Class("run-status").Text(r.statusText()),
		),
		ui.If(r.Question != nil, func() *ui.Node { return v.question(r.Question) }),
		ui.If(r.Result != "", func() *ui.Node { return ui.New("p").Class("run-result").Text(r.Result) }),
		ui.New("div").Key("foot").Class("run-foot").Body(
			ui.New("details").Class("run-timeline").Body(
				ui.New("summary").Text("Timeline"),
				ui.New("ol").Body(ui.Each(len(r.Steps), func(i int) *ui.Node {
					return ui.New("li").Body(ui.New("span").Class("run-time").Text(r.Steps[i].Time), ui.New("span").Text(r.Steps[i].Text))
				})),
			),
			ui.If(!r.Ended, func() *ui.Node { return v.button("cancel", "Cancel", "control", v.onCancel) }),
		),
	)
}

// name returns the id of an element of this card.
func (v *runCard) name(part string) string { return part + "-" + v.Run.ID }

// button returns a button whose name for a screen reader has the tool.
func (v *runCard) button(part, label, class string, press func()) *ui.Node {
	off := !v.InCall || part != "cancel" && v.Run.Question.Answered
	return ui.New("button").ID(v.name(part)).Class(class).Type("button").Aria("label", label+" "+v.Run.Tool).OnClick(press).Text(label).Disabled(off)
}

// question shows what the run asks, with two buttons for an approval, one for each choice, or a field.
func (v *runCard) question(q *sdk.RunQuestion) *ui.Node {
	prompt := ui.New("p").ID(v.name("prompt")).Class("run-prompt").Text(q.Prompt)
	if q.Approval {
		return ui.New("div").Key("question").Class("run-question").Role("group").Aria("labelledby", v.name("prompt")).Body(
			prompt,
			v.button("approve", "Approve", "control strong", v.onApprove).Aria("describedby", v.name("prompt")),
			v.button("decline", "Decline", "control", v.onDecline).Aria("describedby", v.name("prompt")),
		)
	}
	if len(q.Choices) > 0 {
		return ui.New("div").Key("question").Class("run-question").Role("group").Aria("labelledby", v.name("prompt")).Body(
			prompt,
			ui.Each(len(q.Choices), func(i int) *ui.Node {
				return v.button("choice-"+strconv.Itoa(i), q.Choices[i], "control", v.onChoice(q.Choices[i])).Aria("describedby", v.name("prompt"))
			}),
		)
	}
	off := !v.InCall || q.Answered
	field := ui.New("input").ID(v.name("reply")).Type("text").Attr("autocomplete", "off").Attr("maxlength", "4000").Aria("labelledby", v.name("prompt")).Attr("placeholder", "Your answer").Disabled(off)
	send := ui.New("button").ID(v.name("answer")).Class("control strong").Type("submit").Text("Answer").Disabled(off)
	return ui.New("form").Key("question").Class("run-question").OnSubmit(v.onReply).Body(prompt, field, send)
}

// answers calls f with the driver and the pending question. The focus moves to the card, because the pressed button leaves the page.
func (v *runCard) answers(f func(d Driver, question string)) {
	q := v.Run.Question
	if q == nil {
		return
	}
	v.page.screen.Focus(v.name("card"))
	v.page.act(func(d Driver) { f(d, q.ID) })
}

func (v *runCard) onApprove() {
	v.answers(func(d Driver, question string) { d.ApproveRun(v.Run.ID, question, true) })
}

func (v *runCard) onDecline() {
	v.answers(func(d Driver, question string) { d.ApproveRun(v.Run.ID, question, false) })
}

func (v *runCard) onReply() {
	if text := v.page.screen.TakeValue(v.name("reply")); text != "" {
		v.answers(func(d Driver, question string) { d.ReplyRun(v.Run.ID, question, text) })
	}
}

func (v *runCard) onChoice(choice string) func() {
	return func() {
		v.answers(func(d Driver, question string) { d.ReplyRun(v.Run.ID, question, choice) })
	}
}

func (v *runCard) onCancel() {
	v.page.screen.Focus(v.name("card"))
	v.page.act(func(d Driver) { d.CancelRun(v.Run.ID) })
}
