package link

// The output commit: a client that can reconnect gets an event once it is stored. A client of another process gets the events that it does not have.

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
)

// notingConnection is a connection that keeps the ids of its events.
type notingConnection struct {
	sinkConnection
	ids []string
}

func (c *notingConnection) Send(e Event, _ func()) error {
	c.ids = append(c.ids, e.ID)
	return nil
}

func numbered(epoch uint32, n uint64) Event {
	return Event{Type: "x", ID: NumberedID("event_a", epoch, n), Text: []byte("{}"), Number: n}
}

func passing(epoch uint32, n uint64) Event {
	return Event{Type: "x.delta", ID: NumberedID("event_d", epoch, n), Text: []byte("{}")}
}

func TestEventsWaitUntilTheyAreStored(t *testing.T) {
	g, c := gomega.NewWithT(t), &notingConnection{}
	can := false
	h := NewHub(env.System(), c, func() bool { return can })
	h.WithholdUncommitted()
	send := func(e Event) { g.Expect(h.Send(e, nil)).To(gomega.Succeed()) }
	send(numbered(1, 1))
	g.Expect(c.ids).To(gomega.Equal([]string{"event_a-1-1"}), "the client cannot reconnect")
	can = true
	send(passing(1, 1))
	g.Expect(c.ids).To(gomega.HaveLen(2), "it need not be stored")
	send(numbered(1, 2))
	send(passing(1, 2))
	send(numbered(1, 3))
	g.Expect(c.ids).To(gomega.HaveLen(2))
	h.Committed(2)
	g.Expect(c.ids[2:]).To(gomega.Equal([]string{"event_a-1-2", "event_d-1-2"}))
	h.Committed(1)
	g.Expect(c.ids).To(gomega.HaveLen(4))
	h.Mute()
	h.Committed(3)
	send(numbered(1, 4))
	g.Expect(c.ids).To(gomega.HaveLen(4), "another process has the call")
	g.Expect(h.Close()).To(gomega.Succeed())
}

func TestCloseWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := gomega.NewWithT(t), &notingConnection{}
		h := NewHub(env.System(), c, func() bool { return true })
		h.WithholdUncommitted()
		g.Expect(h.Send(numbered(1, 1), nil)).To(gomega.Succeed())
		go func() {
			<-time.After(time.Second)
			h.Committed(1)
		}()
		began := time.Now()
		g.Expect(h.Close()).To(gomega.Succeed())
		g.Expect(c.ids).To(gomega.HaveLen(1))
		g.Expect(time.Since(began)).To(gomega.Equal(time.Second), "nothing waits any more")

		stuck := NewHub(env.System(), &notingConnection{}, func() bool { return true })
		stuck.WithholdUncommitted()
		g.Expect(stuck.Send(numbered(1, 1), nil)).To(gomega.Succeed())
		began = time.Now()
		g.Expect(stuck.Close()).To(gomega.Succeed())
		g.Expect(time.Since(began)).To(gomega.Equal(commitLimit))
	})
}

func TestEventsThatWaitForTheStoreAreBounded(t *testing.T) {
	g, c := gomega.NewWithT(t), &notingConnection{}
	h := NewHub(env.System(), c, func() bool { return true })
	h.WithholdUncommitted()
	for n := range uint64(maxWithheld) {
		g.Expect(h.Send(numbered(1, n+1), nil)).To(gomega.Succeed())
	}
	g.Expect(h.Send(numbered(1, maxWithheld+1), nil)).To(gomega.MatchError(ErrBackpressure))
	h.Committed(maxWithheld)
	g.Expect(c.ids).To(gomega.HaveLen(maxWithheld))
	g.Expect(h.Close()).To(gomega.Succeed())
}

// TestEventsThatWaitForTheStoreShareMemory: events wait only while their principal has memory.
func TestEventsThatWaitForTheStoreShareMemory(t *testing.T) {
	g, memory := gomega.NewWithT(t), &share{4}
	h := NewHub(env.System(), &notingConnection{}, func() bool { return true })
	h.ShareMemory(memory, unlimited{})
	h.WithholdUncommitted()
	g.Expect(h.Send(numbered(1, 1), nil)).To(gomega.Succeed())
	g.Expect(h.Send(numbered(1, 2), nil)).To(gomega.Succeed())
	g.Expect(h.Send(numbered(1, 3), nil)).To(gomega.MatchError(ErrBackpressure))
	h.Committed(1)
	g.Expect(h.Send(numbered(1, 3), nil)).To(gomega.Succeed())
	h.Mute()
	g.Expect(memory.left).To(gomega.Equal(int64(-1)), "it was closed")
	g.Expect(h.Close()).To(gomega.Succeed())
}

func TestEventsAfterTheLossOfAProcess(t *testing.T) {
	events := []Event{numbered(1, 11), numbered(1, 12), numbered(2, 13), numbered(2, 14)}
	for after, want := range map[string]int{
		numbered(1, 12).ID: 2, numbered(2, 14).ID: 0, passing(1, 11).ID: 3, passing(2, 14).ID: 0, numbered(1, 10).ID: 4,
		passing(2, 12).ID:  2,  // the second process has sent it before its first numbered event
		numbered(1, 13).ID: -1, // an event of the former process that was not stored
		numbered(2, 15).ID: -1, numbered(1, 9).ID: -1, "": -1, "event_x": -1, "event_x-1-x": -1, "event_x-1-2-3": -1,
	} {
		t.Run(fmt.Sprintf("%q", after), func(t *testing.T) {
			g := gomega.NewWithT(t)
			left, err := EventsAfter(events, 10, after)
			if want < 0 {
				g.Expect(err).To(gomega.MatchError(ErrReplayLost))
				return
			}
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(left).To(gomega.HaveLen(want))
			c := &notingConnection{}
			h := NewRestoredHub(env.System(), nil, func() bool { return true }, Former{Events: events, Base: 10})
			h.WithholdUncommitted()
			g.Expect(h.Attach(c, after)).To(gomega.BeTrue())
			g.Expect(c.ids).To(gomega.HaveLen(want))
			g.Expect(h.Send(numbered(3, 15), nil)).To(gomega.Succeed())
			g.Expect(c.ids).To(gomega.HaveLen(want))
			h.Committed(15)
			g.Expect(c.ids).To(gomega.HaveLen(want + 1))
		})
	}
}
