package conform

// Compares session_queue.fizz with the composition, and checks that faults in the composition are found.

import "testing"

func TestSessionQueue(t *testing.T) {
	faithful(t, sessionQueueMachine(), "a turn that waits is forgotten", "a reason is another")
}
