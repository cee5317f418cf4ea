package conform

// Compares session_text.fizz with the composition, and checks that faults in the composition are found.

import "testing"

func TestSessionText(t *testing.T) { faithful(t, sessionTextMachine()) }
