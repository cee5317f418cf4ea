package session

// The exploration of the composition: which events may come in each state, and within which bounds.

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// Bounds of the exploration.
const (
	maxResponses = 2
	maxSegments  = 2
)

// domain bounds an exploration. whole says that the second transcription before a commit (the gate) and losses of the transport are
// explored as well.
type domain struct {
	config Config
	turns  turn.ID
	whole  bool
}

// may returns the events that may come next, from the client, the user, the workers and the network.
func (d domain) may(s State, g Seen) []Event {
	events := []Event{
		OfTurn{turn.Clear{}}, OfConn{conn.Close{Reason: conn.ByClient}}, OfPlayout{playout.Clear{}}, OfResponse{response.Cancel{}},
	}
	if s.LastTurn < d.turns {
		events = append(events, OfTurn{turn.Onset{}}, OfTurn{turn.Commit{}}, OfTurn{turn.IdleTimeout{}})
	}
	events = append(events, d.ofTurn(s)...)
	if s.LastResponse < maxResponses {
		events = append(events, asks(s))
	}
	if g.Body != 0 {
		events = append(events, OfSynthesis{synthesis.WorkerExited{}}, OfPlayout{playout.Begin{Resp: g.Body}})
		if _, said := s.Synthesis.(synthesis.Closed); said {
			events = append(events, bodyEnds(s, g.Body)...)
		}
	}
	if p, ok := s.Playout.(playout.Playing); ok {
		events = append(events, OfPlayout{playout.Drained{Resp: p.Resp, Gen: p.Gen}}, OfPlayout{playout.Drained{Resp: p.Resp, Gen: p.Gen - 1}})
	}
	events = append(events, ofRecogniser(s)...)
	events = append(events, d.ofClient(s)...)
	return append(events, d.ofConn(s)...)
}

// bodyEnds returns the reports that may end a body: it is complete, it was cut short, or a stage failed or took too long. A
// response that the client cancelled before its body began reports this too.
func bodyEnds(s State, body response.ID) []Event {
	statuses := []response.Status{response.Completed, response.Incomplete, response.Failed}
	if response.Live(s.Response) != body {
		statuses = append(statuses, response.ClientCancelled)
	}
	var events []Event
	for _, status := range statuses {
		events = append(events, OfResponse{response.BodyEnded{ID: body, Status: status}})
	}
	return events
}

// ofClient is what a client that reports has to say, and that it says nothing.
func (d domain) ofClient(s State) []Event {
	if !d.config.Reports {
		return nil
	}
	var events []Event
	if _, candidate := s.Turn.(turn.Candidate); candidate || s.LastTurn < d.turns {
		events = append(events, OfTurn{turn.ClientCandidate{}})
	}
	switch p := s.Playout.(type) {
	case playout.Held:
		return append(events, OfPlayout{playout.Ready{Candidate: p.Client}}, OfPlayout{playout.ReadyExpired{Candidate: p.Client}})
	case playout.Cut:
		return append(events, OfPlayout{playout.Heard{Resp: p.Resp}}, OfPlayout{playout.HeardExpired{Resp: p.Resp}})
	case playout.Silent, playout.Playing, playout.Terminated:
	}
	return events
}

func (d domain) ofTurn(s State) []Event {
	t := turn.Open(s.Turn)
	switch st := s.Turn.(type) {
	case turn.Candidate:
		return []Event{OfTurn{turn.Sustained{Turn: t}}, OfTurn{turn.Misfire{Turn: t}}}
	case turn.Speaking:
		events := []Event{OfTurn{turn.Silence{Turn: t}}}
		if d.whole {
			events = append(events, OfTurn{turn.EndOfUtterance{Turn: t, Gate: true}})
		}
		return events
	case turn.Confirming:
		events := []Event{OfTurn{turn.GatePassed(st)}, OfTurn{turn.NoSpeech(st)}}
		if st.Gen == 0 { // each resumption has a generation of its own: one will do
			events = append(events, OfTurn{turn.VoiceResumed{Turn: t}})
		}
		return events
	case turn.Idle:
	}
	return nil
}

func ofRecogniser(s State) []Event {
	var events []Event
	for _, st := range []transcription.State{s.Live, s.Final, s.Older} {
		switch st := st.(type) {
		case transcription.Opening:
			events = append(events, OfTranscription{transcription.Ready(st)}, OfTranscription{transcription.Refuse(st)},
				OfTranscription{transcription.Failed(st)})
		case transcription.Streaming:
			events = append(events, OfTranscription{transcription.Done{Turn: st.Turn}}, OfTranscription{transcription.Failed{Turn: st.Turn}})
		case transcription.Finalizing:
			events = append(events, OfTranscription{transcription.Done{Turn: st.Turn}},
				OfTranscription{transcription.Done{Turn: st.Turn, Empty: true}}, OfTranscription{transcription.Failed{Turn: st.Turn}})
		case transcription.Closed, transcription.Unavailable:
		}
	}
	return events
}

