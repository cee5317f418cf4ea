package conform

// The adapter of conn.fizz: compares it with the table of coord/conn.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
)

// maxLosses is GENS of specs/conn.fizz.
const maxLosses = 2

type connWorld = world[conn.State, conn.Seen]

// connMachine returns the adapter. It also compares the spec's ghosts with what the code's monitor remembers.
func connMachine() Comparer {
	fields := FieldsOf(conn.Values)
	return Machine[conn.State, conn.Event, conn.Effect, connWorld]{
		Spec: "conn", Table: conn.Table, First: conn.Connecting{}, Domain: connWorld{At: conn.Connecting{}},
		Events: connEvents,
		Grow:   monitored(conn.Table, conn.Monitor),
		Vars: func(s conn.State, w connWorld) map[string]string {
			return ghosts(fields(s), map[string]any{
				"announced": w.Seen.Announced, "detecting": w.Seen.VAD, "grace": w.Seen.Grace, "newest": w.Seen.Newest,
				"stopping": w.Seen.Stopping, "joined": w.Seen.Joined, "released": w.Seen.Released, "forgotten": w.Seen.Forgotten,
			})
		},
	}
}

// connEvents returns every event in every state, except losses beyond the bound.
func connEvents(s conn.State, _ connWorld) []Labelled[conn.Event] {
	var out []Labelled[conn.Event]
	add := func(e conn.Event, label string, a ...any) {
		out = append(out, Labelled[conn.Event]{fmt.Sprintf(label, a...), e})
	}
	for _, on := range []bool{true, false} {
		add(conn.Opened{VAD: on}, "Opened on=%t", on)
		add(conn.SetVAD{On: on}, "SetVAD on=%t", on)
	}
	if live, is := s.(conn.Live); !is || live.Gen < maxLosses {
		add(conn.Lost{}, "Lost")
	}
	add(conn.Restored{}, "Restored")
	for gen := range uint32(maxLosses + 2) {
		add(conn.GraceExpired{Gen: gen}, "GraceExpired timer=%d", gen)
	}
	for _, why := range []conn.Reason{conn.ByClient, conn.ServerStops} {
		add(conn.Close{Reason: why}, `Close why="%s"`, why)
	}
	add(conn.ChildrenDone{}, "ChildrenDone")
	return out
}
