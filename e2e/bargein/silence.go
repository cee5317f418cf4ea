package main

// The row "silence": how soon the agent is silent when a user talks over it, on several links.

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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

// silence measures how soon the agent is silent when the user talks over it.
func silence(h *house, o options, r *results) error {
	delay, err := h.recordingDelay()
	if err != nil {
		return err
	}
	all, err := h.interruptions(o.among(ours, unpredicted, stock), links, func(l rig.Link) int {
		if l == middle {
			return 3 * o.n
		}
		return o.n
	})
	if err != nil {
		return err
	}
	t := table{
		title: "Talking over the agent: onset in the microphone to the tab's output",
		head:  []string{"round trip, loss", "client", "n", "found by the client, p50 / p95 ms", "ducked 20 dB, p50 / p95 ms", "silent, p50 / p95 ms", "prediction ahead", "lead p50 ms", "audio_end_ms off by, p50 / p95 ms"},
		notes: []string{
			"The onset is the start of the first 10 ms of the user's speech that are above -40 dBFS. Flite makes the speech, at about -22 dBFS.",
			fmt.Sprintf("Every time in this table includes %.0f ms that the browser's output and the recording need.", delay),
			"The clients run at the same time. Each has its own browser and its own network link.",
		},
	}
	for _, link := range links {
		for _, kind := range o.among(ours, unpredicted, stock) {
			t.rows = append(t.rows, find(all, kind, link).row())
		}
	}
	for _, s := range all {
		if lost := len(s.all) - len(s.off()); lost > 0 {
			t.notes = append(t.notes, fmt.Sprintf("In %d of %d recordings the end of the audible response was not found: %s, %v.", lost, len(s.all), names[s.kind], s.link))
		}
		for _, err := range s.failed {
			t.notes = append(t.notes, fmt.Sprintf("Not measured: %s, %v: %s.", names[s.kind], s.link, oneLine(err.Error())))
		}
	}
	r.add(t)
	judgeSilence(r, all, delay)
	return nil
}

// names are the names of the clients in the tables.
var names = map[string]string{
	ours: "Antiphon", unpredicted: "Antiphon, prediction off", stock: "agents-realtime", naive: "agents-realtime, muted by level",
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

func (s *series) row() []string {
	found, ahead, lead := "", "", ""
	if s.kind == ours {
		found = halfAndMost(s.values(func(i interruption) (float64, bool) { return i.found, i.found > 0 }))
		ahead, lead = fmt.Sprintf("%.0f %%", 100*s.share()), fmt.Sprintf("%.0f", quantile(s.leads(), 0.5))
	}
	return []string{
		s.link.String(), names[s.kind], fmt.Sprint(len(s.all)), found, halfAndMost(s.ducked()), halfAndMost(s.silent()), ahead, lead, halfAndMost(s.off()),
	}
}

func judgeSilence(r *results, all []*series, delay float64) {
	mine, theirs := find(all, ours, middle), find(all, stock, middle)
	at := " at " + middle.String()
	most := quantile(mine.ducked(), 0.95)
	without := func(v float64) string {
		return fmt.Sprintf("%s, %s without the recording's own delay", ms(v), ms(v-delay))
	}
	r.judge(target{what: "onset to ducked 20 dB, p95" + at, want: "<= 100 ms", got: without(most), met: most <= 100})
	half, most := quantile(mine.silent(), 0.5), quantile(mine.silent(), 0.95)
	r.judge(target{what: "onset to silent, p50" + at, want: "<= 250 ms", got: without(half), met: half <= 250})
	r.judge(target{what: "onset to silent, p95" + at, want: "<= 350 ms", got: without(most), met: most <= 350})
	other := quantile(theirs.silent(), 0.5)
	r.judge(target{
		what: "silent before agents-realtime, p50" + at, want: "< " + ms(other), got: ms(half), met: half < other, hard: true,
	})
	var behind []string
	least := 1.0
	for _, s := range all {
		if s.kind != ours {
			continue
		}
		least = min(least, s.share())
		if s.share() < 0.9 {
			behind = append(behind, s.link.String())
		}
	}
	got := fmt.Sprintf("%.0f %% at least", 100*least)
	if len(behind) > 0 {
		slices.Sort(behind)
		got += " (less behind " + strings.Join(behind, "; ") + ")"
	}
	r.judge(target{what: "prediction ahead of the server's event, every link", want: ">= 90 %", got: got, met: least >= 0.9, hard: true})
	off := quantile(mine.off(), 0.95)
	r.judge(target{what: "audio_end_ms against what was heard, p95" + at, want: "<= 40 ms", got: ms(off), met: off <= 40})
}
