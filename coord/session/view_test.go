package session_test

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/internal/projection"
)

// The client's view of a session (package view) is checked here, where the session's exploration and its simulator are.

// projects says what is wrong with a step, where a client that has heard of all before it hears what the step tells. next is
// the client's.
func projects(e session.Edge, next func(view.State, view.Event) view.State) string {
	confirmed := projection.ClientView(e.From)
	if c, sets := e.Event.(session.Configure); sets {
		confirmed = next(confirmed, projection.Configured(c.Config))
	}
	for _, f := range e.Effects {
		told, why := projection.Told(f, e.To.Config)
		switch {
		case told != nil:
			confirmed = next(confirmed, told)
		case why == "":
			return fmt.Sprintf("%s is neither told nor kept back for a reason", f.Name())
		}
	}
	if !projection.Agrees(confirmed, e.To) {
		return fmt.Sprintf("ConfirmedIsProjection: the client has %+v, the server %+v", confirmed, projection.ClientView(e.To))
	}
	return ""
}

// reconfigured are the steps from the end of e to every other setting, which the exploration has none of.
func reconfigured(e session.Edge) []session.Edge {
	if !conn.Up(e.To.Conn) {
		return nil
	}
	var out []session.Edge
	for _, c := range []session.Config{{}, {Interrupt: true}, {CreateResponse: true}, {Interrupt: true, CreateResponse: true}} {
		c.Reports = e.To.Config.Reports
		set := session.Configure{Config: c}
		to, effects, _ := session.Next(e.To, playout.Position{}, set)
		out = append(out, session.Edge{From: e.To, Event: set, To: to, Effects: effects})
	}
	return out
}

// watcher is the client's end of the wire in a call of the simulator: what is under way to it, and what it has confirmed.
type watcher struct {
	next      func(view.State, view.Event) view.State
	confirmed view.State
	underWay  []event
	server    session.State
}

// event is one that the client is told of, in the state in which it was sent; last: nothing more of its step follows.
type event struct {
	of    session.Effect // nil: session.updated
	told  view.Told
	state session.State
	last  bool
}

func newWatcher(c session.Config) *watcher {
	s := session.New(c)
	return &watcher{next: view.Next, confirmed: projection.ClientView(s), server: s}
}

func init() {
	session.NewWatcher = func(c session.Config) session.Watcher { return newWatcher(c) }
}

// Stepped sends what a step tells. One that tells nothing changes nothing that a client can know.
func (w *watcher) Stepped(e session.Edge) string {
	if e.From != w.server {
		return "the session is not where its last step left it"
	}
	w.server = e.To
	before := len(w.underWay)
	if c, sets := e.Event.(session.Configure); sets {
		w.underWay = append(w.underWay, event{nil, projection.Configured(c.Config), e.To, false})
	}
	for _, f := range e.Effects {
		if told, _ := projection.Told(f, e.To.Config); told != nil {
			w.underWay = append(w.underWay, event{f, told, e.To, false})
		}
	}
	if n := len(w.underWay); n > before {
		w.underWay[n-1].last = true
		return ""
	}
	return projects(e, view.Next)
}

// Delivered takes what has arrived, and session.updated with what follows it: they are never apart.
func (w *watcher) Delivered(f session.Effect) string {
	if told, _ := projection.Told(f, session.Config{}); told == nil {
		return ""
	}
	for len(w.underWay) > 0 {
		e := w.underWay[0]
		if broken := w.take(); broken != "" || e.of != nil {
			if broken == "" && e.of != f {
				return fmt.Sprintf("%s arrives, but %s was sent before it", f.Name(), e.of.Name())
			}
			return broken
		}
	}
	return f.Name() + " arrives, and was not sent"
}

// take lets the client hear what is first under way, and compares.
func (w *watcher) take() string {
	e := w.underWay[0]
	w.underWay = w.underWay[1:]
	w.confirmed = w.next(w.confirmed, e.told)
	if e.last && !projection.Agrees(w.confirmed, e.state) {
		return fmt.Sprintf("ConfirmedIsProjection: the client has %+v, the server had %+v", w.confirmed, projection.ClientView(e.state))
	}
	return ""
}

