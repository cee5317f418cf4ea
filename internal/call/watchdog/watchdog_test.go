package watchdog

// Stages that fail, panic or hang: the watchdog abandons them and counts them.

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const stage = pipeline.StageModel

// guarded runs a test in a bubble, with a Guard of the default limits.
func guarded(t *testing.T, test func(g *gomega.WithT, guard *Guard)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(gomega.NewWithT(t), New(env.System(), Defaults()))
	})
}

func TestRunReturnsTheErrorOfTheWork(t *testing.T) {
	guarded(t, func(g *gomega.WithT, guard *Guard) {
		broken := errors.New("broken")
		g.Expect(guard.Run(context.Background(), stage, func(w *Watch) error {
			w.Expect("the call", time.Second)
			return broken
		})).To(gomega.Equal(broken))
		g.Expect(guard.Abandoned(stage)).To(gomega.BeZero())
	})
}

func TestRunContainsAPanic(t *testing.T) {
	guarded(t, func(g *gomega.WithT, guard *Guard) {
		err := guard.Run(context.Background(), stage, func(*Watch) error { panic("broken") })
		g.Expect(room.Stack(err)).To(gomega.ContainSubstring("watchdog_test.go"))
	})
}

func TestACallThatTakesTooLongIsAbandoned(t *testing.T) {
	guarded(t, func(g *gomega.WithT, guard *Guard) {
		release, delivered := make(chan struct{}), make(chan error)
		began := time.Now()
		err := guard.Run(context.Background(), stage, func(w *Watch) error {
			w.Expect("the first call", time.Hour)
			w.Rest()
			<-time.After(time.Minute) // a rest has no limit
			w.Expect("the second call", time.Second)
			<-release
			delivered <- w.Deliver(func() error { panic("nobody waits for it") })
			return nil
		})
		var late *Timeout
		g.Expect(errors.As(err, &late)).To(gomega.BeTrue())
		g.Expect(*late).To(gomega.Equal(Timeout{Call: "the second call", Limit: time.Second}))
		g.Expect(time.Since(began)).To(gomega.Equal(time.Minute + time.Second))
		g.Expect(guard.Abandoned(stage)).To(gomega.Equal(1))
		close(release)
		g.Expect(<-delivered).To(gomega.MatchError(ErrAbandoned))
		synctest.Wait()
		g.Expect(guard.Abandoned(stage)).To(gomega.BeZero())
	})
}

func TestACancelledCallHasALimit(t *testing.T) {
	guarded(t, func(g *gomega.WithT, guard *Guard) {
		release := make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		began := time.Now()
		err := guard.Run(ctx, stage, func(w *Watch) error {
			<-time.After(time.Second)
			w.Expect("a call that begins later", time.Hour) // it does not move the limit
			<-release
			return nil
		})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("the end of a cancelled call")))
		g.Expect(time.Since(began)).To(gomega.Equal(guard.Limits.Close))
		close(release)
	})
}

func TestAStageWithTooManyAbandonedCallsIsBusy(t *testing.T) {
	guarded(t, func(g *gomega.WithT, guard *Guard) {
		release := make(chan struct{})
		hang := func(w *Watch) error {
			w.Expect("the call", time.Second)
			<-release
			return nil
		}
		for range MaxAbandoned {
			g.Expect(guard.Run(context.Background(), stage, hang)).To(gomega.HaveOccurred())
		}
		err := guard.Run(context.Background(), stage, hang)
		g.Expect(err).To(gomega.MatchError(pipeline.ErrBusy))
		g.Expect(guard.Run(context.Background(), pipeline.StageSynthesizer, func(*Watch) error { return nil })).To(gomega.Succeed())
		close(release)
		synctest.Wait()
		g.Expect(guard.Run(context.Background(), stage, func(*Watch) error { return nil })).To(gomega.Succeed())
	})
}
