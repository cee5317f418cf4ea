package conform

import "testing"

func TestSessionText(t *testing.T) { faithful(t, sessionTextMachine()) }
