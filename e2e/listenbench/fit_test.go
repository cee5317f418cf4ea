package listenbench

// The fit of the weights of package endofturn.

import (
	"fmt"
	"math"
	"strings"
)

const (
	ofSound = 9    // the first features are of the sound
	steps   = 4000 // of the descent
	speed   = 0.5  // of the descent
	shrink  = 0.01 // how strongly a weight is drawn to what was expected before the measurement
)

// expected are the weights before the measurement: what grammar says, and that silence lasts longer at an end.
var expected = []float64{0, 1, 0.2, 0.2, 0, 0.5, 0, 0, 0, -4, -2, 0, 2, 1, -3, 1, 0, -2, -3, 0, -0.5, 0, 0.5}

// sample is an estimate, and whether the turn was over.
type sample struct {
	values []float64
	over   bool
	weight float64
}

// fit prints the weights that fit the estimates best: of the sound alone, and of all.
func fit(all []heard, found [][]estimate, judged bool) {
	for _, fresh := range []bool{false, true} {
		var names []string
		var prior []float64
		var samples []sample
		for i, h := range all {
			for _, e := range found[i] {
				if e.pause < 0 || fresh && !e.fresh || judged && math.IsNaN(e.values[len(e.values)-1].Value) || h.pauses[e.pause].where == between {
					continue
				}
				if e.at-h.pauses[e.pause].begin > longest {
					continue
				}
				s := sample{over: h.pauses[e.pause].where == atEnd, weight: 1}
				names, prior = names[:0], prior[:0]
				for j, v := range e.values {
					if last := j == len(e.values)-1; last && !judged || !last && !fresh && j >= ofSound {
						continue
					}
					s.values = append(s.values, v.Value)
					names, prior = append(names, v.Name), append(prior, expected[j])
				}
				samples = append(samples, s)
			}
		}
		weights, loss := descend(samples, prior)
		fmt.Printf("\n%d estimates, words: %v, loss %.3f\n", len(samples), fresh, loss)
		var line []string
		for j, w := range weights {
			fmt.Printf("  %-14s %6.2f\n", names[j], w)
			line = append(line, fmt.Sprintf("%.2f", w))
		}
		fmt.Println("  {" + strings.Join(line, ", ") + "}")
	}
}

// descend returns the weights of the logistic function that fits the samples best, and the mean loss.
func descend(samples []sample, prior []float64) (weights []float64, loss float64) {
	n := len(prior)
	weights = make([]float64, n)
	var over float64
	for _, s := range samples {
		if s.over {
			over++
		}
	}
	// Both outcomes weigh the same.
	total := float64(len(samples))
	for i := range samples {
		if samples[i].over {
			samples[i].weight = total / 2 / over
		} else {
			samples[i].weight = total / 2 / (total - over)
		}
	}
	for range steps {
		gradient := make([]float64, n)
		loss = 0
		for _, s := range samples {
			var sum float64
			for j, v := range s.values {
				sum += weights[j] * v
			}
			p, want := 1/(1+math.Exp(-sum)), 0.0
			if s.over {
				want = 1
			}
			loss -= s.weight * (want*math.Log(max(p, 1e-9)) + (1-want)*math.Log(max(1-p, 1e-9)))
			for j, v := range s.values {
				gradient[j] += s.weight * (p - want) * v
			}
		}
		loss /= total
		for j := range weights {
			weights[j] -= speed * (gradient[j]/total + shrink*(weights[j]-prior[j]))
		}
	}
	return weights, loss
}
