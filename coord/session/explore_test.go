package session

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Bounds of the exploration.
const (
	maxResponses = 2
	maxSegments  = 2
)

// may lists what can happen next: what a client, a person, the workers and the network may do, in any order.
func may(s State, g Seen, turns turn.ID) []Event {
	events := []Event{
		OfTurn{turn.Clear{}}, OfConn{conn.Close{Reason: conn.ByClient}}, OfPlayout{playout.Clear{}}, OfResponse{response.Cancel{}},
	}
	if s.LastTurn < turns {
		events = append(events, OfTurn{turn.Onset{}}, OfTurn{turn.Commit{}}, OfTurn{turn.IdleTimeout{}})
	}
	if t := turn.Open(s.Turn); t != 0 {
		events = append(events, OfTurn{turn.Sustained{Turn: t}}, OfTurn{turn.Misfire{Turn: t}}, OfTurn{turn.Silence{Turn: t}},
			OfTurn{turn.EndOfUtterance{Turn: t, Gate: true}}, OfTurn{turn.GatePassed{Turn: t}}, OfTurn{turn.NoSpeech{Turn: t}})
	}
	if c, ok := s.Turn.(turn.Confirming); ok && c.Gen == 0 { // each resumption has a generation of its own: one will do
		events = append(events, OfTurn{turn.VoiceResumed{Turn: c.Turn}})
	}
	if s.LastResponse < maxResponses {
		events = append(events, OfResponse{response.Create{}})
	}
	if g.Body != 0 {
		events = append(events, OfSynthesis{synthesis.WorkerExited{}}, OfPlayout{playout.Begin{Resp: g.Body}})
		if _, said := s.Synthesis.(synthesis.Closed); said {
			events = append(events, OfResponse{response.BodyEnded{ID: g.Body, Status: response.Completed}})
		}
	}
	if p, ok := s.Playout.(playout.Playing); ok {
		events = append(events, OfPlayout{playout.Drained{Resp: p.Resp, Gen: p.Gen}}, OfPlayout{playout.Drained{Resp: p.Resp, Gen: p.Gen - 1}})
	}
	for _, st := range []transcription.State{s.Live, s.Final, s.Older} {
		if t := turnIn(st); t != 0 {
			events = append(events, OfTranscription{transcription.Ready{Turn: t}}, OfTranscription{transcription.Done{Turn: t}},
				OfTranscription{transcription.Done{Turn: t, Empty: true}}, OfTranscription{transcription.Failed{Turn: t}})
		}
	}
	switch c := s.Conn.(type) {
	case conn.Connecting:
		events = append(events, OfConn{conn.Opened{VAD: true}})
	case conn.Live:
		events = append(events, OfConn{conn.SetVAD{On: !c.VAD}})
		if c.Gen == 0 {
			events = append(events, OfConn{conn.Lost{}})
		}
	case conn.Interrupted:
		events = append(events, OfConn{conn.Restored{}}, OfConn{conn.GraceExpired{Gen: c.Gen}})
	case conn.Closing, conn.Closed:
	}
	return events
}

type node struct {
	s State
	g Seen
}

// explore walks every reachable state breadth first and returns how much there is.
func explore(t *testing.T, start State, turns turn.ID, limit int) (states, edges int) {
	t.Helper()
	type step struct {
		from node
		by   Event
	}
	first := node{s: start}
	came := map[node]step{first: {}}
	queue := []node{first}
	path := func(n node) (out string) {
		for n != first {
			out = fmt.Sprintf("\n  %s %+v", came[n].by.Name(), came[n].by) + out
			n = came[n].from
		}
		return out
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, e := range may(at.s, at.g, turns) {
			next, effects, steps := Next(at.s, playout.Mark{}, e)
			for _, st := range steps {
				if st.Why == "no row" {
					t.Fatalf("%s: no row for %s in %s:%s", st.Machine, st.Event.Name(), st.From.Name(), path(at))
				}
			}
			edges++
			seen, broken := Watch(at.g, Edge{at.s, e, next, effects})
			if broken != "" {
				t.Fatalf("%s does not hold after %s %+v:%s\nfrom %+v\nto   %+v\neffects %+v", broken, e.Name(), e, path(at), at.s, next, effects)
			}
			to := node{next, seen}
			if _, known := came[to]; known || next.LastResponse > maxResponses || segment(next.Playout) > maxSegments {
				continue
			}
			if len(came) == limit {
				t.Fatalf("more than %d states", limit)
			}
			came[to] = step{at, e}
			queue = append(queue, to)
		}
	}
	return len(came), edges
}

func segment(p playout.State) uint32 {
	switch p := p.(type) {
	case playout.Silent:
		return p.Gen
	case playout.Playing:
		return p.Gen
	case playout.Held:
		return p.Gen
	case playout.Terminated:
	}
	return 0
}

// Two turns and two responses meet in every way that the machines know; without interruptions, and without responses
// to turns, one turn shows all there is.
func TestInvariants(t *testing.T) {
	for _, c := range []struct {
		config Config
		turns  turn.ID
	}{
		{Config{Interrupt: true, CreateResponse: true}, 2},
		{Config{Interrupt: false, CreateResponse: true}, 1},
		{Config{Interrupt: true, CreateResponse: false}, 1},
	} {
		t.Run(fmt.Sprintf("%+v", c.config), func(t *testing.T) {
			states, edges := explore(t, New(c.config), c.turns, 100_000)
			t.Logf("%d states, %d edges", states, edges)
			gomega.NewWithT(t).Expect(states).To(gomega.BeNumerically(">", 1000))
		})
	}
}
