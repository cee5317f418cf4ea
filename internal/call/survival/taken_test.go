package survival

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
)

// TestRepeatedEvents is a table of what a client sends over several connections: "id text" is an event, "|" a new connection, and "!" behind an event says that it
// counts already.
func TestRepeatedEvents(t *testing.T) {
	for name, sent := range map[string][]string{
		"a new event":                           {"1 a", "|", "2 a"},
		"an event of the same connection":       {"1 a", "1 a", "|", "1 a"},
		"an event of the connection before":     {"1 a", "2 b", "|", "1 a!", "2 b!", "3 c"},
		"after two cuts":                        {"1 a", "|", "1 a!", "|", "1 a!"},
		"of the second connection":              {"1 a", "|", "2 b", "|", "1 a!", "2 b!"},
		"an id with another text":               {"1 a", "|", "1 b", "1 a"},
		"an id with two texts before":           {"1 a", "1 b", "|", "1 a", "1 b"},
		"twice over the new connection":         {"1 a", "|", "1 a!", "1 a", "1 a"},
		"an id that is used again and again":    {"1 a", "1 a", "|", "1 a", "|", "1 a"},
		"an event that came first after a cut":  {"|", "1 a", "|", "1 a!"},
		"an event that comes after others came": {"1 a", "|", "2 b", "1 a!"},
	} {
		t.Run(name, func(t *testing.T) {
			var all takenEvents
			for i, s := range sent {
				if s == "|" {
					all.connection++
					continue
				}
				want := s[len(s)-1] == '!'
				gomega.NewWithT(t).Expect(all.repeated(s[:1], []byte(s[2:3]))).To(gomega.Equal(want), "%d: %s", i, s)
			}
		})
	}
	t.Run("restored", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var all takenEvents
		all.restore([]journal.Sent{{ID: hash([]byte("1")), Text: hash([]byte("a"))}})
		g.Expect(all.repeated("1", []byte("a"))).To(gomega.BeTrue(), "it came over a connection of the former process")
		g.Expect(all.repeated("2", []byte("b"))).To(gomega.BeFalse())
	})
	t.Run("memory", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var all takenEvents
		for i := range 3 * journal.MaxSent {
			g.Expect(all.repeated(fmt.Sprint(i), []byte("x"))).To(gomega.BeFalse())
		}
		g.Expect(len(all.all)).To(gomega.Equal(journal.MaxSent))
		all.connection++
		g.Expect(all.repeated(fmt.Sprint(3*journal.MaxSent-1), []byte("x"))).To(gomega.BeTrue())
		g.Expect(all.repeated("0", []byte("x"))).To(gomega.BeFalse(), "it is forgotten")
	})
}
