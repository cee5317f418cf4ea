package conform

// What several adapters offer together.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/turn"
)

func TestTogether(t *testing.T) {
	one, other := newOffers(), newOffers()
	for _, o := range []*Offers{one, other} {
		o.pairs["turn"] = []pair{{"Idle", "Clear"}, {"Idle", "Onset"}, {"Idle", "Shutdown"}, {"Speaking", "Clear"}, {"Candidate", "Clear"}}
	}
	one.note("turn", turn.Idle{}, turn.Onset{})
	other.note("turn", turn.Idle{}, turn.Shutdown{})
	other.note("turn", turn.Speaking{}, turn.Clear{})
	g := gomega.NewWithT(t)
	g.Expect(one.Missing()).To(gomega.Equal(map[string][]string{
		"turn Idle": {"Clear", "Onset agent_audible=true", "Shutdown"}, "turn Speaking": {"never"}, "turn Candidate": {"never"},
	}))
	g.Expect(Together(one, other).Missing()).To(gomega.Equal(map[string][]string{
		"turn Idle": {"Clear", "Onset agent_audible=true"}, "turn Candidate": {"never"},
	}))
}
