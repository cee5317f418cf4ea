package e2e

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// Calls run in real time, and a machine that stands still for longer than the server waits for a packet tears a sentence in
// two. That is no fault of the server's: what fails then is tried again, and the log says so.
const (
	standstill = 300 * time.Millisecond
	maxTries   = 3
)

// tester is what a caller needs of a test.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
	TempDir() string
}

// steady runs f as a test of its own, which may be tried again when the machine stood still.
func steady(t *testing.T, f func(t tester)) {
	t.Helper()
	for try := 1; ; try++ {
		r := trial{T: t}
		stop := watch()
		r.run(f)
		still := stop()
		switch {
		case len(r.failures) == 0:
			return
		case still < standstill || try == maxTries:
			for _, failure := range r.failures {
				t.Error(failure)
			}
			t.Logf("the machine stood still for %v at most", still.Round(time.Millisecond))
			return
		}
		t.Logf("try %d failed, and the machine stood still for %v: %s", try, still.Round(time.Millisecond), r.failures[0])
	}
}

// watch measures how late a timer is until it is stopped, and gives the worst.
func watch() (stop func() time.Duration) {
	const every = 20 * time.Millisecond
	quit, worst := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		due := time.Now().Add(every)
		timer := time.NewTimer(every)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				late = max(late, time.Since(due))
				due = time.Now().Add(every)
				timer.Reset(every)
			case <-quit:
				worst <- late
				return
			}
		}
	}()
	return func() time.Duration {
		close(quit)
		return <-worst
	}
}

// trial is a tester that keeps its failures.
type trial struct {
	*testing.T
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *trial) run(f func(t tester)) {
	r.alone(func() { f(r) })
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		r.alone(last)
	}
}

// alone runs f on a goroutine that a failure ends.
func (r *trial) alone(f func()) {
	var one sync.WaitGroup
	one.Go(f)
	one.Wait()
}

// Errorf notes a failure.
func (r *trial) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf notes a failure and ends the goroutine.
func (r *trial) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// Cleanup runs f after the trial.
func (r *trial) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// everyone runs f for n callers at once, each on a goroutine that a failed expectation ends, and waits for all.
func everyone(t tester, n int, f func(g *gomega.WithT, i int)) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(gomega.NewWithT(one{t, i}), i) })
	}
	all.Wait()
}

// one is a caller's tester: it says whose a failure is.
type one struct {
	tester
	n int
}

// Fatalf implements gomega's way to fail.
func (o one) Fatalf(format string, args ...any) {
	o.tester.Fatalf("caller %d: "+format, append([]any{o.n}, args...)...)
}
