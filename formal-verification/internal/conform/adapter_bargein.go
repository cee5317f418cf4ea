package conform

// The adapter of bargein.fizz: compares the client's half of a barge-in with the table of coord/bargein. bargein_server.go has the server's half.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The constants of specs/bargein.fizz.
const (
	bargeinUnits      = 2
	bargeinCandidates = 2
	bargeinSilence    = 10
	bargeinAgain      = 20
	bargeinReplies    = 2
)

// bargeinExchange compares both halves of bargein.fizz with the code. Each half has a small driver that performs the effects: what it has must be
// in the variables of the spec.
type bargeinExchange struct {
	table bargeinTable
	met   []int      // by row: one more than the most effects that it had; 0: never met
	nodes []exchange // of the graph

	next   nextFunc        // the server's composition
	served map[string]bool // the actions of its playout that were met

	offered func(bargein.State, bargein.Event) // notes what the client's table is given, or nil
}

type bargeinTable = machine.Table[bargein.State, bargein.Event, bargein.Effect]

// bargeinEnds returns the comparer with the code of both ends.
func bargeinEnds() Comparer { return &bargeinExchange{table: bargein.Table, next: session.Next} }

func (*bargeinExchange) Name() string { return "bargein" }

// Compare compares one half after the other.
func (b *bargeinExchange) Compare(g *graph.Graph) (Figures, error) {
	if g == nil || len(g.Nodes) == 0 || len(g.Init) == 0 {
		return Figures{}, &Difference{What: "the spec has no states to compare"}
	}
	if len(b.nodes) != len(g.Nodes) {
		b.nodes = make([]exchange, len(g.Nodes))
		for i, n := range g.Nodes {
			b.nodes[i] = decoded[exchange](n.Vars)
		}
	}
	figures, err := b.compareClient(g)
	if err != nil {
		return figures, err
	}
	served, err := b.compareServer(g)
	return Figures{figures.States + served.States, figures.Edges + served.Edges, figures.Refused + served.Refused}, err
}

// exchange has the variables of a node.
type exchange struct {
	C struct {
		State string
		Reply int
		Cand  int
	}
	P        bargeinDriver
	S        serving
	Up, Down []string
	Media    []int
}

// driven is the code of one half, with the variables of its driver.
type driven[C comparable] struct {
	code   C
	driver string
}

// fieldsText returns the fields of a struct as one record of a spec.
func fieldsText(v any) string {
	out := map[string]any{}
	eachField(v, func(name string, field reflect.Value) { out[name] = field.Interface() })
	return JSON(out)
}

func (b *bargeinExchange) compareClient(g *graph.Graph) (Figures, error) {
	b.met = make([]int, len(b.table))
	// The spec begins when the response does.
	begun, _, row := b.table.Next(bargein.Silent{}, bargein.Began{Resp: 1})
	if row < 0 || begun != (bargein.Playing{Resp: 1}) {
		return Figures{}, &Difference{What: "the code does not begin to play"}
	}
	b.met[row] = 1
	figures, err := Part[driven[bargein.State], said]{
		Spec: "bargein", Starts: []driven[bargein.State]{{begun, fieldsText(bargeinDriver{Level: "full", Timers: []int{}})}},
		Step: b.clientStep, WithoutEffects: true, Ghosts: []string{"s", "g", "up", "down", "media"},
		May: func(_ driven[bargein.State], node int) (actions []string) {
			for _, m := range b.nodes[node].meetings() {
				actions = append(actions, m.action)
			}
			return actions
		},
		Vars: func(c driven[bargein.State]) map[string]string {
			return map[string]string{"c": clientRecord(c.code), "p": c.driver}
		},
	}.Compare(g)
	if err != nil {
		return figures, err
	}
	for i, row := range b.table {
		if b.met[i] == 0 && row.Why == "" {
			return figures, &Difference{What: "this row of the table was never met: " + row.From + " + " + row.Event + ", " + row.Action}
		}
	}
	return figures, nil
}

// clientRecord returns a state of coord/bargein as the spec writes it.
func clientRecord(s bargein.State) string {
	names := map[string]string{"last": "reply", "resp": "reply", "candidate": "cand", "full": "full", "missed": "missed", "cut": "cut"}
	out := map[string]any{"state": s.Name(), "reply": 0, "cand": 0, "full": 0, "missed": false, "cut": false}
	eachField(s, func(name string, field reflect.Value) { out[names[name]] = field.Interface() })
	return JSON(out)
}

// meeting is one action of the spec with the client's event. Messages, packets and timers have a step in the spec also if the
// client ignores them. The others have none then.
type meeting struct {
	action string
	comes  bool
	event  bargein.Event       // nil: a packet is no event by itself
	before func(*clientDriver) // what the driver makes of it first
	after  func(*clientDriver, bargein.State)
}

// meetings returns all events that the client may get in this state.
func (x exchange) meetings() []meeting {
	if x.C.State == (bargein.Closed{}).Name() {
		return nil
	}
	newest := bargein.ID(x.P.Newest)
	out := []meeting{
		{action: "VoiceEnded", event: bargein.VoiceEnded{Candidate: newest}},
		{action: "Close", event: bargein.Close{}, after: func(d *clientDriver, _ bargein.State) {
			d.bargeinDriver = bargeinDriver{Level: d.Level, Timers: []int{}}
		}},
	}
	limit := 1
	if x.S.Kind == "extended" {
		limit = bargeinCandidates
	}
	if x.S.Kind != "extended" {
		out = append(out, meeting{action: "Sustained", event: bargein.Sustained{Candidate: newest}})
	}
	if x.P.Newest < limit && x.C.Reply < bargeinReplies {
		out = append(out, meeting{action: "Onset", event: bargein.Onset{Candidate: newest + 1, At: bargein.Position(x.P.At)}})
	}
	heard := len(x.Media)+len(x.Down) == 0 && x.S.Pos == bargeinUnits && x.S.Cand == 0
	if x.S.Kind == "plain" && heard && x.C.Reply < bargeinReplies {
		out = append(out, meeting{action: "Ended", event: bargein.Ended{Resp: 1}})
	}
	if x.P.Begun {
		out = append(out, meeting{action: "BeganAgain", event: bargein.Began{Resp: bargeinReplies}, after: noteBegun})
	}
	return x.coming(out)
}

