package telephones

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/phones"
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

// A trunk has at most its calls at a time, in a minute and in an hour, and each of its principals an equal part of them.
func TestBoundsOfCallsOut(t *testing.T) {
	g := gomega.NewWithT(t)
	m, now := &meter{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := (phones.Outlet{Principals: []string{"a", "b"}, Calls: 4, PerMinute: 6, PerHour: 8}).WithDefaults()
	takes := func(who, why string, wait time.Duration) {
		t.Helper()
		waits, refused := m.take(&o, who, now)
		g.Expect(refused).To(gomega.ContainSubstring(why))
		g.Expect(refused == "").To(gomega.Equal(why == ""))
		g.Expect(waits).To(gomega.Equal(wait))
	}
	takes("a", "", 0)
	takes("a", "", 0)
	takes("a", "at a time", 0)
	takes("b", "", 0)
	m.now = nil
	now = now.Add(10 * time.Second)
	takes("a", "", 0)
	m.now = nil
	takes("a", "in this minute", 50*time.Second)
	takes("b", "", 0)
	now = now.Add(50 * time.Second)
	takes("a", "", 0)
	m.now = nil
	takes("a", "in this hour", 59*time.Minute)
	takes("b", "", 0)
	takes("b", "", 0)
	m.now, now = nil, now.Add(time.Minute)
	takes("b", "in this hour", 58*time.Minute)
	now = now.Add(2 * time.Hour)
	takes("b", "", 0)
	g.Expect(m.recent).To(gomega.HaveLen(1))
}

// A pattern of numbers allows no address, whatever its * stands for.
func TestWhoMayBeCalled(t *testing.T) {
	g := gomega.NewWithT(t)
	for target, want := range map[string]bool{"+49301": true, "+49401": false, "112": true, "sip:me@example.org": true, "sip:me@example.org:5112": false, "sip:+49301@example.com": false} {
		g.Expect(mayCall([]string{"+4930*", "*112", "sip:*@example.org"}, target)).To(gomega.Equal(want), target)
	}
	g.Expect(mayCall(nil, "+49301")).To(gomega.BeFalse())
}
