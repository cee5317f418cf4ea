package speaking

// Text deltas consist of whole characters.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestDeltasAreWholeCharacters(t *testing.T) {
	for name, row := range map[string]struct{ in, want []string }{
		"plain":         {[]string{"a", "b"}, []string{"a", "b"}},
		"cut in two":    {[]string{"caf\xc3", "\xa9!"}, []string{"caf", "é!"}},
		"cut in four":   {[]string{"\xf0", "\x9f", "\x91", "\x8b"}, []string{"", "", "", "👋"}},
		"never whole":   {[]string{"a\xe4", "b"}, []string{"a", "\uFFFDb"}},
		"no characters": {[]string{"\xff\xfe", "\x80\x80\x80\x80"}, []string{"\uFFFD", "\uFFFD"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var o outputItem
			for i, delta := range row.in {
				g.Expect(o.characters(delta)).To(gomega.Equal(row.want[i]))
			}
		})
	}
}
