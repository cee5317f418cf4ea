package session

// Random walks: what the composition decides in states that the explored domains do not reach.

import (
	"math/rand/v2"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// TestDecisions: an answer to a turn that may interrupt is the only response that is left; responses play in their order; a candidate that was rejected is not confirmed; new settings that
// allow interruptions release nothing; and a lost connection changes nothing about silence.
func TestDecisions(t *testing.T) {
	reached := map[string]int{}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		config := func() Config {
			return Config{Interrupt: r.IntN(2) > 0, CreateResponse: r.IntN(8) > 0, Reports: r.IntN(8) > 0}
		}
		d := domain{config(), 100, true}
		s, g := New(d.config), Seen{}
		for range 150 {
			events := d.may(s, g)
			if s.Conn.Name() != "Connecting" {
				events = append(events, asks(s))
				if r.IntN(5) == 0 {
					d.config = config()
					events = []Event{Configure{d.config}}
				}
			}
			e := events[r.IntN(len(events))]
			if rare(e) && r.IntN(10) > 0 {
				continue
			}
			to, effects, steps := Next(s, playout.Position{}, e)
			edge := Edge{s, e, to, effects}
			decided(gomega.NewWithT(t), reached, edge, steps)
			var broken string
			if g, broken = Watch(g, edge); broken != "" {
				t.Fatalf("seed %d: %s", seed, broken)
			}
			s = to
		}
	}
	for _, what := range []string{"answers after a cut", "answers with a queue", "answers after a cut with a queue", "queues", "settings in a hold", "settings after a rejection", "silence without a connection", "cuts of a rejected hold"} {
		gomega.NewWithT(t).Expect(reached[what]).NotTo(gomega.BeZero(), what)
	}
}

// rare reports whether an event ends so much that a walk must not have many.
func rare(e Event) bool {
	switch e := e.(type) {
	case OfConn:
		return e.Event.Name() != (conn.Opened{}).Name() && e.Event.Name() != (conn.Restored{}).Name()
	case OfTurn:
		return e.Event.Name() == (turn.Clear{}).Name()
	case OfPlayout:
		switch e.Event.(type) {
		case playout.Clear, playout.Heard, playout.HeardExpired:
			return true
		default:
			return false
		}
	case OfResponse:
		return e.Event.Name() == (response.Cancel{}).Name()
	case OfSynthesis, OfTranscription, Configure:
	}
	return false
}

// decided checks one step. reached counts the cases in which a rule says something.
func decided(g *gomega.WithT, reached map[string]int, e Edge, steps []Step) {
	held, holds := e.From.Playout.(playout.Held)
	created := response.ID(0)
	for _, f := range e.Effects {
		if c, is := f.(response.EmitCreated); is && c.Request.Turn != 0 && e.To.Config.Interrupt {
			created = c.ID
		}
	}
	if created != 0 {
		if e.From.Playout.Name() == "Cut" {
			reached["answers after a cut"]++
		}
		if e.From.Queued.Len() > 0 {
			reached["answers with a queue"]++
			if e.From.Playout.Name() == "Cut" {
				reached["answers after a cut with a queue"]++
			}
		}
		g.Expect(e.To.Queued).To(gomega.Equal(Queue{}))
		g.Expect(e.To.Playout.Name()).To(gomega.BeElementOf("Silent", "Cut"))
	}
	for i := range max(0, e.To.Queued.Len()-1) {
		reached["queues"]++
		g.Expect(e.To.Queued[i]).To(gomega.BeNumerically("<", e.To.Queued[i+1]))
	}
	if p, plays := e.To.Playout.(playout.Playing); plays && e.To.Queued.Len() > 0 {
		g.Expect(p.Resp).To(gomega.BeNumerically("<", e.To.Queued[0]))
	}
	if _, configures := e.Event.(Configure); configures && holds && e.To.Config.Interrupt && created == 0 {
		reached["settings in a hold"]++
		if held.Rejected && !e.To.Config.Reports {
			reached["settings after a rejection"]++
		}
		g.Expect(e.To.Playout).To(gomega.Equal(e.From.Playout))
	}
	for _, st := range steps {
		if _, cuts := st.Event.(playout.Clear); cuts && holds && held.Rejected {
			reached["cuts of a rejected hold"]++
		}
		if c, confirms := st.Event.(playout.Confirm); confirms {
			g.Expect(held.Rejected && held.Candidate == c.Candidate).To(gomega.BeFalse(), "%+v", held)
		}
	}
	if of, is := e.Event.(OfTurn); is && of.Event.Name() == (turn.IdleTimeout{}).Name() {
		if lost, is := e.From.Conn.(conn.Interrupted); is {
			reached["silence without a connection"]++
			there := e.From
			there.Conn = conn.Live{VAD: lost.VAD, Gen: lost.Gen}
			same, _, _ := Next(there, playout.Position{}, e.Event)
			same.Conn = e.To.Conn
			g.Expect(e.To).To(gomega.Equal(same))
		}
	}
}
