package conform

// The adapter of bargein.fizz: compares the client's half of a barge-in with the table of coord/bargein.

import (
	"encoding/json"
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
	bargeinReplies    = 2
)

// bargeinExchange compares both halves of bargein.fizz with the code. For the client it gives every event that may come in a state
// of the spec to the table of coord/bargein, and performs the effects. Both must reach the same state. bargein_server.go has the
// server.
type bargeinExchange struct {
	table bargeinTable
	met   []int      // by row: one more than the most effects that it had; 0: never met
	nodes []exchange // of the graph, once they were read

	next   nextFunc        // the server's composition
	served map[string]bool // the actions of its playout that were met

	offered func(bargein.State, bargein.Event) // notes what the client's table is given, or nil
}

type bargeinTable = machine.Table[bargein.State, bargein.Event, bargein.Effect]

// bargeinEnds returns the comparer with the code of both ends.
func bargeinEnds() Comparer { return &bargeinExchange{table: bargein.Table, next: session.Next} }

// exchange is a node of the spec: its variables in Go.
type exchange struct {
	Client struct {
		State             string
		Reply, Cand, Full int
		Cut               bool
	}
	Driver   bargeinDriver
	Server   serving
	Up, Down []string
	Media    []int
}

func readExchange(n graph.Node) (exchange, error) {
	var x exchange
	for name, into := range map[string]any{
		"c": &x.Client, "p": &x.Driver, "s": &x.Server, "up": &x.Up, "down": &x.Down, "media": &x.Media,
	} {
		if err := json.Unmarshal([]byte(n.Vars[name]), into); err != nil {
			return x, fmt.Errorf("read %s of %s: %w", name, n.Vars[name], err)
		}
	}
	return x, nil
}

// read decodes the graph's nodes, once.
func (b *bargeinExchange) read(g *graph.Graph) error {
	if len(b.nodes) == len(g.Nodes) {
		return nil
	}
	b.nodes = make([]exchange, len(g.Nodes))
	for i, n := range g.Nodes {
		x, err := readExchange(n)
		if err != nil {
			return err
		}
		b.nodes[i] = x
	}
	return nil
}

// client returns the state of coord/bargein that the node stands for.
func (x exchange) client() (bargein.State, error) {
	c := x.Client
	reply, cand, full := machine.Response(c.Reply), bargein.ID(c.Cand), bargein.Position(c.Full)
	states := map[string]bargein.State{
		"Silent":     bargein.Silent{Last: reply, Cut: c.Cut},
		"Playing":    bargein.Playing{Resp: reply},
		"Ducked":     bargein.Ducked{Resp: reply, Candidate: cand, Full: full},
		"Silenced":   bargein.Silenced{Resp: reply, Candidate: cand, Full: full},
		"Restored":   bargein.Restored{Resp: reply, Candidate: cand},
		"Unanswered": bargein.Unanswered{Resp: reply, Candidate: cand, Full: full},
		"Closed":     bargein.Closed{},
	}
	if s, is := states[c.State]; is {
		return s, nil
	}
	return nil, fmt.Errorf("the client has no state %q", c.State)
}

// meeting is one action of the spec with the client's event. Messages, packets and timers have a step in the spec also if the
// client ignores them. The others have none then.
type meeting struct {
	action string
	comes  bool
	event  bargein.Event        // nil: a packet is no event by itself
	before func(*bargeinDriver) // what the driver makes of it first
	after  func(*bargeinDriver, bargein.State)
}

