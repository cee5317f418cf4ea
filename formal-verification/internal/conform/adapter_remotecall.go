package conform

// The adapter of remotecall.fizz: compares it with the table of internal/coord/remotecall.

import "github.com/antiphon-rt/antiphon/internal/coord/remotecall"

func remotecallMachine() Comparer {
	return watched("remotecall", remotecall.Table, remotecall.Monitor, remotecall.State(remotecall.Writing{}), remotecall.Values, remotecallEvents,
		func(g remotecall.Seen) map[string]any {
			return map[string]any{"asked": g.Asked, "approved": g.Approved, "called": g.Called, "closed": g.Closed}
		})
}

func remotecallEvents(remotecall.State, remotecall.Seen) []Labelled[remotecall.Event] {
	o := offer[remotecall.Event]{{"Ended", remotecall.Ended{}}, {"Cut", remotecall.Cut{}}, {"Lost", remotecall.Lost{}}}
	for i, yes := range []bool{false, true} {
		o.add(remotecall.Complete{Ask: yes}, "Complete ask=%d", i)
		o.add(remotecall.Answer{Approve: yes}, "Answer approve=%d", i)
	}
	return o
}
