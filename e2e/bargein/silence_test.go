package bargein

// The benchmark of the silence: how soon the agent is silent when a user talks over it, on several links.

import (
	"math"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The network links. The targets are for the one in the middle.
var (
	middle = rig.Link{RTT: 100 * time.Millisecond, Seed: 1}
	links  = []rig.Link{
		middle,
		{RTT: 100 * time.Millisecond, Loss: 0.01, Seed: 2},
		{RTT: 20 * time.Millisecond, Seed: 3},
		{RTT: 20 * time.Millisecond, Loss: 0.01, Seed: 4},
		{RTT: 200 * time.Millisecond, Seed: 5},
		{RTT: 200 * time.Millisecond, Loss: 0.01, Seed: 6},
	}
)

// BenchmarkSilence measures how soon the agent is silent when the user talks over it. The onset is the start of the first 10 ms of the user's speech
// that are above -40 dBFS. Flite makes the speech, at about -22 dBFS. The clients run at the same time. Each has its own browser and its own link.
func BenchmarkSilence(b *testing.B) {
	h := open(b)
	delay, err := h.recordingDelay()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("every time includes %.0f ms that the browser's output and the recording need", delay)
	kinds := among(ours, unpredicted, stock)
	all, err := h.interruptions(kinds, links, func(l rig.Link) int {
		if l == middle {
			return 3 * *count
		}
		return *count
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, link := range links {
		for _, kind := range kinds {
			b.Run(kind+"/"+link.String(), find(all, kind, link).report)
		}
	}
	mine, theirs := quantile(find(all, ours, middle).silent(), 0.5), quantile(find(all, stock, middle).silent(), 0.5)
	if mine >= theirs {
		b.Errorf("%s is silent %.0f ms after the onset, %s %.0f ms", ours, mine, stock, theirs)
	}
	for _, s := range all {
		if s.kind == ours && s.share() < 0.9 {
			b.Errorf("%v: the prediction is ahead of the server's event in %.0f %%, and not in 90 %%", s.link, 100*s.share())
		}
	}
}

func find(all []*series, kind string, link rig.Link) *series {
	for _, s := range all {
		if s.kind == kind && s.link == link {
			return s
		}
	}
	return &series{kind: kind, link: link}
}

func (s *series) values(of func(interruption) (float64, bool)) []float64 {
	var found []float64
	for _, i := range s.all {
		if v, ok := of(i); ok {
			found = append(found, v)
		}
	}
	return found
}

func (s *series) ducked() []float64 {
	return s.values(func(i interruption) (float64, bool) { return i.ducked, true })
}

func (s *series) silent() []float64 {
	return s.values(func(i interruption) (float64, bool) { return i.silent, true })
}

func (s *series) leads() []float64 {
	return s.values(func(i interruption) (float64, bool) { return i.lead, i.ahead })
}

// off returns the differences between the server's position of the cut and the last audible position, in ms.
func (s *series) off() []float64 {
	return s.values(func(i interruption) (float64, bool) { return math.Abs(i.told - i.heard), i.measured })
}

// share returns the share of interruptions in which the prediction came before the server's event. Interruptions without a measurement
// count as not.
func (s *series) share() float64 {
	if len(s.all) == 0 {
		return 0
	}
	return float64(len(s.leads())) / float64(len(s.all)+len(s.failed))
}

// report reports what was measured.
func (s *series) report(b *testing.B) {
	figures.Count(b, "measured", len(s.all))
	figures.Count(b, "end-not-found", len(s.all)-len(s.off()))
	if s.kind == ours {
		quantiles(b, "found", s.values(func(i interruption) (float64, bool) { return i.found, i.found > 0 }))
		b.ReportMetric(100*s.share(), "ahead-%")
		quantiles(b, "lead", s.leads())
	}
	quantiles(b, "ducked", s.ducked())
	quantiles(b, "silent", s.silent())
	quantiles(b, "audio-end-off-by", s.off())
	for _, err := range s.failed {
		b.Logf("not measured: %v", err)
	}
}

// quantiles reports the median of times in ms, and the value below which most of them lie.
func quantiles(b *testing.B, what string, ms []float64) {
	if len(ms) > 0 {
		b.ReportMetric(quantile(ms, 0.5), what+"-p50-ms")
		b.ReportMetric(quantile(ms, 0.95), what+"-p95-ms")
	}
}
