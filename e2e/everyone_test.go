package e2e

// Tests with several callers at once.

import (
	"sync"
	"testing"

	"github.com/onsi/gomega"
)

// everyone runs f for n callers at once and waits for all. Each caller has a goroutine, which a failed expectation ends.
func everyone(t *testing.T, n int, f func(g *gomega.WithT, i int)) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(gomega.NewWithT(numbered{t, i}), i) })
	}
	all.Wait()
}

// numbered is a testing.TB that names the caller whose expectation failed.
type numbered struct {
	*testing.T
	caller int
}

// Fatalf ends the goroutine of the caller and names the caller.
func (n numbered) Fatalf(format string, args ...any) {
	n.T.Helper()
	n.T.Fatalf("caller %d: "+format, append([]any{n.caller}, args...)...)
}