func (d domain) ofConn(s State) []Event {
	switch c := s.Conn.(type) {
	case conn.Connecting:
		return []Event{OfConn{conn.Opened{VAD: true}}}
	case conn.Live:
		events := []Event{OfConn{conn.SetVAD{On: !c.VAD}}}
		if d.whole && c.Gen == 0 {
			events = append(events, OfConn{conn.Lost{}})
		}
		return events
	case conn.Interrupted:
		return []Event{OfConn{conn.Restored{}}, OfConn{conn.GraceExpired{Gen: c.Gen}}}
	case conn.Closing, conn.Closed:
	}
	return nil
}

// asks is the client's next request for a response.
func asks(s State) Event {
	return OfResponse{response.Create{Request: machine.Request{Client: uint64(s.LastResponse) + 1}}}
}

type node struct {
	s State
	g Seen
}

// arrival is how a node was first reached.
type arrival struct {
	from int32
	by   Event
}

// broken is what does not hold, and the shortest way there.
type broken struct {
	what string
	path []Event
	e    Edge
}

// story is how to get there.
func (b *broken) story(d domain) string {
	out := b.what + "\n  " + eventText(Configure{d.config}) + "\n"
	for _, e := range b.path {
		out += "  " + eventText(e) + "\n"
	}
	return out
}

// explore walks every reachable state breadth first and returns how much there is.
func explore(d domain, limit int, next nextFunc, see func(Seen, Edge) (Seen, string)) (states, edges int, b *broken) {
	nodes, came := []node{{s: New(d.config)}}, []arrival{{}}
	index := map[node]int32{nodes[0]: 0}
	path := func(i int32, last Event) []Event {
		out := []Event{last}
		for ; i != 0; i = came[i].from {
			out = append(out, came[i].by)
		}
		slices.Reverse(out)
		return out
	}
	for i := int32(0); int(i) < len(nodes); i++ {
		at := nodes[i]
		for _, e := range d.may(at.s, at.g) {
			to, effects, steps := next(at.s, playout.Position{}, e)
			edges++
			edge := Edge{at.s, e, to, effects}
			seen, what := see(at.g, edge)
			for _, st := range steps {
				if st.Why == "no row" {
					what = "no row in " + st.Machine
				}
			}
			if what != "" {
				return len(nodes), edges, &broken{what, path(i, e), edge}
			}
			fresh := node{to, seen}
			if fresh == at || to.LastResponse > maxResponses || segment(to.Playout) > maxSegments {
				continue
			}
			if _, known := index[fresh]; known {
				continue
			}
			if len(nodes) == limit {
				return len(nodes), edges, &broken{"the limit of states", path(i, e), edge}
			}
			index[fresh] = int32(len(nodes))
			nodes, came = append(nodes, fresh), append(came, arrival{i, e})
		}
	}
	return len(nodes), edges, nil
}

func segment(p playout.State) uint32 {
	switch p := p.(type) {
	case playout.Silent:
		return p.Gen
	case playout.Playing:
		return p.Gen
	case playout.Held:
		return p.Gen
	case playout.Cut:
		return p.Gen
	case playout.Terminated:
	}
	return 0
}

// domains returns what is explored. The first domain has two turns and two responses, which meet in every way that the machines know.
// For the gate and lost transports, for a session without interruptions, for one without responses to turns, and for a client that
// reports what it has played, one turn is enough.
func domains() []domain {
	return []domain{
		{Config{Interrupt: true, CreateResponse: true}, 2, false},
		{Config{Interrupt: true, CreateResponse: true}, 1, true},
		{Config{Interrupt: false, CreateResponse: true}, 1, false},
		{Config{Interrupt: true, CreateResponse: false}, 1, false},
		{Config{Interrupt: true, CreateResponse: true, Reports: true}, 1, false},
	}
}

// TestInvariants walks every domain whole; the fingerprint is that of all of them.
func TestInvariants(t *testing.T) {
	all := newDigest()
	for _, d := range domains() {
		t.Run(fmt.Sprintf("%+v", d), func(t *testing.T) {
			states, edges, broken := explore(d, 200_000, Next, func(before Seen, e Edge) (Seen, string) {
				all.edge(e)
				return Watch(before, e)
			})
			if broken != nil {
				t.Fatalf("%s\nfrom %+v\nto   %+v\neffects %+v", broken.story(d), broken.e.From, broken.e.To, broken.e.Effects)
			}
			t.Logf("%d states, %d edges", states, edges)
			gomega.NewWithT(t).Expect(states).To(gomega.BeNumerically(">", 1000))
		})
	}
	coordtest.Fingerprint(t, "session", all.sum.Sum64())
}
