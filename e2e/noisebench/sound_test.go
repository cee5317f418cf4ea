package noisebench

// This file has the prompts and the noises.

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
)

// models has the models that scripts/setup.sh fetches.
const models = "../../.cache/models"

// count is how many prompts BenchmarkNoise and BenchmarkCalls have.
var count = flag.Int("sentences", 30, "how many prompts BenchmarkNoise and BenchmarkCalls have")

// level is the RMS level of the louder half of each prompt.
const level = 0.05

// prompts returns the prompts whose names begin with these letters, at the level.
func prompts(t testing.TB, first, last byte) []human.Sentence {
	t.Helper()
	all, err := human.Prompts(first, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		leveled(p.PCM)
	}
	return all
}

// leveled changes the level of x: the RMS level of the louder half of its pieces of 20 ms becomes level.
func leveled(x []float32) []float32 {
	const piece = human.Rate / 50
	var powers []float64
	for each := range slices.Chunk(x, piece) {
		var sum float64
		for _, v := range each {
			sum += float64(v) * float64(v)
		}
		powers = append(powers, sum/float64(len(each)))
	}
	slices.Sort(powers)
	var sum float64
	for _, p := range powers[len(powers)/2:] {
		sum += p
	}
	gain := float32(level / math.Sqrt(sum/float64(len(powers)-len(powers)/2)+1e-12))
	for i := range x {
		x[i] *= gain
	}
	return x
}

// talk returns n samples of people who talk, each without a pause.
func talk(from []human.Sentence, people, n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	for range people {
		for at := 0; at < n; {
			said := from[random.IntN(len(from))].PCM
			add(x[at:], said, 1)
			at += len(said)
		}
	}
	return leveled(x)
}

// fan returns n samples of noise whose power falls with the frequency.
func fan(n int, random *rand.Rand) []float32 {
	x := make([]float32, n)
	var slow, middle, fast float64
	for i := range x {
		w := random.NormFloat64() // Paul Kellet's filter for pink noise, without two of its poles
		slow = 0.99765*slow + 0.0990460*w
		middle = 0.96300*middle + 0.2965164*w
		fast = 0.57000*fast + 1.0526913*w
		x[i] = float32(slow + middle + fast + 0.1848*w)
	}
	return leveled(x)
}

// add adds y to x, as far as x goes.
func add(x, y []float32, gain float32) {
	for i := range min(len(x), len(y)) {
		x[i] += gain * y[i]
	}
}

// gainOf returns the factor for a change of level in dB.
func gainOf(db float64) float32 { return float32(math.Pow(10, db/20)) }
