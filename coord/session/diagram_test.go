package session

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDiagram compares testdata/diagram.txt with what sessions do: which machine's event makes the composition tell
// which other machine what. The drawing is a Mermaid flow chart.
func TestDiagram(t *testing.T) {
	told := map[string]map[string]bool{} // "from --> to", the events
	for seed := range uint64(1000) {
		w := newWorld(Config{Interrupt: seed%4 > 0, CreateResponse: true}, rand.New(rand.NewPCG(seed, 1)).IntN)
		w.onStep = func(e Event, st Step) {
			from := strings.Fields(eventText(e))[0]
			if from == st.Machine || st.Why != "" || strings.HasPrefix(st.Machine, from+".") {
				return
			}
			arrow := from + " --> " + st.Machine
			if told[arrow] == nil {
				told[arrow] = map[string]bool{}
			}
			told[arrow][st.Event.Name()] = true
		}
		if broken := w.play(length); broken != "" {
			t.Fatal(broken)
		}
	}
	datadriven.RunTest(t, "testdata/diagram.txt", func(*testing.T, *datadriven.TestData) string {
		var b strings.Builder
		b.WriteString("flowchart LR\n")
		for _, arrow := range slices.Sorted(maps.Keys(told)) {
			from, to, _ := strings.Cut(arrow, " --> ")
			b.WriteString("    " + from + " -- " + strings.Join(slices.Sorted(maps.Keys(told[arrow])), ", ") + " --> " + to + "\n")
		}
		return b.String()
	})
}