// coming adds the first message and the first packet that are on their way.
func (x exchange) coming(out []meeting) []meeting {
	if x.P.Returning {
		out = append(out, meeting{action: "GoesBackNot", comes: true, after: (*clientDriver).back})
	}
	if len(x.P.Timers) > 0 {
		out = append(out, meeting{
			action: "Expire", comes: true, event: bargein.Expired{Candidate: bargein.ID(x.P.Timers[0])},
			before: func(d *clientDriver) { d.Timers = d.Timers[1:] },
		})
	}
	if len(x.Media) > 0 {
		hear := meeting{action: "Hear", comes: true, before: func(d *clientDriver) { d.plays(x.Media[0]) }}
		if x.Media[0] > bargeinAgain {
			hear.after = (*clientDriver).back
		}
		out = append(out, hear)
	}
	if len(x.Down) == 0 {
		return out
	}
	m := meeting{action: "RecvDown", comes: true}
	word, number, _ := strings.Cut(x.Down[0], " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		panic(fmt.Sprintf("conform: the message %q has no number: %v", x.Down[0], err))
	}
	switch word {
	case "ack":
		m.event = bargein.Acked{Candidate: bargein.ID(n), At: bargein.Position(bargeinSilence + n)}
	case "rejected":
		m.event = bargein.Rejected{Candidate: bargein.ID(n)}
	case "confirmed":
		m.event = bargein.Confirmed{Resp: machine.Response(n), At: bargein.Position(x.P.At)}
		m.after = func(d *clientDriver, _ bargein.State) { d.At, d.Mark, d.Watch, d.Timers = 0, 0, 0, []int{} }
	case "began":
		m.event, m.after = bargein.Began{Resp: machine.Response(n)}, noteBegun
	default:
		panic("conform: the client knows no message " + x.Down[0])
	}
	return append(out, m)
}

func noteBegun(d *clientDriver, was bargein.State) { d.Begun = bargein.Pending(was) != 0 }

// clientActions are the client's. All others are the server's.
var clientActions = []string{"Onset", "Sustained", "VoiceEnded", "Ended", "BeganAgain", "Close", "Expire", "GoesBackNot", "Hear", "RecvDown"}

// clientStep gives the event of an action to the code, and performs the effects.
func (b *bargeinExchange) clientStep(c driven[bargein.State], step move) (driven[bargein.State], []said, string) {
	x := b.nodes[step.From]
	meetings := x.meetings()
	at := slices.IndexFunc(meetings, func(m meeting) bool { return m.action == step.Action })
	switch {
	case at < 0 && slices.Contains(clientActions, step.Action):
		return c, nil, "it is no event that may come"
	case at < 0:
		return c, nil, elsewhere
	}
	m := meetings[at]
	d := clientDriver{bargeinDriver: x.P}
	d.Timers = slices.Clone(d.Timers)
	next, taken := b.meet(c.code, &d, m)
	switch {
	case d.wrong != "":
		return c, nil, d.wrong
	case !m.comes && !taken:
		return c, nil, "the client ignores it"
	case step.is != nil && !slices.Equal(x.sent(d.sent, step.Action), b.nodes[step.To].Up):
		return c, nil, fmt.Sprintf("the client sends %v", d.sent)
	}
	return driven[bargein.State]{next, fieldsText(d.bargeinDriver)}, nil, ""
}

// sent returns the client's messages on their way after an action with which it sends more. A plain server is told nothing.
func (x exchange) sent(more []string, action string) []string {
	switch {
	case action == "Close":
		return nil
	case x.S.Kind == "plain":
		return x.Up
	}
	return slices.Concat(x.Up, more)
}

// meet gives an event to the code. taken reports whether the code did not ignore it.
func (b *bargeinExchange) meet(s bargein.State, d *clientDriver, m meeting) (next bargein.State, taken bool) {
	if m.before != nil {
		m.before(d)
	}
	was := s
	if m.event != nil {
		s, taken = b.step(s, d, m.event)
	}
	if m.after != nil {
		m.after(d, was)
	}
	if d.Watch > 0 && d.Mark == d.Watch { // the driver sees it at once
		passed := bargein.Passed{Candidate: bargein.ID(d.Watch)}
		d.Watch, d.Mark = 0, 0
		d.back(s)
		s, _ = b.step(s, d, passed)
	}
	return s, taken
}

func (b *bargeinExchange) step(s bargein.State, d *clientDriver, e bargein.Event) (bargein.State, bool) {
	if b.offered != nil {
		b.offered(s, e)
	}
	next, effects, row := b.table.Next(s, e)
	if row < 0 {
		d.wrong = NoRow
		return s, false
	}
	b.met[row] = max(b.met[row], 1+len(effects))
	for _, f := range effects {
		d.perform(f)
	}
	d.goesBack(next, e, effects, b.table[row].Why == "")
	return next, b.table[row].Why == ""
}
