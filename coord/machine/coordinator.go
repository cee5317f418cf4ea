package machine

// The Coordinator: keeps the current state of a machine and applies one event at a time to it.

// Transition is one step that a Coordinator took, for logs and traces.
type Transition[S, E Named, F any] struct {
	From    S
	Event   E
	To      S
	Effects []F
	Action  string // the row's action; empty for an ignored pair
	Why     string // why the pair is ignored; empty for a transition
}

// Coordinator keeps the current state of a machine. Only one goroutine may use it: the one that takes the events from its owner's
// queue. It takes no lock.
type Coordinator[S, E Named, F any] struct {
	table Table[S, E, F]
	state S
	hook  func(Transition[S, E, F])
}

// NewCoordinator returns a Coordinator in the state s. If hook is not nil, it gets every step before the effects are performed,
// also the ignored events.
func NewCoordinator[S, E Named, F any](table Table[S, E, F], s S, hook func(Transition[S, E, F])) *Coordinator[S, E, F] {
	return &Coordinator[S, E, F]{table: table, state: s, hook: hook}
}

// State returns the state after the last step.
func (c *Coordinator[S, E, F]) State() S { return c.state }

// Step applies e, stores the next state and returns the effects. The caller performs them in order. If the table has no row for
// the state and the event, which Check would report, nothing changes, and the hook gets the reason "no row".
func (c *Coordinator[S, E, F]) Step(e E) []F {
	from := c.state
	next, effects, row := c.table.Next(from, e)
	c.state = next
	if c.hook != nil {
		t := Transition[S, E, F]{From: from, Event: e, To: next, Effects: effects, Why: "no row"}
		if row >= 0 {
			t.Action, t.Why = c.table[row].Action, c.table[row].Why
		}
		c.hook(t)
	}
	return effects
}
