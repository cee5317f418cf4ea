package main

// This file measures how well the voice gate tells people apart.

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

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

// limits are the lengths at which the lines of the table begin, in seconds.
var limits = [...]float64{0, 1.6, 3.2}

// thresholds are those of which the table has the errors.
var thresholds = []float64{0.6, 0.65, 0.7, 0.75, 0.8}

// likenesses are the likenesses of turns to an enrolled person: of turns of this person, and of others.
type likenesses struct{ own, others []float64 }

// spoken is a turn of a person.
type spoken struct {
	print *voiceprint.Print
	class int // which line of the table
}

// measurePeople enrols each person with recordings whose names begin with a to m, and compares turns of which the names begin with the letters of o.
func measurePeople(ctx context.Context, o options) error {
	v, err := voiceprint.New(voiceprint.Config{Models: o.models})
	if err != nil {
		return err
	}
	enrolled := map[string][]*voiceprint.Print{}
	turns := map[string][]spoken{}
	short, count := 0, 0
	var spent, heard time.Duration
	for _, who := range speakers {
		if enrolled[who], err = enrolOften(ctx, v, o, who); err != nil {
			return err
		}
		said, err := recordings(o, "sounds/"+who)
		if err != nil {
			return err
		}
		for i := range min(maxTurns, len(said)) {
			r := said[i*len(said)/min(maxTurns, len(said))]
			began := time.Now()
			p, err := v.OfTurn(ctx, r.pcm)
			if err != nil {
				return err
			}
			spent += time.Since(began)
			length := time.Duration(len(r.pcm)) * time.Second / human.Rate
			heard += length
			count++
			if p == nil {
				short++
				continue
			}
			class := 0
			for class+1 < len(limits) && length.Seconds() >= limits[class+1] {
				class++
			}
			turns[who] = append(turns[who], spoken{p, class})
		}
	}
	report(os.Stdout, enrolled, turns)
	fmt.Printf("\n%.1f %% of %d turns have too little speech. A print takes %v, for turns of %v on average.\n",
		100*float64(short)/float64(count), count, (spent / time.Duration(count)).Round(time.Millisecond), (heard / time.Duration(count)).Round(10*time.Millisecond))
	return nil
}

// enrolOften returns the prints of several enrolments of a person.
func enrolOften(ctx context.Context, v *voiceprint.Verifier, o options, who string) (all []*voiceprint.Print, err error) {
	o.letters = "a-m"
	from, err := recordings(o, "sounds/"+who)
	if err != nil {
		return nil, err
	}
	from = slices.DeleteFunc(from, func(r recording) bool { return len(r.pcm) < longEnough*human.Rate })
	for n := range enrolments {
		var pcm [][]float32
		for i := range eachTime {
			pcm = append(pcm, from[(n*eachTime+i)*len(from)/(enrolments*eachTime)].pcm)
		}
		p, err := v.OfRecordings(ctx, pcm...)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// report prints the table.
func report(w io.Writer, enrolled map[string][]*voiceprint.Print, turns map[string][]spoken) {
	var by [len(limits)]likenesses
	var total likenesses
	add := func(l *likenesses, own bool, x float64) {
		if own {
			l.own = append(l.own, x)
		} else {
			l.others = append(l.others, x)
		}
	}
	for who, prints := range enrolled {
		for _, p := range prints {
			for other, said := range turns {
				for _, t := range said {
					x := p.Likeness(t.print)
					add(&by[t.class], other == who, x)
					add(&total, other == who, x)
				}
			}
		}
	}
	fmt.Fprint(w, "| length of the turn | comparisons with the person | with others | equal error rate | at a likeness of |")
	for _, at := range thresholds {
		fmt.Fprintf(w, " %.2f: refused / passed |", at)
	}
	fmt.Fprintln(w)
	for i := range by {
		by[i].print(w, fmt.Sprintf("from %.1f s", limits[i]))
	}
	total.print(w, "all")
}

// print writes one line of the table.
func (l likenesses) print(w io.Writer, name string) {
	rate, at := l.equal()
	fmt.Fprintf(w, "| %s | %d | %d | %.2f %% | %.2f |", name, len(l.own), len(l.others), 100*rate, at)
	for _, x := range thresholds {
		refused, passed := l.errors(x)
		fmt.Fprintf(w, " %.1f %% / %.1f %% |", 100*refused, 100*passed)
	}
	fmt.Fprintln(w)
}

// errors returns the share of the person's own turns that are refused at a threshold, and the share of the others' turns that pass.
func (l likenesses) errors(threshold float64) (refused, passed float64) {
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
func (l likenesses) equal() (rate, at float64) {
	nearest := math.Inf(1)
	for threshold := 0.3; threshold < 1; threshold += 0.001 {
		refused, passed := l.errors(threshold)
		if d := math.Abs(refused - passed); d < nearest {
			nearest, rate, at = d, (refused+passed)/2, threshold
		}
	}
	return rate, at
}
