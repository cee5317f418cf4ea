package coordtest

// Tests of the text form of states, events and effects.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

type (
	why  uint8
	mark struct{ Item, MS uint32 }
	told struct {
		EventID    uint64
		FallbackMS uint32
		AtMost     mark
		Voiced     bool
		Why        why
		Words      []string
	}
)

func (told) Name() string { return "Told" }

func (w why) String() string { return []string{"none", "Rain", "Snow"}[min(w, 2)] }

func TestText(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(Text(told{})).To(gomega.Equal("Told at_most=(0, 0)"))
	g.Expect(Text(told{EventID: 3, FallbackMS: 500, AtMost: mark{1, 20}, Voiced: true, Why: 2})).
		To(gomega.Equal("Told event_id=3 fallback_ms=500 at_most=(1, 20) voiced why=Snow"))
}

func TestParse(t *testing.T) {
	known := []machine.Named{told{}}
	t.Run("what Text writes is read again", func(t *testing.T) {
		g := gomega.NewWithT(t)
		e, err := Parse(known, "Told", []Arg{
			{"event_id", []string{"3"}}, {"at_most", []string{"1", "20"}}, {"voiced", nil}, {"why", []string{"Rain"}},
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(e).To(gomega.Equal(machine.Named(told{EventID: 3, AtMost: mark{1, 20}, Voiced: true, Why: 1})))
	})
	for _, c := range []struct {
		name string
		ev   string
		arg  Arg
		want string
	}{
		{"an unknown event", "Asked", Arg{}, "Asked: not an event of this machine"},
		{"an unknown field", "Told", Arg{"loud", nil}, `Told: it has no field "loud"`},
		{"an unknown name", "Told", Arg{"why", []string{"Hail"}}, `Told: why: coordtest.why has no "Hail"`},
		{"a number that does not fit", "Told", Arg{"fallback_ms", []string{"4294967296"}}, "Told: fallback_ms: strconv.ParseUint"},
		{"a list that is too short", "Told", Arg{"at_most", []string{"1"}}, "Told: at_most wants 2 values, not 1"},
		{"a type that stories do not have", "Told", Arg{"words", []string{"a"}}, "Told: words: a []string cannot be written in a story"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(known, c.ev, []Arg{c.arg})
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.HavePrefix(c.want)))
		})
	}
}