// Rests takes what the simulator has no message for: settings at the end, and the end itself.
func (w *watcher) Rests() string {
	for len(w.underWay) > 0 {
		_, ended := w.underWay[0].told.(view.Ended)
		_, set := w.underWay[0].told.(view.Configured)
		if !ended && !set {
			return w.underWay[0].told.Name() + " never arrives"
		}
		if broken := w.take(); broken != "" {
			return broken
		}
	}
	return ""
}

// TestViewIsProjection steps a client along every edge of the exploration, and along every change of the settings.
func TestViewIsProjection(t *testing.T) {
	edges, changes := 0, 0
	known := map[session.State]bool{}
	broken := session.ExploreEdges(session.Next, func(e session.Edge) string {
		edges++
		if broken := projects(e, view.Next); broken != "" || known[e.To] {
			return broken
		}
		known[e.To] = true
		for _, c := range reconfigured(e) {
			changes++
			if broken := projects(c, view.Next); broken != "" {
				return broken
			}
		}
		return ""
	})
	t.Logf("%d edges, %d changes of the settings", edges, changes)
	gomega.NewWithT(t).Expect(broken).To(gomega.BeEmpty())
}

// TestViewSeesWhatIsNotTold: a server that says one thing less than it does has another state than its client.
func TestViewSeesWhatIsNotTold(t *testing.T) {
	for _, silent := range []session.Effect{
		conn.AnnounceSession{},
		conn.ReleaseTransport{},
		turn.EmitSpeechStarted{},
		turn.EmitSpeechStopped{},
		turn.CommitTurn{},
		response.EmitCreated{},
		response.EmitTerminal{},
		playout.EmitStarted{},
		playout.EmitStopped{},
		playout.EmitCleared{},
		transcription.DeliverText{},
		transcription.DeliverFailure{},
	} {
		next := session.Speechless(func(f session.Effect) bool { return f.Name() == silent.Name() })
		broken := session.ExploreEdges(next, func(e session.Edge) string { return projects(e, view.Next) })
		gomega.NewWithT(t).Expect(broken).To(gomega.HavePrefix("ConfirmedIsProjection"), silent.Name())
	}
}

// TestViewNeedsItsRows: a client that leaves out one row about what the server says has another state than the server.
func TestViewNeedsItsRows(t *testing.T) {
	for i, row := range view.Table {
		if row.Action == "" || row.From == "Closed" && row.Event == "Ended" || predicts[row.Event] {
			continue
		}
		without := view.Table.Mutate(i, nil)
		next := func(s view.State, e view.Event) view.State {
			to, _, _ := without.Next(s, e)
			return to
		}
		broken := session.ExploreEdges(session.Next, func(e session.Edge) string {
			broken := projects(e, next)
			for _, c := range reconfigured(e) {
				if broken == "" {
					broken = projects(c, next)
				}
			}
			return broken
		})
		gomega.NewWithT(t).Expect(broken).To(gomega.HavePrefix("ConfirmedIsProjection"), row.From+" + "+row.Event+", "+row.Action)
	}
}

// predicts are the inputs, which no server says.
var predicts = map[string]bool{
	"Candidate": true, "Interrupt": true, "Write": true, "Commit": true, "Ask": true, "Cancel": true, "Clear": true,
}

// TestCallsShowTheView: in whole calls the client's view is compared when an event arrives.
func TestCallsShowTheView(t *testing.T) {
	faithful := session.NewWatcher
	defer func() { session.NewWatcher = faithful }()
	session.NewWatcher = func(c session.Config) session.Watcher {
		w := newWatcher(c)
		w.next = func(s view.State, e view.Event) view.State {
			if _, words := e.(view.Transcribed); words {
				return s
			}
			return view.Next(s, e)
		}
		return w
	}
	gomega.NewWithT(t).Expect(session.PlayCalls(500, session.Next)).To(gomega.HavePrefix("ConfirmedIsProjection"))
}
