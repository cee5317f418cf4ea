package runs

// Several Runners on one store: a lease that holds, and one that has run out.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

func TestALeaseRunsOut(t *testing.T) {
	g, w := gomega.NewWithT(t), newWorld(t, onDisk(t), Config{shared: true, Lease: time.Hour}, 0, beforeWrite)
	id := w.begin(plan{Hold: true}, run.RequireReply)
	w.held(id, 3)
	other := func(lease time.Duration) *Runner {
		cfg := w.cfg
		cfg.Store, cfg.Workers, cfg.Lease = w.store, w.workers, lease
		r, err := New(t.Context(), cfg)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Cleanup(func() {
			now, cancel := context.WithCancel(context.Background())
			cancel()
			if err := r.Close(now); err != nil {
				t.Error(err)
			}
		})
		return r
	}
	k := key{hashed("p"), id}
	g.Expect(other(time.Hour).consider(t.Context(), k)).To(gomega.Succeed())
	now, err := w.runner.Get(t.Context(), "p", id)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(now.Attempt).To(gomega.Equal(uint64(1)), "the lease holds")

	w.runner.mu.Lock()
	old := w.runner.turns[k]
	w.runner.mu.Unlock()
	g.Expect(old).NotTo(gomega.BeNil())
	other(time.Nanosecond)
	g.Expect(w.held(id, 4).Attempt).To(gomega.Equal(uint64(2)), "another Runner goes on")
	g.Expect(old.Progress(t.Context(), "from the old owner")).To(gomega.MatchError(ErrTaken))
	w.cancel(id)
	w.check(id)
}