// meetings returns all events that the client may get in this state.
func (x exchange) meetings() ([]meeting, error) {
	if x.Client.State == (bargein.Closed{}).Name() {
		return nil, nil
	}
	newest := bargein.ID(x.Driver.Newest)
	out := []meeting{
		{action: "VoiceEnded", event: bargein.VoiceEnded{Candidate: newest}},
		{action: "Close", event: bargein.Close{}, after: func(d *bargeinDriver, _ bargein.State) { *d = bargeinDriver{Level: d.Level} }},
	}
	limit := 1
	if x.Server.Kind == "extended" {
		limit = bargeinCandidates
	} else {
		out = append(out, meeting{action: "Sustained", event: bargein.Sustained{Candidate: newest}})
	}
	if x.Driver.Newest < limit && x.Client.Reply < bargeinReplies {
		out = append(out, meeting{action: "Onset", event: bargein.Onset{Candidate: newest + 1, At: bargein.Position(x.Driver.At)}})
	}
	heard := len(x.Media)+len(x.Down) == 0 && x.Server.Pos == bargeinUnits && x.Server.Cand == 0
	if x.Server.Kind == "plain" && heard && x.Client.Reply < bargeinReplies {
		out = append(out, meeting{action: "Ended", event: bargein.Ended{Resp: 1}})
	}
	if x.Driver.Begun {
		out = append(out, meeting{action: "BeganAgain", event: bargein.Began{Resp: bargeinReplies}, after: noteBegun})
	}
	return x.coming(out)
}

// coming adds the first message and the first packet that are on their way.
func (x exchange) coming(out []meeting) ([]meeting, error) {
	if len(x.Driver.Timers) > 0 {
		out = append(out, meeting{
			action: "Expire", comes: true, event: bargein.Expired{Candidate: bargein.ID(x.Driver.Timers[0])},
			before: func(d *bargeinDriver) { d.Timers = d.Timers[1:] },
		})
	}
	if len(x.Media) > 0 {
		out = append(out, meeting{action: "Hear", comes: true, before: func(d *bargeinDriver) { d.plays(x.Media[0]) }})
	}
	if len(x.Down) == 0 {
		return out, nil
	}
	m := meeting{action: "RecvDown", comes: true}
	word, number, _ := strings.Cut(x.Down[0], " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("read the message %q: %w", x.Down[0], err)
	}
	switch word {
	case "ack":
		m.event = bargein.Acked{Candidate: bargein.ID(n), At: bargein.Position(bargeinSilence + n)}
	case "rejected":
		m.event = bargein.Rejected{Candidate: bargein.ID(n)}
	case "confirmed":
		m.event = bargein.Confirmed{Resp: machine.Response(n), At: bargein.Position(x.Driver.At)}
		m.after = func(d *bargeinDriver, _ bargein.State) { d.At, d.Mark, d.Watch, d.Timers = 0, 0, 0, nil }
	case "began":
		m.event, m.after = bargein.Began{Resp: machine.Response(n)}, noteBegun
	default:
		return nil, fmt.Errorf("the client knows no message %q", x.Down[0])
	}
	return append(out, m), nil
}

func noteBegun(d *bargeinDriver, was bargein.State) { d.Begun = bargein.Pending(was) != 0 }

// meet gives an event to the code. taken reports whether the code did not ignore it.
func (b *bargeinExchange) meet(s bargein.State, d *bargeinDriver, m meeting) (next bargein.State, taken bool, err error) {
	if m.before != nil {
		m.before(d)
	}
	if m.event != nil {
		was := s
		if s, taken, err = b.step(s, d, m.event); err != nil {
			return s, taken, err
		}
		if m.after != nil {
			m.after(d, was)
		}
	}
	if d.Watch > 0 && d.Mark == d.Watch { // the driver sees it at once
		passed := bargein.Passed{Candidate: bargein.ID(d.Watch)}
		d.Watch, d.Mark = 0, 0
		s, _, err = b.step(s, d, passed)
	}
	return s, taken, err
}

func (b *bargeinExchange) step(s bargein.State, d *bargeinDriver, e bargein.Event) (bargein.State, bool, error) {
	if b.offered != nil {
		b.offered(s, e)
	}
	next, effects, row := b.table.Next(s, e)
	if row < 0 {
		return s, false, fmt.Errorf("%s has %s for %s", s.Name(), NoRow, e.Name())
	}
	b.met[row] = max(b.met[row], 1+len(effects))
	for _, f := range effects {
		d.perform(f)
	}
	if d.wrong != "" {
		return s, true, fmt.Errorf("%s is told %s, and performs %s", s.Name(), e.Name(), d.wrong)
	}
	return next, b.table[row].Why == "", nil
}

// Name is the spec's.
func (*bargeinExchange) Name() string { return "bargein" }

