package graph_test

// Tests of the liveness decisions on small graphs.

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

const stops = "| nothing more happens"

func TestAlwaysEventually(t *testing.T) {
	for name, test := range map[string]struct {
		graph *graph.Graph
		goal  func(int) bool
		want  string
	}{
		"an unfair action may never happen": {
			build("0 -> 1 Go"), in(1), stops,
		},
		"a fair one does": {
			build("0 -> 1 Go!"), in(1), "holds",
		},
		"where nothing is possible a run stops": {
			build("0 -> 1 Go!", "1 -> 2 Go!"), in(1), "Go Go " + stops,
		},
		"an unfair loop is a way to never get on": {
			build("0 -> 0 Spin", "0 -> 1 Go"), in(1), stops,
		},
		"a fair action leaves a loop of others": {
			build("0 -> 1 Spin", "1 -> 0 Spin", "0 -> 2 Go!", "1 -> 2 Go!", "2 -> 2 Stay"), in(2), "holds",
		},
		"weakly fair is not enough where it is not always possible": {
			build("0 -> 1 Spin!", "1 -> 0 Spin!", "0 -> 2 Go!", "2 -> 2 Stay"), in(2), "| Spin Spin",
		},
		"strongly fair is": {
			build("0 -> 1 Spin!", "1 -> 0 Spin!", "0 -> 2 Go!!", "2 -> 2 Stay"), in(2), "holds",
		},
		"strongly fair is not enough if one never comes by again": {
			build("0 -> 1 Away", "1 -> 1 Spin", "0 -> 2 Go!!"), in(2), "Away " + stops,
		},
		"an action that is taken but changes nothing has been taken": {
			build("0 -> 0 Go!", "0 -> 1 Go!"), in(1), "| Go",
		},
		"a loop must keep all promises": {
			build("0 -> 1 A!", "1 -> 0 B!", "0 -> 2 C!", "1 -> 2 C!"), in(2), "holds",
		},
		"the loop found goes through all it must": {
			build("0 -> 1 A!!", "1 -> 0 B!!", "0 -> 2 C!!", "2 -> 0 D!!", "0 -> 3 E"), in(3), "| A B C D",
		},
		"the smaller loop inside an unfair one is found": {
			build("0 -> 1 Spin", "1 -> 0 Spin", "1 -> 2 Turn", "2 -> 1 Turn", "2 -> 3 Go!!", "3 -> 3 Stay"), in(3), stops,
		},
		"the loop inside is found where one cannot stop": {
			build("0 -> 1 Spin!", "1 -> 0 Spin!", "1 -> 2 Turn", "2 -> 1 Back!", "2 -> 3 Go!!"), in(3), "| Spin Spin",
		},
		"a crash does not come for ever": {
			build("0 -> 1 Crash~", "1 -> 0 Up!", "0 -> 2 Go!", "1 -> 2 Go!", "2 -> 2 Stay"), in(2), "holds",
		},
		"but it may come": {
			build("0 -> 1 Crash~", "0 -> 2 Go!"), in(2), "Crash " + stops,
		},
		"an unfair choice may always be the same": {
			build("0 -> 0 Pick! x=1", "0 -> 1 Pick! x=2", "1 -> 1 Stay!"), in(1), "| Pick x=1",
		},
		"a fair one is not": {
			build("0 -> 0 Pick! x=1*", "0 -> 1 Pick! x=2*", "1 -> 1 Stay!"), in(1), "holds",
		},
		"a fair choice that is not come to again is no promise": {
			build("0 -> 1 Pick! x=1*", "0 -> 2 Pick! x=2*", "1 -> 1 Stay!"), in(2), "Pick x=1 | Stay",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(labels(test.graph, test.graph.AlwaysEventually(test.goal))).To(Equal(test.want))
		})
	}
}

func TestEventuallyAlways(t *testing.T) {
	for name, test := range map[string]struct {
		graph *graph.Graph
		goal  func(int) bool
		want  string
	}{
		"a fair way to where it stays": {
			build("0 -> 1 Go!", "1 -> 1 Stay"), in(1), "holds",
		},
		"an unfair way is none": {
			build("0 -> 1 Go", "1 -> 1 Stay"), in(1), stops,
		},
		"again and again is not always": {
			build("0 -> 1 Go!", "1 -> 0 Back!"), in(1), "| Go Back",
		},
		"what is left for good does not count": {
			build("0 -> 1 Go!", "1 -> 0 Back", "1 -> 2 On!!", "2 -> 2 Stay"), in(1, 2), "holds",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(labels(test.graph, test.graph.EventuallyAlways(test.goal))).To(Equal(test.want))
		})
	}
}

func TestResponds(t *testing.T) {
	g := NewWithT(t)
	calls := build("0 -> 1 Call", "1 -> 2 Answer!", "2 -> 0 End", "1 -> 3 Lose")
	g.Expect(labels(calls, calls.Responds(in(1), in(2)))).To(Equal("Call Lose "+stops), "a call may be lost")
	g.Expect(calls.Responds(in(1), in(2, 3))).To(BeNil(), "or answered")
	g.Expect(calls.Responds(in(7), in(2))).To(BeNil(), "what never comes needs no answer")
	g.Expect(labels(calls, calls.Responds(in(0), in(1)))).To(Equal(stops), "nobody need call")
	g.Expect(calls.Responds(in(2), in(2))).To(BeNil(), "at once is soon enough")
}
