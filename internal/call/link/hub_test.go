package link

// Who gets which event of a call: its client and its side-band controllers.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestExtensionEventsReachOnlyWhoKnowsThem checks who receives which event: an event for the client alone, and events of our
// extensions, reach nobody who has not asked for them.
func TestExtensionEventsReachOnlyWhoKnowsThem(t *testing.T) {
	g := gomega.NewWithT(t)
	reconnects := false
	h := NewHub(env.System(), sinkConnection{}, func() bool { return reconnects })
	link := &countingLink{}
	s := NewSideband(true, link)
	g.Expect(h.Join(s)).To(gomega.Succeed())
	received := func() int {
		n := link.events
		link.events = 0
		return n
	}
	extension := Encode(&wire.AntiphonTurnMetrics{})
	plain := Event{Type: "x", Text: []byte(`{"type":"x"}`)}
	g.Expect(h.SendToPrimary(Encode(&wire.ErrorEvent{}), nil)).To(gomega.Succeed())
	g.Expect(h.Send(extension, nil)).To(gomega.Succeed())
	g.Expect(received()).To(gomega.BeZero())
	g.Expect(h.replay.events).To(gomega.HaveLen(1), "the error event, for a client that reconnects")
	g.Expect(h.Send(plain, nil)).To(gomega.Succeed())
	g.Expect(received()).To(gomega.Equal(1))
	reconnects = true
	g.Expect(h.Send(extension, nil)).To(gomega.Succeed())
	g.Expect(received()).To(gomega.BeZero(), "the client has said hello, and the controller has not")
	g.Expect(h.replay.events).To(gomega.HaveLen(3))
	s.Controller.SetExtended()
	g.Expect(h.Send(extension, nil)).To(gomega.Succeed())
	g.Expect(received()).To(gomega.Equal(1))
	h.Leave(s)
	g.Expect(h.Close()).To(gomega.Succeed())
}

// TestAControllerJoinsWithTheSessionAsItIsNow checks the first event of a controller that joins late.
func TestAControllerJoinsWithTheSessionAsItIsNow(t *testing.T) {
	g := gomega.NewWithT(t)
	h := NewHub(env.System(), sinkConnection{}, func() bool { return false })
	updated := &wire.SessionUpdated{}
	updated.Session.Instructions = "Be kind."
	g.Expect(h.Send(Encode(updated), nil)).To(gomega.Succeed())
	updated.Session.Instructions = "changed later"
	link := &countingLink{}
	s := NewSideband(true, link)
	g.Expect(h.Join(s)).To(gomega.Succeed())
	g.Expect(link.last.Type).To(gomega.Equal("session.created"))
	g.Expect(link.last.ID).NotTo(gomega.BeEmpty())
	g.Expect(link.last.Session.Instructions).To(gomega.Equal("Be kind."))
	h.Leave(s)
	g.Expect(h.Close()).To(gomega.Succeed())
	g.Expect(h.Join(s)).To(gomega.MatchError(ErrNotControllable))
}

// TestResolveFindsCapabilities checks that a hub has all capabilities of a link, and those of its output.
func TestResolveFindsCapabilities(t *testing.T) {
	g := gomega.NewWithT(t)
	c := Resolve(NewHub(env.System(), sinkConnection{}, func() bool { return false }))
	g.Expect(c.Shared).NotTo(gomega.BeNil())
	g.Expect(c.Reconnectable).NotTo(gomega.BeNil())
	g.Expect(c.CloseExplainer).NotTo(gomega.BeNil())
	g.Expect(c.RoundTripper).NotTo(gomega.BeNil())
	g.Expect(c.Timeline).To(gomega.BeNil())
	g.Expect(c.FarEndReader).To(gomega.BeNil())
	g.Expect(Resolve(sinkConnection{})).To(gomega.Equal(Capabilities{}))
}

// TestNobodyKeepsEventsForAClientThatCannotReturn checks what an event becomes that no connection takes.
func TestNobodyKeepsEventsForAClientThatCannotReturn(t *testing.T) {
	g := gomega.NewWithT(t)
	returns := true
	h := NewHub(env.System(), sinkConnection{}, func() bool { return returns })
	<-h.Detach()
	sent := func() {}
	g.Expect(h.Send(Event{Type: "x"}, sent)).To(gomega.Succeed())
	g.Expect(h.unsent).To(gomega.HaveLen(1))
	returns = false
	g.Expect(h.Send(Event{Type: "x"}, sent)).To(gomega.MatchError(ErrUnreachable))
	g.Expect(h.unsent).To(gomega.HaveLen(1))
	g.Expect(h.Close()).To(gomega.Succeed())
}

// leavingConnection is a connection that ends with an event that it has not sent.
type leavingConnection struct {
	sinkConnection
	unsent func()
}

func (c leavingConnection) Abandon() []func() { return []func(){c.unsent} }

// TestAClientReconnects checks that one request at a time reconnects a client, that it gets one connection, and that events of the old one count as sent once the new
// one has them.
func TestAClientReconnects(t *testing.T) {
	g := gomega.NewWithT(t)
	sent := 0
	h := NewHub(env.System(), leavingConnection{unsent: func() { sent++ }}, func() bool { return true })
	g.Expect(h.Reserve("")).To(gomega.Succeed())
	g.Expect(h.Reserve("")).To(gomega.MatchError(ErrReconnecting))
	h.Unreserve()
	g.Expect(h.Reserve("")).To(gomega.Succeed())
	g.Expect(h.Attach(sinkConnection{}, "")).To(gomega.BeFalse(), "the old connection is still there")
	<-h.Detach()
	g.Expect(sent).To(gomega.BeZero())
	g.Expect(h.Attach(sinkConnection{}, "")).To(gomega.BeTrue())
	g.Expect(sent).To(gomega.Equal(1))
	h.Unreserve()
	g.Expect(h.Close()).To(gomega.Succeed())
}

func TestSoManyControllersJoin(t *testing.T) {
	g := gomega.NewWithT(t)
	h := NewHub(env.System(), sinkConnection{}, func() bool { return false })
	var joined []*Sideband
	for range MaxControllers {
		s := NewSideband(true, &countingLink{})
		g.Expect(h.Join(s)).To(gomega.Succeed())
		joined = append(joined, s)
	}
	g.Expect(h.Join(NewSideband(true, &countingLink{}))).To(gomega.MatchError(ErrTooManyControllers))
	h.Leave(joined[3])
	again := NewSideband(true, &countingLink{})
	g.Expect(h.Join(again)).To(gomega.Succeed())
	g.Expect(again.Controller.Tab).To(gomega.BeIdenticalTo(joined[3].Controller.Tab), "who joins again has no new burst of events")
	joined[3] = again
	for _, s := range joined {
		h.Leave(s)
	}
	g.Expect(h.Close()).To(gomega.Succeed())
}

// sinkConnection is a connection with an output; it takes every event.
type sinkConnection struct{}

func (sinkConnection) Send(Event, func()) error { return nil }
func (sinkConnection) Output() Output           { return struct{ Output }{} }
func (sinkConnection) Close() error             { return nil }
func (sinkConnection) Abandon() []func()        { return nil }

// countingLink is a controller's connection that counts what it gets.
type countingLink struct {
	events int
	last   Event
}

func (l *countingLink) Send(e Event, _ func()) error {
	l.events++
	l.last = e
	return nil
}
func (l *countingLink) End()                     {}
func (l *countingLink) Cut()                     {}
func (l *countingLink) ExplainClose(conn.Reason) {}
