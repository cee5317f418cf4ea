package ws

// Floods of frames: pings and empty pieces of messages.

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// masked returns a frame of a client with that first byte.
func masked(first byte, payload string) []byte {
	head := []byte{first, 0x80 | byte(len(payload))}
	switch {
	case len(payload) > 65535:
		head = []byte{first, 0xff, 0, 0, 0, 0, 0, byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload))}
	case len(payload) > 125:
		head = []byte{first, 0xfe, byte(len(payload) >> 8), byte(len(payload))}
	}
	return append(append(head, 0, 0, 0, 0), payload...)
}

func TestFramesAreCounted(t *testing.T) {
	g := gomega.NewWithT(t)
	var stream []byte
	for _, payload := range []string{"", "x", strings.Repeat("y", 125), strings.Repeat("y", 126), strings.Repeat("z", 70_000), ""} {
		stream = append(stream, masked(0x81, payload)...)
	}
	for _, size := range []int{1, 2, 3, 7, 4096, len(stream)} {
		var f frameCounter
		n := 0
		for rest := stream; len(rest) > 0; {
			now := min(size, len(rest))
			n += f.count(rest[:now])
			rest = rest[now:]
		}
		g.Expect(n).To(gomega.Equal(6), "in pieces of %d bytes", size)
	}
	var f frameCounter
	g.Expect(f.count([]byte{0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 2, 3})).To(gomega.Equal(1), "a length that no frame has")
	g.Expect(f.count([]byte("payload"))).To(gomega.BeZero())
}

// A client that sends pings, or empty pieces of one message, as fast as it can is slowed down, and its session goes on.
func TestFloodsOfFramesAreSlowedDown(t *testing.T) {
	const flood = 12_000
	for name, frames := range map[string][]byte{
		"pings":        bytes.Repeat(masked(0x89, "p"), flood),
		"pongs":        bytes.Repeat(masked(0x8a, "p"), flood),
		"empty pieces": append(masked(0x01, ""), bytes.Repeat(masked(0x00, ""), flood)...),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				got := make(chan string, 10)
				_, near, end := overPipe(t, Receiver{Tab: new(link.EventTab), Message: func(data []byte, _ bool) { got <- string(data) }, Gone: func(error) {}}, nil)
				go func() { _, _ = io.Copy(io.Discard, near) }() // pongs
				began := time.Now()
				_, err := near.Write(frames)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(time.Since(began)).To(gomega.BeNumerically("~", (flood-4000)/1000*time.Second, 2*time.Second))
				last := masked(0x81, "still here")
				if name == "empty pieces" {
					last = masked(0x80, "still here")
				}
				_, err = near.Write(last)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(<-got).To(gomega.Equal("still here"))
				end()
			})
		})
	}
}

// TestASlowedClientWaitsForAnswers checks that a client whose events have large answers waits for them, and sends no second event before the session has handled the first.
func TestASlowedClientWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var tab link.EventTab
		var awaited int
		got := make(chan time.Time, 10)
		_, near, end := overPipe(t, Receiver{
			Message:      func([]byte, bool) { got <- time.Now(); tab.Owes.Add(2250 * link.BytesPerEvent) },
			AwaitHandled: func(<-chan struct{}) { awaited++ }, Refuse: func(string, string) {}, Gone: func(error) {}, Tab: &tab,
		}, nil)
		go func() { _, _ = io.Copy(io.Discard, near) }() // pings
		_, err := near.Write(bytes.Repeat(masked(0x81, "x"), 2))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		first := <-got
		g.Expect((<-got).Sub(first)).To(gomega.BeNumerically("~", 500*time.Millisecond, 20*time.Millisecond))
		end()
		g.Expect(awaited).To(gomega.Equal(2))
	})
}