// Compare gives, in every state of the spec, every event that may come there to the code.
func (b *bargeinExchange) Compare(g *graph.Graph) (Figures, error) {
	var figures Figures
	if g == nil || len(g.Nodes) == 0 || len(g.Init) == 0 {
		return figures, &Difference{What: "the spec has no states to compare"}
	}
	b.met = make([]int, len(b.table))
	if err := b.read(g); err != nil {
		return figures, err
	}
	// The spec begins when the response does.
	begun, _, row := b.table.Next(bargein.Silent{}, bargein.Began{Resp: 1})
	if row < 0 || begun != (bargein.Playing{Resp: 1}) {
		return figures, &Difference{What: "the code does not begin to play"}
	}
	b.met[row] = 1
	out := make([][]graph.Edge, len(g.Nodes))
	for _, e := range g.Edges {
		out[e.From] = append(out[e.From], e)
	}
	for n := range g.Nodes {
		figures.States++
		if what := b.visit(n, out[n], &figures); what != "" {
			return figures, &Difference{What: vars(g.Nodes[n].Vars) + ": " + what}
		}
	}
	for i, row := range b.table {
		if b.met[i] == 0 && row.Why == "" {
			return figures, &Difference{What: "this row of the table was never met: " + row.From + " + " + row.Event + ", " + row.Action}
		}
	}
	if err := b.serves(g, out, &figures); err != nil {
		return figures, err
	}
	return figures, nil
}

func (b *bargeinExchange) visit(n int, out []graph.Edge, figures *Figures) string {
	x := b.nodes[n]
	state, err := x.client()
	if err != nil {
		return err.Error()
	}
	meetings, err := x.meetings()
	if err != nil {
		return err.Error()
	}
	for _, m := range meetings {
		d := x.driver()
		next, taken, err := b.meet(state, &d, m)
		if err != nil {
			return m.action + ": " + err.Error()
		}
		at := slices.IndexFunc(out, func(e graph.Edge) bool { return e.Action == m.action })
		switch {
		case at < 0 && (m.comes || taken):
			return "the spec has no " + m.action
		case at < 0:
			figures.Refused++
			continue
		case !m.comes && !taken:
			return "the code ignores " + m.action
		}
		if what := x.differs(b.nodes[out[at].To], next, d, m.action == "Close"); what != "" {
			return m.action + ": " + what
		}
		figures.Edges++
		out = slices.Delete(slices.Clone(out), at, at+1)
	}
	return b.others(x, out)
}

// differs returns how the spec's next state differs from the code's, or "".
func (x exchange) differs(to exchange, next bargein.State, d bargeinDriver, closes bool) string {
	want, err := to.client()
	if err != nil {
		return err.Error()
	}
	if want != next {
		return fmt.Sprintf("the spec's client is then %s %v, the code's %s %v", want.Name(), want, next.Name(), next)
	}
	up := x.Up
	if x.Server.Kind != "plain" { // which is told nothing
		up = slices.Concat(x.Up, d.sent)
	}
	if closes {
		up = nil
	}
	d.sent = nil
	is := to.driver()
	if len(d.Timers) == 0 && len(is.Timers) == 0 {
		d.Timers, is.Timers = nil, nil
	}
	if !reflect.DeepEqual(d, is) || !slices.Equal(up, to.Up) {
		return fmt.Sprintf("in the spec the driver has then %+v and has sent %v, in the code %+v and %v", is, to.Up, d, up)
	}
	return ""
}

// others checks the server's steps: none of them changes the client.
func (b *bargeinExchange) others(x exchange, out []graph.Edge) string {
	clients := []string{"Onset", "Sustained", "VoiceEnded", "Ended", "BeganAgain", "Close", "Expire", "Hear", "RecvDown"}
	for _, e := range out {
		if slices.Contains(clients, e.Action) {
			return "only the spec can take " + e.Label()
		}
		to := b.nodes[e.To]
		if to.Client != x.Client || !reflect.DeepEqual(to.Driver, x.Driver) {
			return e.Label() + " changes the client"
		}
	}
	return ""
}
