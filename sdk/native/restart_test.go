//go:build !js

package native

// What the user says while the connection restarts.

import (
	"net/http"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

// frames is a silent Source that says when a frame is taken.
type frames chan struct{}

func (f frames) Frame([]int16) {
	select {
	case f <- struct{}{}:
	default:
	}
}

// TestARestartLosesNoSound: the packets of half a second, during which the server is busy with the answer, come afterwards.
func TestARestartLosesNoSound(t *testing.T) {
	g, ctx := gomega.NewWithT(t), inTime(t)
	server := newTestServer(t)
	taken := make(frames)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	d, err := NewDialer(Options{
		URL: server.URL, Key: "right", Client: &http.Client{Transport: transport}, Microphone: taken, Loopback: true,
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := d.Dial(ctx, sdk.CallConfig{}, func(sdk.PeerEvent) {})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = p.Close() })
	received := func() []uint16 {
		server.mu.Lock()
		defer server.mu.Unlock()
		return append([]uint16(nil), server.numbers...)
	}
	g.Eventually(ctx, received).ShouldNot(gomega.BeEmpty())

	var last int
	server.mu.Lock()
	server.during = func() {
		last = len(received())
		for range 25 {
			<-taken
		}
	}
	server.mu.Unlock()
	g.Expect(p.(sdk.Restarter).Restart(ctx)).To(gomega.Succeed())
	g.Eventually(ctx, func() int { return len(received()) }).Should(gomega.BeNumerically(">", last+30))
	numbers := received()
	for i, number := range numbers {
		g.Expect(number).To(gomega.Equal(numbers[0]+uint16(i)), "packet %d of %v", i, numbers)
	}
}
