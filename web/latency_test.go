package web

// The texts of a latency.

import (
	"testing"

	"github.com/onsi/gomega"
)

// plain replaces non-breaking spaces by ordinary ones.
func plain(text string) string {
	var out []rune
	for _, r := range text {
		if r == '\u00a0' {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

func TestLatencyLine(t *testing.T) {
	for _, row := range []struct {
		name    string
		latency Latency
		text    string
		detail  string
	}{
		{"nothing is known", MetricsLatency(-1, -1, -1, -1, -1), "", ""},
		{
			"all marks", MetricsLatency(310, 370, 372, 420, 424),
			"Answer began 424 ms after you stopped", "310 silence wait · 60 recognition · 48 voice",
		},
		{
			"an answer in text", MetricsLatency(310, 370, 390, -1, -1),
			"Answer began 390 ms after you stopped", "310 silence wait · 60 recognition · 20 answer",
		},
		{
			"the words were known before the end was sure", MetricsLatency(310, 180, 330, 400, 420),
			"Answer began 420 ms after you stopped", "310 silence wait · 20 answer · 70 voice · 20 network",
		},
		{
			"the client's own measurement",
			Latency{Total: 500},
			"Answer began 500 ms after you stopped", "",
		},
		{
			"a written message",
			Latency{Total: 40, Voice: 40, Written: true},
			"Answer began 40 ms after you sent it", "40 voice",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(row.latency.Text()).To(gomega.Equal(row.text))
			g.Expect(plain(row.latency.Detail())).To(gomega.Equal(row.detail))
		})
	}
}

func TestLatencyPartsAddUp(t *testing.T) {
	g := gomega.NewWithT(t)
	l := MetricsLatency(312, 371, 373, 421, 424)
	sum := 0
	for _, p := range l.Parts() {
		sum += p.MS
	}
	g.Expect(sum).To(gomega.Equal(l.Total))
}
