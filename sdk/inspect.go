package sdk

import (
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// Interruptions are how well this session's call has predicted: see Session.Interrupt and the package comment. All count
// from the beginning of the call.
type Interruptions struct {
	// Candidates is how often the agent was lowered because somebody seemed to interrupt.
	Candidates int
	// Confirmed is how often the server said that somebody did, Ahead how many of these were predicted before its word came:
	// Ahead of Confirmed is the coverage.
	Confirmed, Ahead int
	// Rejected is how many candidates the server said were none, Expired how many got no verdict in time.
	Rejected, Expired int
	// LeadMS is the median of how far the predictions that came true were ahead of the server's word (of the last 64), and
	// LastLeadMS the last, in milliseconds.
	LeadMS, LastLeadMS int
	// MispredictedMS is how long the agent was lowered for nothing, and RollbackMS how long it took from the verdict to the full
	// level, at most, in milliseconds.
	MispredictedMS, RollbackMS int
	// RepeatedMS is how much of the agent's sound was played again because it had been lowered, LostMS how much was not
	// heard and not played again, in milliseconds.
	RepeatedMS, LostMS int
}

// MachinesMatch says whether both ends run the same state machines.
type MachinesMatch uint8

// The matches. Exhaustively:
const (
	// MachinesUnknown: the server has not said, as a server that is no Antiphon never does.
	MachinesUnknown MachinesMatch = iota
	// MachinesSame: those that both ends have are the same.
	MachinesSame
	// MachinesDiffer: at least one is not, so one end is of another version. Predictions may be wrong until they are brought
	// together; no word is lost by it.
	MachinesDiffer
)

// String gives "unknown", "same" or "differ".
func (m MachinesMatch) String() string {
	switch m {
	case MachinesUnknown:
		return "unknown"
	case MachinesSame:
		return "same"
	case MachinesDiffer:
		return "differ"
	}
	return "unknown"
}

// Inspection is what goes on inside a session, for an inspector on a page and for logs. Its texts are for reading and may
// change.
type Inspection struct {
	// Predicted and Confirmed are the two lanes in words: what the client believes, what the server has said.
	Predicted, Confirmed string
	// Machines are the client's state machines now.
	Machines []MachineState
	// Last are the last transitions, oldest first, at most 64.
	Last []Transition
}

// MachineState is one machine's state.
type MachineState struct{ Name, State string }

// Transition is one step of a machine.
type Transition struct {
	// At is on the session's Clock.
	At time.Duration
	// Lane is "client" for what is decided here, "server" for what the server's events tell.
	Lane string
	// Machine, From, Event, Action and To are names as in the machine's diagram. Action is empty where the event changed nothing.
	Machine, From, Event, Action, To string
}

// maxTransitions bounds Inspection.Last.
const maxTransitions = 64

// inspector remembers what an Inspection shows. Safe for concurrent use.
type inspector struct {
	mu                   sync.Mutex
	predicted, confirmed view.State
	bargeIn              bargein.State
	ring                 [maxTransitions]Transition
	n                    int // of all transitions
}

func (i *inspector) add(t Transition) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ring[i.n%maxTransitions] = t
	i.n++
}

// Inspect gives what goes on inside. It never blocks for long and may be called from anywhere.
func (s *Session) Inspect() Inspection {
	i := &s.inspector
	i.mu.Lock()
	defer i.mu.Unlock()
	kept := min(i.n, maxTransitions)
	confirmed := wordsOfView(i.confirmed)
	shown := Inspection{
		Predicted: wordsOfView(i.predicted), Confirmed: confirmed,
		Machines: []MachineState{{"bargein", i.bargeIn.Name()}, {"view", confirmed}},
		Last:     make([]Transition, 0, kept),
	}
	for k := i.n - kept; k < i.n; k++ {
		shown.Last = append(shown.Last, i.ring[k%maxTransitions])
	}
	return shown
}

// viewStepped notes what the server has said, or what is expected beyond it.
func (s *Session) viewStepped(from view.State, e view.Event, to view.State) {
	t := Transition{
		At: s.clock.Now(), Lane: "server", Machine: "view", From: wordsOfView(from), Event: e.Name(), To: wordsOfView(to),
	}
	if _, mine := e.(view.Input); mine {
		t.Lane = "client"
	}
	if _, _, row := view.Table.Next(from, e); row >= 0 {
		t.Action = view.Table[row].Action
	}
	s.inspector.add(t)
}

// wordsOfView says a view for a reader, such as "agent heard, interrupting?".
func wordsOfView(s view.State) string {
	o, on := s.(view.Open)
	if !on {
		return "closed"
	}
	var words []string
	say := func(is bool, word string) {
		if is {
			words = append(words, word)
		}
	}
	say(o.Speech != 0, "user speaking")
	say(o.Waiting != 0, "an answer is owed")
	say(o.Live != 0, "an answer is made")
	say(o.Sound != 0, "agent heard")
	say(o.Interrupting, "interrupting?")
	if len(words) == 0 {
		return "listening"
	}
	return strings.Join(words, ", ")
}

// inspect notes both lanes and the machines as they are.
func (s *Session) inspect() {
	i := &s.inspector
	i.mu.Lock()
	defer i.mu.Unlock()
	i.predicted, i.confirmed, i.bargeIn = s.dialog.model.Replay(), s.dialog.model.Confirmed, s.barge.state()
}
