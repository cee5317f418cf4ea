package conform

// The adapter of conn.fizz: compares it with the table of coord/conn.

import "github.com/antiphon-rt/antiphon/coord/conn"

// maxLosses is GENS of specs/conn.fizz.
const maxLosses = 2

func connMachine() Comparer {
	return watched("conn", conn.Table, conn.Monitor, conn.State(conn.Connecting{}), conn.Values, connEvents,
		seen[conn.Seen](map[string]string{"vad": "detecting"}))
}

// connEvents returns every event in every state, except losses beyond the bound.
func connEvents(s conn.State, _ conn.Seen) []Labelled[conn.Event] {
	var o offer[conn.Event]
	for _, on := range []bool{true, false} {
		o.add(conn.Opened{VAD: on}, "Opened on=%t", on)
		o.add(conn.SetVAD{On: on}, "SetVAD on=%t", on)
	}
	if live, is := s.(conn.Live); !is || live.Gen < maxLosses {
		o.add(conn.Lost{}, "Lost")
	}
	o.add(conn.Restored{}, "Restored")
	for gen := range uint32(maxLosses + 2) {
		o.add(conn.GraceExpired{Gen: gen}, "GraceExpired timer=%d", gen)
	}
	for _, why := range []conn.Reason{conn.ByClient, conn.ServerStops} {
		o.add(conn.Close{Reason: why}, `Close why="%s"`, why)
	}
	o.add(conn.ChildrenDone{}, "ChildrenDone")
	return o
}
