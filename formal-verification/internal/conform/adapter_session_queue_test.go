package conform

import "testing"

func TestSessionQueue(t *testing.T) {
	faithful(t, sessionQueueMachine(), "a turn that waits is forgotten", "a reason is another")
}
