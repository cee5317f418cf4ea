package logbook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
)

// TestTheClockGoesBack: the logbooks that were begun last stay, whatever the clock says, also those that a version before has named by the time alone.
func TestTheClockGoesBack(t *testing.T) {
	g, folder := gomega.NewWithT(t), t.TempDir()
	for _, name := range []string{"2026-11-28T12-00-00.000000Z_sess_old.logbook", "notes.txt"} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), nil, 0o600)).To(gomega.Succeed())
	}
	now := time.Date(2026, 11, 28, 12, 0, 1, 0, time.UTC)
	for n := range 12 {
		f, err := logbook.Create(folder, fmt.Sprint("sess_", n), 3, now)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(f.Close()).To(gomega.Succeed())
		now = now.Add(-time.Hour)
	}
	names, err := logbook.In(folder)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(names).To(gomega.Equal([]string{
		"00000010_2026-11-28T03-00-01.000000Z_sess_9.logbook", "00000011_2026-11-28T02-00-01.000000Z_sess_10.logbook", "00000012_2026-11-28T01-00-01.000000Z_sess_11.logbook",
	}))
	g.Expect(filepath.Join(folder, "notes.txt")).To(gomega.BeARegularFile())
}
