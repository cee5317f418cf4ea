package runs

// The shares of the log: the runs of one principal leave room for those of others.

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// TestRunsOfOnePrincipalLeaveRoom checks that a principal whose runs take as much as they leave free loses its own oldest ones, and that another principal can begin runs nevertheless.
func TestRunsOfOnePrincipalLeaveRoom(t *testing.T) {
	g := gomega.NewWithT(t)
	w := newWorld(t, onDisk(t), Config{}, 0, "")
	input := json.RawMessage(`{"pad":"` + strings.Repeat("x", 60<<10) + `"}`)
	ended := func(principal, id string) func() bool {
		return func() bool {
			r, err := w.runner.Get(t.Context(), principal, id)
			return errors.Is(err, store.ErrNotFound) || err == nil && r.Result != nil
		}
	}
	begin := func(principal string) error {
		r, err := w.runner.Start(t.Context(), Request{Principal: principal, Tool: "job", Input: input})
		if err == nil {
			g.Eventually(ended(principal, r.ID), time.Minute, 10*time.Millisecond).Should(gomega.BeTrue())
		}
		return err
	}
	for range 80 { // 4.8 MB, where the log has 4 MiB
		g.Expect(begin("tenant")).To(gomega.Succeed())
	}
	kept, err := w.runner.book.log.Names(t.Context(), hashed("tenant")+".*")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(kept)).To(gomega.And(gomega.BeNumerically(">", 20), gomega.BeNumerically("<", 40)))
	for range 10 {
		g.Expect(begin("another")).To(gomega.Succeed())
	}
	left, err := w.runner.book.log.Names(t.Context(), hashed("another")+".*")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(left).To(gomega.HaveLen(10), "nobody has removed them")
	g.Eventually(func() int {
		w.runner.mu.Lock()
		defer w.runner.mu.Unlock()
		return len(w.runner.openOf)
	}, time.Minute, time.Millisecond).Should(gomega.BeZero(), "nothing is kept of principals without open runs")
}
