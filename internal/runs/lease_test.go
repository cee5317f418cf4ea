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
	looksAtLeases(g, w, other(time.Hour), k)
	other(time.Nanosecond)
	g.Expect(w.held(id, 4).Attempt).To(gomega.Equal(uint64(2)), "another Runner goes on")
	var why error
	(&Turn{r: old.r, key: k, attempt: old.attempt, stop: func(err error) { why = err }}).renew(t.Context())
	g.Expect(why).To(gomega.MatchError(ErrTaken), "the old owner has not renewed the lease of another attempt")
	g.Expect(old.Progress(t.Context(), "from the old owner")).To(gomega.MatchError(ErrTaken))
	w.cancel(id)
	w.check(id)
}

// looksAtLeases checks when the lease of a running run is over: an hour after the owner has written or has renewed it last. The owner's turn counts for its own attempt alone.
func looksAtLeases(g *gomega.WithT, w *world, other *Runner, k key) {
	ctx := w.t.Context()
	e, err := w.runner.book.last(ctx, k)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s, is := e.state().(run.Running)
	g.Expect(is).To(gomega.BeTrue())
	w.runner.mu.Lock()
	turn := w.runner.turns[k]
	w.runner.mu.Unlock()
	turn.renew(ctx)
	lease, err := w.runner.open.Get(ctx, k.String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(lease.Written.After(e.written)).To(gomega.BeTrue())
	for _, row := range []struct {
		by      *Runner
		attempt run.Attempt
		after   time.Duration // of the renewal
		over    bool
	}{
		{other, s.Attempt, time.Hour, false},
		{other, s.Attempt, time.Hour + 1, true},
		{w.runner, s.Attempt, 2 * time.Hour, false},
		{w.runner, s.Attempt + 1, time.Hour, false},
		{w.runner, s.Attempt + 1, time.Hour + 1, true},
	} {
		g.Expect(row.by.over(ctx, k, e, run.Running{Attempt: row.attempt}, lease.Written.Add(row.after))).To(gomega.Equal(row.over), "%+v", row)
	}
}

// TestARunBeginsWhenThereIsRoom: when the turn before it ends, and not when the Runner looks at all runs.
func TestARunBeginsWhenThereIsRoom(t *testing.T) {
	w := newWorld(t, onDisk(t), Config{MaxRunning: 2}, 0, beforeWrite)
	first := w.begin(plan{Hold: true}, run.RequireReply)
	w.held(first, 3)
	second := w.begin(plan{}, run.RequireReply)
	gomega.NewWithT(t).Eventually(func() int {
		w.runner.mu.Lock()
		defer w.runner.mu.Unlock()
		return len(w.runner.behind)
	}, time.Minute, time.Millisecond).Should(gomega.Equal(1))
	w.cancel(first)
	w.until(second, "succeeded")
	w.check(second)
}
