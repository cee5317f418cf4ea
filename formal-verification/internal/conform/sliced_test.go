package conform

// Tests of the lookup of a real session's steps in a specification.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
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

// TestSlicedKnowsProgress: a specification that leaves out how far the recogniser and the synthesizer are has the steps of a
// session in which they are further, and each event of an action of several events.
func TestSlicedKnowsProgress(t *testing.T) {
	g := gomega.NewWithT(t)
	s, _, err := NewSliced("session_queue", explored(t, "session_queue"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	at := session.New(session.Config{Interrupt: true})
	for _, c := range []struct {
		event session.Event
		known bool
	}{
		{session.OfConn{Event: conn.Opened{VAD: true}}, false},
		{session.OfResponse{Event: response.Create{Request: theRequest}}, true},
		{session.OfSynthesis{Event: synthesis.Finish{}}, false},
		{session.OfPlayout{Event: playout.Begin{Resp: 1}}, true},
		{session.OfSynthesis{Event: synthesis.WorkerExited{}}, false},
		{session.OfResponse{Event: response.BodyEnded{ID: 1, Status: response.Completed}}, true},
		{session.OfTurn{Event: turn.Onset{}}, true},
		{session.OfTranscription{Event: transcription.Ready{Turn: 1}}, false},
		{session.OfTurn{Event: turn.Sustained{Turn: 1}}, true},
	} {
		to, effects, _ := session.Next(at, playout.Position{Item: 5, MS: 1234}, c.event)
		known, what := s.Ask(at, c.event, to, effects)
		g.Expect(known).To(gomega.Equal(c.known), eventName(c.event))
		g.Expect(what).To(gomega.BeEmpty())
		if c.known {
			_, what = s.Ask(at, c.event, to, effects[1:])
			g.Expect(what).NotTo(gomega.BeEmpty(), "an effect is missing: "+eventName(c.event))
		}
		at = to
	}
}
