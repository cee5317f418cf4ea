package conform

// The list of all adapters.

import "github.com/antiphon-rt/antiphon/formal-verification/internal/graph"

// Comparer is an adapter, whatever its types are. Compare compares the code with the graph of the spec that Name names.
type Comparer interface {
	// Name is the spec's.
	Name() string
	// Compare walks the spec's graph and the code together; what differs is a *Difference.
	Compare(*graph.Graph) (Figures, error)
}

// Invariants returns the names of the invariants of the code's monitor.
func Invariants(c Comparer) []string {
	if m, is := c.(interface{ invariants() []string }); is {
		return m.invariants()
	}
	return nil
}

func All() []Comparer {
	return []Comparer{
		responseMachine(),
		turnMachine(),
		connMachine(),
		playoutMachine(),
		synthesisMachine(),
		generationMachine(),
		draftMachine(),
		voicegateMachine(),
		transcriptionMachine(),
		compactionMachine(),
		continuationMachine(),
		remotecallMachine(),
		turnendMachine(),
		sessionMachine(),
		sessionTextMachine(),
		sessionEndMachine(),
		sessionQueueMachine(),
		sessionReportsMachine(),
		runMachine(),
		twoKeys{},
		idempotencyUnknown(),
		journalMachine(),
		journalTakeover(),
		bargeinEnds(),
		viewMachine(),
	}
}
