package telephones

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestPatterns(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, c := range []struct {
		pattern, text string
		is            bool
	}{
		{"tel:+4930*", "tel:+49301", true},
		{"tel:+4930*", "tel:+49311", false},
		{"SIP:*@Example.org", "sip:me@example.org", true},
		{"sip:*@example.org", "sip:me@example.org.evil.com", false},
		{"sip:a*b*c@x", "sip:abc@x", true},
		{"sip:a*b*c@x", "sip:ac@x", false},
		{"a*a", "a", false},
		{"*", "anything", true},
		{"", "", true},
		{"", "x", false},
	} {
		g.Expect(Matches(c.pattern, c.text)).To(gomega.Equal(c.is), c.pattern+" "+c.text)
	}
}
