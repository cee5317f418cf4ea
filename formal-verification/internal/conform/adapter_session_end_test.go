package conform

// Compares session_end.fizz with the composition, and checks that faults in the composition are found.

import "testing"

func TestSessionEnd(t *testing.T) { faithful(t, sessionEndMachine(), "a turn that waits is forgotten") }
