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

// Coordinator holds a machine's state beside its table. It has one writer: the
// goroutine that takes events from its owner's queue. Nothing here locks.
type Coordinator[S, E Named, F any] struct {
	table Table[S, E, F]
	state S
	hook  func(Transition[S, E, F])
}

// NewCoordinator starts in s. hook, where it is not nil, sees every step before
// the effects are performed, the ignored ones too.
func NewCoordinator[S, E Named, F any](table Table[S, E, F], s S, hook func(Transition[S, E, F])) *Coordinator[S, E, F] {
	return &Coordinator[S, E, F]{table: table, state: s, hook: hook}
}

// State returns the state after the last step.
func (c *Coordinator[S, E, F]) State() S { return c.state }

// Step takes e, stores the next state and returns the effects, which the caller
// performs in order. A pair without a row, which Check does not let pass, changes
// nothing and reaches the hook with the reason "no row".
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
