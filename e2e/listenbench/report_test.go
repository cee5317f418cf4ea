package listenbench

// What the benchmark reports.

import (
	"fmt"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// policies returns the ways to end a turn that are compared.
func policies() []policy {
	return []policy{
		bySilence("silence of 300 ms", 300*time.Millisecond),
		bySilence("server_vad", 500*time.Millisecond),
		byEstimate("semantic_vad, eagerness low", endofturn.Threshold("low"), 8*time.Second),
		byEstimate("semantic_vad, eagerness medium", endofturn.Threshold("medium"), 4*time.Second),
		byEstimate("semantic_vad, eagerness high", endofturn.Threshold("high"), 2*time.Second),
	}
}

// report reports each policy, the curve, and some lengths of silence.
func report(b *testing.B, how string, all []heard, found [][]estimate) {
	rows(b, how, all, found, policies())
	rows(b, how+"curve/", all, found, curve(byEstimate))
	for _, ms := range []int{200, 400, 700, 1000} {
		row(b, how, all, found, bySilence(fmt.Sprintf("silence of %d ms", ms), time.Duration(ms)*time.Millisecond))
	}
	if *explain {
		for i := range all {
			explainTurn(&all[i], found[i])
		}
	}
}

// curve returns a policy for each of some thresholds.
func curve(by func(name string, threshold float64, fallback time.Duration) policy) (all []policy) {
	for _, percent := range []int{30, 40, 50, 60, 70, 75, 80, 85, 90, 95} {
		all = append(all, by(fmt.Sprintf("%d %%", percent), float64(percent)/100, 4*time.Second))
	}
	return all
}

func rows(b *testing.B, how string, all []heard, found [][]estimate, policies []policy) {
	for _, p := range policies {
		row(b, how, all, found, p)
	}
}

// row reports what a policy did.
func row(b *testing.B, how string, all []heard, found [][]estimate, p policy) {
	b.Run(how+p.name, func(b *testing.B) {
		var r result
		for i := range all {
			r.apply(&all[i], found[i], p)
		}
		var sum time.Duration
		for _, d := range r.delays {
			sum += d
		}
		figures.Share(b, "false-cuts", r.cuts[inSentence], r.pauses[inSentence])
		figures.Count(b, "pauses", r.pauses[inSentence])
		figures.Share(b, "turns-cut", r.cut, r.turns)
		figures.Share(b, "cut-between", r.cuts[between], r.pauses[between])
		figures.Count(b, "delay-mean-ms", int(sum.Milliseconds())/max(1, len(r.delays)))
		figures.Times(b, "delay", r.delays, 50, 90)
	})
}

// explainTurn prints what the medium eagerness did to a turn.
func explainTurn(h *heard, found []estimate) {
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
