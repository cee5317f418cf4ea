package budget

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// What is kept of attempts does not grow without limit.
func TestAttemptsAreBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var a Attempts[int]
	now := time.Now()
	for i := range maxClients + 100 {
		g.Expect(a.Take(i, 1, now)).To(gomega.BeZero())
	}
	g.Expect(len(a.of)).To(gomega.BeNumerically("<=", maxClients))
	g.Expect(a.Take(maxClients+99, 1, now)).To(gomega.Equal(time.Minute))
}
