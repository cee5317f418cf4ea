package conform

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// TestSliced asks a specification of a session about the steps of a running one, whose identifiers and positions are its own.
func TestSliced(t *testing.T) {
	g := gomega.NewWithT(t)
	s, is, err := NewSliced("session_queue", explored(t, "session_queue"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(is).To(gomega.BeTrue())
	at := session.New(session.Config{Interrupt: true})
	at.LastTurn, at.LastResponse = 40, 7
	at, _, _ = session.Next(at, playout.Position{}, session.OfConn{Event: conn.Opened{VAD: true}})
	for _, e := range []session.Event{
		session.OfResponse{Event: response.Create{Request: theRequest}},
		session.OfPlayout{Event: playout.Begin{Resp: 8}},
		session.OfTurn{Event: turn.Onset{}},
		session.OfTurn{Event: turn.Sustained{Turn: 41}},
	} {
		to, effects, _ := session.Next(at, playout.Position{Item: 5, MS: 1234}, e)
		known, what := s.Ask(at, e, to, effects)
		g.Expect(known).To(gomega.BeTrue(), eventName(e))
		g.Expect(what).To(gomega.BeEmpty())
		_, what = s.Ask(at, e, to, effects[1:])
		g.Expect(what).NotTo(gomega.BeEmpty(), "an effect is missing: "+eventName(e))
		_, what = s.Ask(at, e, at, effects)
		g.Expect(what).NotTo(gomega.BeEmpty(), "the state stays: "+eventName(e))
		at = to
	}
	known, _ := s.Ask(at, session.OfTurn{Event: turn.EndOfUtterance{Turn: 41}}, at, nil)
	g.Expect(known).To(gomega.BeFalse(), "the specification leaves it out")
}
