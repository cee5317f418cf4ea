package ws

// The WebSocket of a side-band controller that does not read.

import (
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAControllerThatDoesNotReadIsCutOff checks that the call goes on without it.
func TestAControllerThatDoesNotReadIsCutOff(t *testing.T) {
	g := gomega.NewWithT(t)
	h := link.NewHub(env.System(), sinkConnection{}, func() bool { return false })
	l := NewLink(Limits{Env: env.System()})
	s := link.NewSideband(true, l)
	g.Expect(h.Join(s)).To(gomega.Succeed())
	for range maxQueued + 1 {
		g.Expect(h.Send(link.Event{Type: "x", Text: []byte(`{"type":"x"}`)}, nil)).To(gomega.Succeed())
	}
	g.Expect(l.Ended()).To(gomega.BeClosed())
	code, _ := l.closeStatus()
	g.Expect(code).To(gomega.Equal(websocket.StatusPolicyViolation))
	h.Leave(s)
	g.Expect(h.Close()).To(gomega.Succeed())
	g.Expect(h.Join(s)).To(gomega.MatchError(link.ErrNotControllable))
}

// sinkConnection is a connection with an output; it takes every event.
type sinkConnection struct{}

func (sinkConnection) Send(link.Event, func()) error { return nil }
func (sinkConnection) Output() link.Output           { return struct{ link.Output }{} }
func (sinkConnection) Close() error                  { return nil }
func (sinkConnection) Abandon() []func()             { return nil }
