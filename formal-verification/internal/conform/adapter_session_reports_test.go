package conform

import "testing"

func TestSessionReports(t *testing.T) {
	faithful(t, sessionReportsMachine(), "a turn that waits is forgotten")
}
