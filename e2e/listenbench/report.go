package main

// The tables.

import (
	"fmt"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// policies returns the ways to end a turn that are compared.
func policies() []policy {
	return []policy{
		bySilence("silence of 300 ms", 300*time.Millisecond),
		bySilence("silence of 500 ms (server_vad)", 500*time.Millisecond),
		byEstimate("semantic_vad, eagerness low", endofturn.Threshold("low"), 8*time.Second),
		byEstimate("semantic_vad, eagerness medium", endofturn.Threshold("medium"), 4*time.Second),
		byEstimate("semantic_vad, eagerness high", endofturn.Threshold("high"), 2*time.Second),
	}
}

// head prints the head of a table of policies.
func head() {
	fmt.Println("| end of a turn | false cuts of pauses in sentences | turns that are cut there | cuts after a whole sentence | delay, mean | p50 | p90 |")
	fmt.Println("|---|---|---|---|---|---|---|")
}

// report prints one row for each policy, and the curve.
func report(all []heard, found [][]estimate, verbose bool) {
	head()
	for _, p := range policies() {
		row(all, found, p)
	}
	curve(all, found, byEstimate)
	for _, ms := range []int{200, 300, 400, 500, 700, 1000} {
		row(all, found, bySilence(fmt.Sprintf("silence of %d ms", ms), time.Duration(ms)*time.Millisecond))
	}
	if verbose {
		for i := range all {
			explain(&all[i], found[i])
		}
	}
}

// curve prints one row for each of some thresholds.
func curve(all []heard, found [][]estimate, by func(name string, threshold float64, fallback time.Duration) policy) {
	fmt.Println("\n| threshold | false cuts of pauses in sentences | turns that are cut there | cuts after a whole sentence | delay, mean | p50 | p90 |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, percent := range []int{30, 40, 50, 60, 70, 75, 80, 85, 90, 95} {
		row(all, found, by(fmt.Sprintf("%d %%", percent), float64(percent)/100, 4*time.Second))
	}
}

// row prints what a policy did.
func row(all []heard, found [][]estimate, p policy) {
	var r result
	for i := range all {
		r.apply(&all[i], found[i], p)
	}
	var sum time.Duration
	for _, d := range r.delays {
		sum += d
	}
	slices.Sort(r.delays)
	at := func(percent int) int64 {
		return r.delays[min(len(r.delays)-1, len(r.delays)*percent/100)].Milliseconds()
	}
	fmt.Printf("| %s | %.1f %% of %d | %.1f %% of %d | %.1f %% of %d | %d ms | %d ms | %d ms |\n", p.name,
		percent(r.cuts[inSentence], r.pauses[inSentence]), r.pauses[inSentence], percent(r.cut, r.turns), r.turns,
		percent(r.cuts[between], r.pauses[between]), r.pauses[between],
		(sum / time.Duration(len(r.delays))).Milliseconds(), at(50), at(90))
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(1, whole)) }

// explain prints what the medium eagerness did to a turn.
func explain(h *heard, found []estimate) {
	p := byEstimate("", endofturn.Threshold("medium"), 4*time.Second)
	for _, s := range h.silences() {
		of := s.among(found)
		at, does := p.cut(s, of)
		if s.pause < 0 {
			if does {
				fmt.Printf("UNMATCHED %s\n", h.name)
			}
			continue
		}
		said := ""
		for _, t := range h.texts {
			if t.at <= at {
				said = t.text
			}
		}
		switch kind := h.pauses[s.pause].where; {
		case kind == inSentence && does:
			fmt.Printf("CUT  %4d ms of %4d %q (%s)", (at - h.pauses[s.pause].begin).Milliseconds(), (h.pauses[s.pause].end - h.pauses[s.pause].begin).Milliseconds(), said, h.name)
		case kind == atEnd && at-h.pauses[s.pause].begin > 600*time.Millisecond:
			fmt.Printf("LATE %4d ms %q (%s)", (at - h.pauses[s.pause].begin).Milliseconds(), said, h.name)
		default:
			continue
		}
		if len(of) > 1 {
			for _, v := range of[1].values[2:] {
				if v.Value != 0 {
					fmt.Printf(" %s=%.1f", v.Name, v.Value)
				}
			}
		}
		for _, e := range of {
			if e.at-s.begin < time.Second {
				fmt.Printf(" %d:%.2f%v", (e.at - h.pauses[s.pause].begin).Milliseconds(), e.p, map[bool]string{true: "w"}[e.fresh])
			}
		}
		fmt.Println()
	}
}
