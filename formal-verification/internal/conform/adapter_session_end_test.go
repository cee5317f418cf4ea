package conform

import "testing"

func TestSessionEnd(t *testing.T) { faithful(t, sessionEndMachine(), "a turn that waits is forgotten") }
