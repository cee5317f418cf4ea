package conform

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/response"
)

// maxResponses is MAX_RESPONSES of specs/response.fizz.
const maxResponses = 4

// responseMachine offers a fresh id while there is one, and as targets nothing, every
// known id and one that never was. The domain is the newest id.
func responseMachine() Comparer {
	fields := Fields[response.State](
		response.Idle{}, response.Active{}, response.Draining{}, response.Replacing{}, response.Terminating{}, response.Terminated{},
	)
	return Machine[response.State, response.Event, response.Effect, response.ID]{
		Spec: "response", Table: response.Table, First: response.Idle{},
		Events: responseEvents,
		Grow: func(newest response.ID, e response.Event) response.ID {
			switch e := e.(type) {
			case response.Create:
				return e.ID
			case response.CreateByTurn:
				return e.ID
			case response.Cancel, response.BargeIn, response.BodyEnded, response.Shutdown:
			}
			return newest
		},
		Vars: func(s response.State, newest response.ID) map[string]string {
			out := fields(s)
			out["newest"] = JSON(newest)
			return out
		},
	}
}

func responseEvents(_ response.State, newest response.ID) []Labelled[response.Event] {
	var out []Labelled[response.Event]
	add := func(e response.Event, label string, a ...any) {
		out = append(out, Labelled[response.Event]{fmt.Sprintf(label, a...), e})
	}
	add(response.BargeIn{}, "BargeIn")
	add(response.Shutdown{}, "Shutdown")
	if fresh := newest + 1; fresh <= maxResponses {
		add(response.Create{ID: fresh}, "Create")
		add(response.CreateByTurn{ID: fresh, Interrupt: true}, "CreateByTurn interrupt=true")
		add(response.CreateByTurn{ID: fresh}, "CreateByTurn interrupt=false")
	}
	for id := response.ID(0); id <= newest; id++ {
		add(response.Cancel{Target: id}, "Cancel target=%d", id)
	}
	for id := response.ID(1); id <= newest; id++ {
		for _, status := range []response.Status{response.Completed, response.Failed} {
			add(response.BodyEnded{ID: id, Status: status}, `BodyEnded id=%d status="%s"`, id, status)
		}
	}
	return out
}
