package phones

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/sip"
)

func TestTargets(t *testing.T) {
	g := NewWithT(t)
	for text, want := range map[string]string{
		"+4930123456": "+4930123456", "110": "110", "tel:+4930123456": "+4930123456", "sip:me@example.org": "sip:me@example.org", "sip:me@192.0.2.1:5070": "sip:me@192.0.2.1:5070",
	} {
		g.Expect(Target(text)).To(Equal(want))
	}
	for _, text := range []string{
		"", "+", "1", "*21*0900#", "+49 30", "0900\r\nX: y", "tel:sip:a@b", "sips:a@b", "sip:a:b@c", "sip:a@b;x=y", "sip:a@b?x=y", "sip:%2b49@b", "sip:a@b@c", "sip:b", "TEL:+4930", "sip:a@b:0", "123456789012345678901", "+4930\n",
	} {
		_, err := Target(text)
		g.Expect(err).To(MatchError(ErrTarget), text)
	}
}

func TestWrongOutlets(t *testing.T) {
	g := NewWithT(t)
	trunks := []sip.Trunk{{Name: "a", User: "a", Password: "b", Out: &sip.Out{}}, {Name: "b", User: "b", Password: "b"}}
	for wrong, o := range map[string]Outlet{
		"there is no trunk c": {Trunk: "c"},
		"want a pattern":      {Trunk: "a", Allow: []string{"tel:+49*"}, Principals: []string{"a"}},
		"nobody may call":     {Trunk: "a", Allow: []string{"*"}, Principals: []string{""}},
	} {
		g.Expect(o.check(&Config{Trunks: trunks})).To(MatchError(ContainSubstring(wrong)))
	}
	g.Expect((&Outlet{Trunk: "a", Allow: []string{"+4930*", "sip:*@example.org", "*"}, Principals: []string{"a"}}).check(&Config{Trunks: trunks})).To(Succeed())
}
