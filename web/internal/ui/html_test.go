package ui

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestANodeIsWrittenAsHTML(t *testing.T) {
	g := gomega.NewWithT(t)
	n := New("form").ID("f").Class("a b").DataFlag("on", true).Body(
		nil,
		Each(2, func(i int) *Node { return New("option").Text([]string{"<one>", "two & three"}[i]).Selected(i == 1) }),
		If(false, func() *Node { return New("p") }),
		If(true, func() *Node { return New("input").Attr("placeholder", `say "hi"`).Disabled(true) }),
		Raw("<svg></svg>"),
	)
	g.Expect(HTML(n)).To(gomega.Equal(`<form id="f" class="a b" data-on="true"><option>&lt;one&gt;</option>` +
		`<option selected>two &amp; three</option><input placeholder="say &#34;hi&#34;" disabled><svg></svg></form>`))
}
