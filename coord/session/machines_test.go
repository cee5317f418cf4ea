package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestMachines(t *testing.T) {
	g := gomega.NewWithT(t)
	all := Machines()
	g.Expect(slices.IsSortedFunc(all, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })).To(gomega.BeTrue())
	for _, m := range all {
		g.Expect(m.Fingerprint).To(gomega.MatchRegexp(`^[0-9a-f]{16}$`), m.Name)
	}
	g.Expect(digits(0xbeef)).To(gomega.Equal("000000000000beef"))
}

func TestDiffering(t *testing.T) {
	theirs := func(change func(map[string]string)) func(string) (string, bool) {
		told := map[string]string{}
		for _, m := range Machines() {
			told[m.Name] = m.Fingerprint
		}
		change(told)
		return func(name string) (string, bool) {
			f, ok := told[name]
			return f, ok
		}
	}
	for _, row := range []struct {
		name   string
		change func(map[string]string)
		known  int
		differ []string
	}{
		{"the same build", func(map[string]string) {}, len(Machines()), nil},
		{"an end that has one machine less", func(m map[string]string) { delete(m, "turn") }, len(Machines()) - 1, nil},
		{"an end that has one more", func(m map[string]string) { m["run"] = "1" }, len(Machines()), nil},
		{"an end of another version", func(m map[string]string) { m["turn"], m["conn"] = "1", "2" }, len(Machines()), []string{"conn", "turn"}},
		{"an end that tells nothing", func(m map[string]string) { clear(m) }, 0, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			known, differ := Differing(theirs(row.change))
			g.Expect(known).To(gomega.Equal(row.known))
			g.Expect(differ).To(gomega.Equal(row.differ))
		})
	}
}
