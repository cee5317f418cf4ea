package conform

// The list of all adapters.

import "github.com/antiphon-rt/antiphon/formal-verification/internal/graph"

// Comparer is a Machine or a System, whatever its types are.
type Comparer interface {
	// Name is the spec's.
	Name() string
	// Compare walks the spec's graph and the code together; what differs is a *Difference.
	Compare(*graph.Graph) (Figures, error)
}

// All lists what has code to be compared with, by the name of its spec.
func All() []Comparer {
	return []Comparer{
		responseMachine(),
		turnMachine(),
		connMachine(),
		playoutMachine(),
		synthesisMachine(),
		generationMachine(),
		transcriptionMachine(),
		compactionMachine(),
		sessionMachine(),
		sessionTextMachine(),
		sessionEndMachine(),
		sessionQueueMachine(),
		sessionReportsMachine(),
		runMachine(),
		idempotencyKeys(),
		idempotencyUnknown(),
		bargeinEnds(),
		viewMachine(),
	}
}
