package web

// The inspector: predicted and confirmed state, the machines, their last steps, and how the time of an answer was spent.

import (
	"strconv"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// maxSteps is how many transitions the inspector shows.
const maxSteps = 14

// Inside is the client's inner state for the inspector: predicted and confirmed state, the machines and their last steps. The zero
// value belongs to a client that has placed no call.
type Inside struct {
	Predicted, Confirmed string // both states in words
	Differ               bool   // the prediction is ahead of the server
	Interrupting         bool   // the agent is ducked, and the server has not decided
	Machines             []Machine
	Steps                []Step // newest first, at most maxSteps
	Score                string // how well barge-ins were predicted, in a sentence; empty before the first
	Mismatch             bool   // the server has other machines
}

// Machine is a state machine's name and state.
type Machine struct{ Name, State string }

// Step is one transition.
type Step struct {
	Lane    string // whose step it is: "client" or "server"
	Ago     string // how long before the newest, such as "0.35 s"; empty for the newest
	Machine string
	What    string // the action and the new state, or the event that changed nothing
}

// insideOf returns what the inspector shows of a session.
func insideOf(s sdk.Snapshot, i sdk.Inspection) Inside {
	v := Inside{
		Predicted: i.Predicted, Confirmed: i.Confirmed, Differ: s.Predicted, Interrupting: s.Interrupting,
		Score: scoreOf(s.Interruptions), Mismatch: s.Machines == sdk.MachinesDiffer,
	}
	for _, m := range i.Machines {
		v.Machines = append(v.Machines, Machine(m))
	}
	for k := len(i.Last) - 1; k >= 0 && len(v.Steps) < maxSteps; k-- {
		t := i.Last[k]
		v.Steps = append(v.Steps, Step{
			Lane: t.Lane, Machine: t.Machine, Ago: agoOf(i.Last[len(i.Last)-1].At - t.At), What: stepText(t),
		})
	}
	return v
}

func stepText(t sdk.Transition) string {
	if t.Action == "" {
		return t.Event + " changes nothing"
	}
	return t.Action + " → " + t.To
}

func agoOf(d time.Duration) string {
	if d < 10*time.Millisecond {
		return ""
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + unbroken + "s"
}

// scoreOf says in a sentence how well barge-ins were predicted.
func scoreOf(n sdk.Interruptions) string {
	if n.Candidates == 0 && n.Confirmed == 0 {
		return ""
	}
	text := strconv.Itoa(n.Ahead) + " of " + strconv.Itoa(n.Confirmed) + " interruptions predicted"
	if n.Ahead > 0 {
		text += ", " + strconv.Itoa(n.LeadMS) + unbroken + "ms ahead"
	}
	if back := n.Rejected + n.Expired; back > 0 {
		text += "; " + strconv.Itoa(back) + " withdrawn"
	}
	return text + "."
}

// inspector shows what the machines do. It is closed at first, because most users do not need it.
func (p *Page) inspector(in Inside, l Latency) *ui.Node {
	return ui.New("details").ID("inspector").Class("panel inspector").
		DataFlag("predicted", in.Differ).
		DataFlag("interrupting", in.Interrupting).
		Body(
			ui.New("summary").Body(ui.New("h2").Text("Inside")),
			ui.New("dl").Class("lanes").Body(
				lane("predicted", "Predicted here", in.Predicted),
				lane("confirmed", "Confirmed by the server", in.Confirmed),
			),
			ui.If(in.Mismatch, func() *ui.Node {
				return ui.New("p").ID("mismatch").Class("note").Text("The server runs other machines than this page: reload the page.")
			}),
			ui.New("p").ID("foreseen").Class("faint").Text(in.Score),
			waterfall(l),
			ui.New("ul").ID("machines").Class("machines").Body(
				ui.Each(len(in.Machines), func(i int) *ui.Node { return machineItem(in.Machines[i]) }),
			),
			ui.New("ol").ID("steps").Class("steps").Aria("label", "Last transitions, newest first").Body(
				ui.Each(len(in.Steps), func(i int) *ui.Node { return stepItem(in.Steps[i]) }),
			),
		)
}

func lane(id, name, state string) *ui.Node {
	if state == "" {
		state = "no call"
	}
	return ui.New("div").ID(id).Class("lane").Body(ui.New("dt").Text(name), ui.New("dd").Text(state))
}

func machineItem(m Machine) *ui.Node {
	return ui.New("li").Data("machine", m.Name).Body(
		ui.New("span").Text(m.Name), ui.New("span").Class("machine-state").Text(m.State),
	)
}

func stepItem(s Step) *ui.Node {
	return ui.New("li").Data("lane", s.Lane).Body(
		ui.New("span").Class("step-machine").Text(s.Machine),
		ui.New("span").Class("step-what").Text(s.What),
		ui.New("span").Class("step-ago").Text(s.Ago),
	)
}

// waterfall draws how the time of the last answer was spent, as one bar after another.
func waterfall(l Latency) *ui.Node {
	parts := l.Parts()
	list := ui.New("ol").ID("waterfall").Class("waterfall").Aria("label", "Where the time of the last answer went")
	if l.Total <= 0 || len(parts) == 0 {
		return list
	}
	from := 0
	var rows []*ui.Node
	for _, part := range parts {
		rows = append(rows, ui.New("li").Body(
			ui.New("span").Text(part.Name),
			bar(from, part.MS, l.Total),
			ui.New("span").Class("bar-ms").Text(strconv.Itoa(part.MS)+unbroken+"ms"),
		))
		from += part.MS
	}
	return list.Body(rows...)
}

// bar draws a share of a whole as a picture, because the policy forbids inline styles and a picture needs none. The picture's text
// contains only numbers of ours, so Raw is safe.
func bar(from, length, whole int) *ui.Node {
	permille := func(n int) string { return strconv.Itoa(n * 1000 / whole) }
	return ui.Raw(`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect x="` +
		permille(from) + `" width="` + strconv.Itoa(max(length*1000/whole, 4)) + `" height="10"/></svg>`)
}

// stacked draws all shares of a latency in one bar, one after another, as bar does.
func stacked(l Latency) *ui.Node {
	picture := strings.Builder{}
	picture.WriteString(`<svg class="latency-bar" viewBox="0 0 ` + strconv.Itoa(l.Total) + ` 10" preserveAspectRatio="none" aria-hidden="true">`)
	from := 0
	for _, part := range l.Parts() {
		picture.WriteString(`<rect class="` + strings.ReplaceAll(part.Name, " ", "-") + `" x="` + strconv.Itoa(from) + `" width="` + strconv.Itoa(part.MS) + `" height="10"/>`)
		from += part.MS
	}
	return ui.Raw(picture.String() + "</svg>")
}
