package sdk

// Packets of the server that stop to come: when the session asks for a restart, and when not.

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// frame is the time between two packets of an Antiphon.
const frame = 20 * time.Millisecond

// counting is a session with a peer that counts packets. Each restart of the connection succeeds, unless the test sets fails.
type counting struct {
	*line
	asked atomic.Int32 // restarts
	fails error
	n     uint64        // packets that have come
	every time.Duration // how often the peer counts them
	since time.Duration // the last count
}

func newCounting(t *testing.T, after ...plan) *counting {
	t.Helper()
	c := &counting{every: 250 * time.Millisecond}
	p := kept
	p.restart = func(context.Context) error {
		c.asked.Add(1)
		return c.fails
	}
	c.line = connectedBy(t, Options{}, append([]plan{p}, after...)...)
	c.lasts(time.Second, true)
	return c
}

// lasts lets d pass, a multiple of 20 ms. come says whether packets come, one each 20 ms. The peer counts them each c.every.
func (c *counting) lasts(d time.Duration, come bool) {
	for range d / frame {
		c.wait(frame)
		if come {
			c.n++
		}
		if c.since += frame; c.since >= c.every {
			c.since = 0
			c.x.peers[len(c.x.peers)-1].sink(PacketsCounted{Received: c.n})
		}
	}
}

func (c *counting) restarts(n int32) {
	c.g.Expect(c.asked.Load()).To(gomega.Equal(n), "restarts")
}

func TestPacketsStop(t *testing.T) {
	bubble(t, "a gap of 1.4 s is none, however often it comes", func(t *testing.T) {
		c := newCounting(t)
		for range 20 {
			c.lasts(1400*time.Millisecond, false)
			c.lasts(time.Second, true)
		}
		c.restarts(0)
		c.g.Expect(c.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening}))
	})

	bubble(t, "the session asks for a restart, and nothing else changes", func(t *testing.T) {
		c := newCounting(t)
		c.lasts(1480*time.Millisecond, false)
		c.restarts(0)
		c.lasts(280*time.Millisecond, false)
		c.restarts(1)
		c.lasts(5*time.Second, true)
		c.restarts(1)
		c.g.Expect(c.story()).To(gomega.Equal([]State{Disconnected, Connecting, Listening, Reconnecting, Listening}))
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(1))
	})

	bubble(t, "the server is gone: another dial goes on with the call within the same second", func(t *testing.T) {
		c := newCounting(t, plan{token: "T", resumed: true})
		c.fails = &RefusedError{Status: 404}
		c.Subscribe(func(s Snapshot) {
			c.g.Expect(s.Err).NotTo(gomega.HaveOccurred(), "the user learns only what is in the way")
		})
		c.lasts(1760*time.Millisecond, false)
		c.restarts(1)
		c.g.Expect(c.Snapshot().State).To(gomega.Equal(Listening))
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(2))
		c.lasts(10*time.Second, false) // what the new connection counts has nothing to do with the old one
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(2))
	})

	bubble(t, "a connection that the peer has reported as lost is not waited for when no packet comes", func(t *testing.T) {
		c := newCounting(t)
		c.lasts(time.Second, false)
		c.x.peers[0].sink(PeerLost{})
		c.lasts(750*time.Millisecond, false)
		c.restarts(1)
	})
}

func TestTheServerHasLostTheCall(t *testing.T) {
	calls := func(t *testing.T, lost func() bool) (*counting, *atomic.Int32) {
		var asked atomic.Int32
		c := newCounting(t, plan{token: "T", resumed: true})
		c.x.peers[0].lost = func() bool {
			asked.Add(1)
			return lost()
		}
		return c, &asked
	}

	bubble(t, "another dial goes on with the call, long before a restart", func(t *testing.T) {
		c, asked := calls(t, func() bool { return true })
		c.lasts(480*time.Millisecond, false)
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(1))
		c.lasts(260*time.Millisecond, false)
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(2))
		c.g.Expect(c.Snapshot().State).To(gomega.Equal(Listening))
		c.g.Expect(asked.Load()).To(gomega.BeEquivalentTo(1))
		c.restarts(0)
	})

	bubble(t, "a server that has it is not left", func(t *testing.T) {
		c, asked := calls(t, func() bool { return false })
		for range 10 {
			c.lasts(1400*time.Millisecond, false)
			c.lasts(time.Second, true)
		}
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(1))
		c.restarts(0)
		c.g.Expect(asked.Load()).To(gomega.BeNumerically("<=", 5), "once in 5 s")
	})

	bubble(t, "packets that come meanwhile show more than the answer", func(t *testing.T) {
		c, asked := calls(t, func() bool { <-time.After(time.Second); return true })
		c.lasts(760*time.Millisecond, false)
		c.lasts(3*time.Second, true)
		c.g.Expect(asked.Load()).To(gomega.BeEquivalentTo(1))
		c.g.Expect(c.x.dialed).To(gomega.HaveLen(1))
	})
}

func TestPacketsStopAgain(t *testing.T) {
	bubble(t, "after a restart the session has more patience", func(t *testing.T) {
		c := newCounting(t)
		c.lasts(1760*time.Millisecond, false)
		c.restarts(1)
		c.lasts(time.Second, true)
		c.lasts(4*time.Second-frame, false)
		c.restarts(1)
		c.lasts(600*time.Millisecond, false)
		c.restarts(2)
	})

	bubble(t, "but not for ever", func(t *testing.T) {
		c := newCounting(t)
		c.lasts(1760*time.Millisecond, false)
		c.lasts(time.Minute, true)
		c.lasts(1760*time.Millisecond, false)
		c.restarts(2)
	})
}

func TestPacketsThatNobodyCounted(t *testing.T) {
	bubble(t, "a page that was suspended, and a machine that slept: nobody knows what has come", func(t *testing.T) {
		c := newCounting(t)
		c.wait(time.Hour)
		c.lasts(1250*time.Millisecond, false)
		c.lasts(time.Second, true)
		for range 10 {
			c.wait(2 * time.Second)
			c.lasts(260*time.Millisecond, false)
		}
		c.restarts(0)
	})

	bubble(t, "a hidden page counts each second", func(t *testing.T) {
		c := newCounting(t)
		c.every = time.Second
		c.lasts(10*time.Second, true)
		c.lasts(1500*time.Millisecond, false)
		c.restarts(0)
		c.lasts(1500*time.Millisecond, false)
		c.restarts(1)
	})

	bubble(t, "nothing has ever come", func(t *testing.T) {
		c := newCounting(t)
		c.x.peers[0].sink(PeerBroken{})
		c.wait(time.Second)
		c.n = 0
		c.lasts(time.Minute, false)
		c.restarts(0)
	})
}

// TestPacketsComeBack: a server that keeps no conversation gets no restart. The connection is back when a packet comes.
func TestPacketsComeBack(t *testing.T) {
	bubble(t, "by themselves", func(t *testing.T) {
		c := &counting{every: 250 * time.Millisecond, line: connectedBy(t, Options{}, plan{})}
		c.lasts(time.Second, true)
		c.lasts(3*time.Second, false)
		c.g.Expect(c.Snapshot().State).To(gomega.Equal(Reconnecting))
		c.lasts(250*time.Millisecond, true)
		c.g.Expect(c.Snapshot().State).To(gomega.Equal(Listening))
	})
}
