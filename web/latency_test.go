package web

// The texts of a latency.

import (
	"regexp"
	"strconv"
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

// TestLatencyBar checks that the shares of the bar add up to the time that the line names.
func TestLatencyBar(t *testing.T) {
	g := gomega.NewWithT(t)
	page := shown(Snapshot{Latency: MetricsLatency(310, 370, 372, 420, 424)})
	g.Expect(page).To(gomega.ContainSubstring(`<svg class="latency-bar" viewBox="0 0 424 10"`))
	sum := 0
	for _, rect := range regexp.MustCompile(`<rect class="[a-z-]+" x="(\d+)" width="(\d+)"`).FindAllStringSubmatch(page, -1) {
		from, _ := strconv.Atoi(rect[1])
		width, _ := strconv.Atoi(rect[2])
		g.Expect(from).To(gomega.Equal(sum))
		sum += width
	}
	g.Expect(sum).To(gomega.Equal(424))
}
