package conform

// The adapter of response.fizz: compares it with the table of coord/response.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/response"
)

// maxResponses is MAX_RESPONSES of specs/response.fizz.
const maxResponses = 3

// bodySays is an action that the spec has for the driver and the table does not have: a body that runs sends content. It does not
// change the machine, and does not come if no body runs.
type bodySays struct{ response.Event }

func (bodySays) Name() string { return "BodySays" }

type (
	responseRow   = machine.Row[response.State, response.Event, response.Effect]
	responseTable = machine.Table[response.State, response.Event, response.Effect]
)

func saying[From response.State]() responseRow {
	return machine.On[response.State, response.Event](
		"BodySays", func(s From, _ bodySays) (From, []response.Effect) { return s, nil })
}

func withBodySays(table responseTable) responseTable {
	silent := func(s response.State) []responseRow {
		return machine.Ignore[response.State, response.Event, response.Effect]("no body runs", s, bodySays{})
	}
	return machine.Join(
		table,
		[]responseRow{saying[response.Active](), saying[response.Draining](), saying[response.Replacing](), saying[response.Terminating]()},
		silent(response.Idle{}), silent(response.Terminated{}),
	)
}

func responseMachine() Comparer {
	m := watched("response", withBodySays(response.Table), response.Monitor, response.State(response.Idle{}), response.Values, responseEvents,
		func(g response.Seen) map[string]any {
			return map[string]any{
				"newest": g.Newest, "announced": g.Announced, "live": listed(g.Live), "bodies": listed(g.Body), "down": g.Down,
			}
		})
	m.Ghosts = []string{"open", "told"}
	return m
}

// listed returns the list with id, or an empty list for 0.
func listed(id response.ID) []response.ID {
	if id == 0 {
		return []response.ID{}
	}
	return []response.ID{id}
}

// responseEvents returns requests with a new id, while there is one. The targets of a cancel are none, every id of the domain, and
// one beyond it.
func responseEvents(_ response.State, g response.Seen) []Labelled[response.Event] {
	var o offer[response.Event]
	o.add(response.BargeIn{}, "BargeIn")
	o.add(response.Shutdown{}, "Shutdown")
	o.add(bodySays{}, "BodySays")
	if fresh := g.Newest + 1; fresh <= maxResponses {
		turn := machine.Request{Turn: machine.Turn(fresh)}
		o.add(response.Create{ID: fresh, Request: machine.Request{Client: uint64(fresh)}}, "Create")
		o.add(response.CreateByTurn{ID: fresh, Interrupt: true, Request: turn}, "CreateByTurn interrupt=true")
		o.add(response.CreateByTurn{ID: fresh, Request: turn}, "CreateByTurn interrupt=false")
	}
	for target := response.ID(0); target <= maxResponses+1; target++ {
		o.add(response.Cancel{Target: target}, "Cancel target=%d", target)
	}
	for which := response.ID(1); which <= maxResponses+1; which++ {
		for _, status := range []response.Status{response.Completed, response.Failed} {
			o.add(response.BodyEnded{ID: which, Status: status}, `BodyEnded which=%d status="%s"`, which, status)
		}
	}
	return o
}
