package machine

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestVersionOf(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(VersionOf("turn", 0xbeef)).To(gomega.Equal(Version{"turn", "000000000000beef"}))
	g.Expect(VersionOf("turn", 1<<63)).To(gomega.Equal(Version{"turn", "8000000000000000"}))
}

func TestDiffering(t *testing.T) {
	ours := []Version{VersionOf("conn", 3), VersionOf("playout", 4), VersionOf("turn", 5)}
	theirs := func(change func(map[string]string)) func(string) (string, bool) {
		told := map[string]string{}
		for _, m := range ours {
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
		{"the same build", func(map[string]string) {}, len(ours), nil},
		{"an end that has one machine less", func(m map[string]string) { delete(m, "turn") }, len(ours) - 1, nil},
		{"an end that has one more", func(m map[string]string) { m["run"] = "1" }, len(ours), nil},
		{"an end of another version", func(m map[string]string) { m["turn"], m["conn"] = "1", "2" }, len(ours), []string{"conn", "turn"}},
		{"an end that tells nothing", func(m map[string]string) { clear(m) }, 0, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			known, differ := Differing(ours, theirs(row.change))
			g.Expect(known).To(gomega.Equal(row.known))
			g.Expect(differ).To(gomega.Equal(row.differ))
		})
	}
}
