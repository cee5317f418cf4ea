package bargein

// The benchmark of the noises: it plays them to each client.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
)

// BenchmarkCoughs measures what noises do to a response. "Played again" is audio that was heard twice at full level, and a word is lost that was never
// heard at full level: the recording is compared with the synthesized response, in steps of 10 ms, and each 350 ms of lost speech, or a part of that,
// counts as a word.
func BenchmarkCoughs(b *testing.B) {
	h := open(b)
	made, err := noises(b.Context(), max(1, *count/2))
	if err != nil {
		b.Fatal(err)
	}
	all, err := h.disturb(among(ours, unpredicted, naive), made)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range all {
		for _, name := range []string{"cough", "click", "typing", "uh huh"} {
			b.Run(d.kind+"/"+name, func(b *testing.B) { d.report(b, name) })
		}
		b.Run(d.kind+"/all", func(b *testing.B) {
			d.report(b, "")
			figures.Count(b, "cancelled", d.cancelled)
			if _, _, words := d.of(""); d.kind == ours && words+d.cancelled > 0 {
				b.Errorf("the noises cost %d words, and cancelled %d responses", words, d.cancelled)
			}
		})
	}
}

// of sums up the effects of the noise with this name, or of all noises when the name is empty.
func (d *disturbances) of(name string) (back []float64, again float64, words int) {
	for _, one := range d.all {
		if name != "" && one.noise != name {
			continue
		}
		if one.left {
			back = append(back, one.back)
		}
		again, words = max(again, one.repeated), words+one.words
	}
	return back, again, words
}

// report reports what the noises with this name did.
func (d *disturbances) report(b *testing.B, name string) {
	back, again, words := d.of(name)
	figures.Count(b, "left-its-level", len(back))
	quantiles(b, "back-after", back)
	b.ReportMetric(again, "played-again-ms")
	figures.Count(b, "words-lost", words)
}
