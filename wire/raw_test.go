package wire

// Tests of raw members: JSON that is kept as text.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestWithText(t *testing.T) {
	g := gomega.NewWithT(t)
	var r Raw
	r = r.WithText("turn", "0a").WithText(`"odd"`, "\n")
	g.Expect(string(r)).To(gomega.Equal(`{"turn":"0a","\"odd\"":"\n"}`))
	g.Expect(r.Valid()).To(gomega.BeTrue())
	v, ok := r.Field("turn")
	g.Expect(ok).To(gomega.BeTrue())
	text, ok := v.Text()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(text).To(gomega.Equal("0a"))
}
