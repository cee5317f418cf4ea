package sdk

// What an inspector shows: figures about predictions, the machines, and their last steps.

import (
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// Interruptions says how well the client has predicted interruptions: see the package comment. All figures count from the
// beginning of the call.
type Interruptions struct {
	// Candidates is how often the client has ducked the agent because the user seemed to interrupt.
	Candidates int
	// Confirmed is how many interruptions the server has confirmed, Ahead how many of these the client had predicted before.
	Confirmed, Ahead int
	// Rejected is how many candidates the server has rejected, Expired how many got no verdict in time.
	Rejected, Expired int
	// LeadMS is how many milliseconds a confirmed prediction came before the server's confirmation: the median of the last 64.
	// LastLeadMS is that of the last one.
	LeadMS, LastLeadMS int
	// MispredictedMS is how long all candidates that were not confirmed have lasted together, in milliseconds. RollbackMS is how long
	// the longest of them has lasted.
	MispredictedMS, RollbackMS int
	// RepeatedMS is how much of the agent's sound was played again after a candidate that was not confirmed, LostMS how much was
	// silenced and not played again, in milliseconds.
	RepeatedMS, LostMS int
}

// MachinesMatch says whether both ends run the same state machines.
type MachinesMatch uint8

// The matches.
const (
	// MachinesUnknown: the server has not said. A server without Antiphon's extensions never does.
	MachinesUnknown MachinesMatch = iota
	// MachinesSame: the machines that both ends have are the same.
	MachinesSame
	// MachinesDiffer: at least one machine differs, so one end is of another version. Predictions may be wrong until both ends have
	// the same version; no word is lost.
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

// Inspection is the inner state of a session, for an inspector on a page and for logs. Its texts are for reading and may change.
type Inspection struct {
	// Predicted and Confirmed are the predicted and the confirmed state in words.
	Predicted, Confirmed string
	// Machines are the present states of the client's state machines.
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
	// Lane is "client" for a step that the client took by itself, "server" for one that a server event caused.
	Lane string
	// Machine, From, Event, Action and To are names as in the machine's diagram. Action is empty where the event changed nothing.
	Machine, From, Event, Action, To string
}

// maxTransitions bounds Inspection.Last.
const maxTransitions = 64

// inspector keeps what an Inspection shows. Safe for concurrent use.
type inspector struct {
	mu                   sync.Mutex
	predicted, confirmed view.State
	bargeIn              bargein.State
	ring                 [maxTransitions]Transition
	n                    int // how many transitions there were
}

func (i *inspector) add(t Transition) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ring[i.n%maxTransitions] = t
	i.n++
}

// Inspect returns the inner state of the session. It waits for nothing but a short lock, and any goroutine may call it.
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

// inspectSteps records the steps of both machines since the last job.
func (s *Session) inspectSteps() {
	for _, step := range s.dialog.Steps {
		t := Transition{
			At: s.clock.Now(), Lane: "server", Machine: "view", From: wordsOfView(step.From), Event: step.Event.Name(), To: wordsOfView(step.To),
		}
		if _, mine := step.Event.(view.Input); mine {
			t.Lane = "client"
		}
		if _, _, row := view.Table.Next(step.From, step.Event); row >= 0 {
			t.Action = view.Table[row].Action
		}
		s.inspector.add(t)
	}
	for _, t := range s.barge.Steps {
		s.inspector.add(Transition{
			At: s.clock.Now(), Lane: "client", Machine: "bargein",
			From: t.From.Name(), Event: t.Event.Name(), Action: t.Action, To: t.To.Name(),
		})
	}
	s.dirty = s.dirty || len(s.barge.Steps) > 0
	s.dialog.Steps, s.barge.Steps = s.dialog.Steps[:0], s.barge.Steps[:0]
}

// wordsOfView returns a state of the view in words, such as "agent heard, interrupting?".
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

// inspect copies the predicted state, the confirmed state and the barge-in machine for the inspector.
func (s *Session) inspect() {
	i := &s.inspector
	i.mu.Lock()
	defer i.mu.Unlock()
	i.predicted, i.confirmed, i.bargeIn = s.dialog.Model.Replay(), s.dialog.Model.Confirmed, s.barge.State()
}
