package conform

// Compares session_reports.fizz with the composition, and checks that faults in the composition are found.

import "testing"

func TestSessionReports(t *testing.T) {
	faithful(t, sessionReportsMachine(), "a turn that waits is forgotten")
}
