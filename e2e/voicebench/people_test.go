package voicebench

// This file measures how well the voice gate tells people apart.

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/voiceprint"
)

const (
	enrolments = 5  // times that each person is enrolled, each time with other recordings
	eachTime   = 3  // recordings of one enrolment
	longEnough = 3  // seconds of a recording for an enrolment
	maxTurns   = 60 // turns of one person
)

// speakers are the folders of the people who spoke the prompts. The Spanish prompts are of the person who spoke the English ones.
var speakers = []string{"en_US_f_Allison", "fr_CA_f_June", "it_IT_m_Carlo", "ru_RU_f_IvrvoiceRU"}

// limits are the lengths at which the classes of turns begin, in seconds.
var limits = [...]float64{0, 1.6, 3.2}

// thresholds are those of which the errors are reported.
var thresholds = []float64{0.6, 0.65, 0.7, 0.75, 0.8}

// likenesses are the likenesses of turns to an enrolled person: of turns of this person, and of others.
type likenesses struct{ own, others []float64 }

// spoken is a turn of a person.
type spoken struct {
	print *voiceprint.Print
	class int // by its length
}

// BenchmarkPeople enrols each person with recordings whose names begin with a to m, and compares turns of which the names begin with other letters.
func BenchmarkPeople(b *testing.B) {
	v, err := voiceprint.New(voiceprint.Config{Models: "../../.cache/models"})
	if err != nil {
		b.Fatal(err)
	}
	enrolled := map[string][]*voiceprint.Print{}
	turns := map[string][]spoken{}
	short, count := 0, 0
	var spent []time.Duration
	for _, who := range speakers {
		enrolled[who] = enrolOften(b, v, who)
		said := recordings(b, *letters, "sounds/"+who)
		for i := range min(maxTurns, len(said)) {
			r := said[i*len(said)/min(maxTurns, len(said))]
			began := time.Now()
			p, err := v.OfTurn(b.Context(), r.pcm)
			if err != nil {
				b.Fatal(err)
			}
			spent = append(spent, time.Since(began))
			if count++; p == nil {
				short++
				continue
			}
			class := 0
			for class+1 < len(limits) && human.Duration(len(r.pcm)).Seconds() >= limits[class+1] {
				class++
			}
			turns[who] = append(turns[who], spoken{p, class})
		}
	}
	b.Run("prints", func(b *testing.B) {
		figures.Share(b, "too-short", short, count)
		figures.Times(b, "takes", spent, 50, 95)
	})
	compare(b, enrolled, turns)
}

// enrolOften returns the prints of several enrolments of a person.
func enrolOften(b *testing.B, v *voiceprint.Verifier, who string) (all []*voiceprint.Print) {
	from := slices.DeleteFunc(recordings(b, "a-m", "sounds/"+who), func(r recording) bool { return len(r.pcm) < longEnough*human.Rate })
	for n := range enrolments {
		var pcm [][]float32
		for i := range eachTime {
			pcm = append(pcm, from[(n*eachTime+i)*len(from)/(enrolments*eachTime)].pcm)
		}
		p, err := v.OfRecordings(b.Context(), pcm...)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// compare compares each turn with each person.
func compare(b *testing.B, enrolled map[string][]*voiceprint.Print, turns map[string][]spoken) {
	var by [len(limits)]likenesses
	var total likenesses
	for who, prints := range enrolled {
		for _, p := range prints {
			for other, said := range turns {
				for _, t := range said {
					x := p.Likeness(t.print)
					by[t.class].add(other == who, x)
					total.add(other == who, x)
				}
			}
		}
	}
	for i := range by {
		b.Run(fmt.Sprintf("from %.1f s", limits[i]), by[i].report)
	}
	b.Run("all", total.report)
}

func (l *likenesses) add(own bool, x float64) {
	if own {
		l.own = append(l.own, x)
	} else {
		l.others = append(l.others, x)
	}
}

// report reports the errors at each threshold.
func (l *likenesses) report(b *testing.B) {
	rate, at := l.equal()
	figures.Count(b, "own", len(l.own))
	figures.Count(b, "others", len(l.others))
	b.ReportMetric(100*rate, "equal-errors-%")
	b.ReportMetric(at, "equal-at")
	for _, x := range thresholds {
		refused, passed := l.errors(x)
		b.ReportMetric(100*refused, fmt.Sprintf("refused-at-%.2f-%%", x))
		b.ReportMetric(100*passed, fmt.Sprintf("passed-at-%.2f-%%", x))
	}
}

// errors returns the share of the person's own turns that are refused at a threshold, and the share of the others' turns that pass.
func (l *likenesses) errors(threshold float64) (refused, passed float64) {
	below := func(all []float64) float64 {
		n := 0
		for _, x := range all {
			if x < threshold {
				n++
			}
		}
		return float64(n) / float64(max(1, len(all)))
	}
	return below(l.own), 1 - below(l.others)
}

// equal returns the error rate at the threshold at which both shares are nearest to each other, and the threshold.
func (l *likenesses) equal() (rate, at float64) {
	nearest := math.Inf(1)
	for threshold := 0.3; threshold < 1; threshold += 0.001 {
		refused, passed := l.errors(threshold)
		if d := math.Abs(refused - passed); d < nearest {
			nearest, rate, at = d, (refused+passed)/2, threshold
		}
	}
	return rate, at
}
