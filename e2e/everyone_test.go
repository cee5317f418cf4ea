package e2e

import (
	"sync"
	"testing"

	"github.com/onsi/gomega"
)

// everyone runs f for n callers at once, each on a goroutine that a failed expectation ends, and waits for all.
func everyone(t *testing.T, n int, f func(g *gomega.WithT, i int)) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(gomega.NewWithT(numbered{t, i}), i) })
	}
	all.Wait()
}

// numbered is a test that says which caller has failed.
type numbered struct {
	*testing.T
	caller int
}

// Fatalf ends the goroutine of the caller and names the caller.
func (n numbered) Fatalf(format string, args ...any) {
	n.T.Helper()
	n.T.Fatalf("caller %d: "+format, append([]any{n.caller}, args...)...)
}
