package voicebench

// This file measures the tags of utterances.

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
)

// BenchmarkSounds counts which sound is the longest in each utterance.
func BenchmarkSounds(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	speech := map[string][][]float32{}
	for _, r := range recordings(b, *letters, "sounds/*_*_*") {
		speech[r.folder] = append(speech[r.folder], r.pcm)
	}
	var rows []row
	for _, folder := range slices.Sorted(maps.Keys(speech)) {
		rows = append(rows, row{"speech/" + folder, speech[folder]})
	}
	rows = append(rows, row{"music/pieces of 5 s", pieces(recordings(b, *letters, "moh"))}, row{"tones of telephones/0.5 to 3 s", signals(random)},
		row{"noise/white to brown, 3 s", noises(random)}, row{"clicks/1 to 4", clicks(random)})
	for _, r := range rows {
		b.Run(r.what, func(b *testing.B) {
			count := map[string]int{}
			for _, pcm := range r.pcm {
				tags, err := sounds.Reference{}.Tag(b.Context(), pcm)
				if err != nil {
					b.Fatal(err)
				}
				longest := "silence"
				if len(tags) > 0 {
					longest = tags[0].Name
				}
				count[longest]++
			}
			figures.Count(b, "utterances", len(r.pcm))
			for name, n := range count {
				figures.Share(b, name, n, len(r.pcm))
			}
		})
	}
}

// row is one kind of utterances.
type row struct {
	what string
	pcm  [][]float32
}

// pieces cuts music into pieces of 5 s.
func pieces(songs []recording) (all [][]float32) {
	for _, song := range songs {
		for piece := range slices.Chunk(song.pcm, 5*human.Rate) {
			if len(piece) == 5*human.Rate {
				all = append(all, piece)
			}
		}
	}
	return all
}

// signals returns tones of telephone systems (ITU-T E.180 and Q.23), on a line with noise 30 to 50 dB below.
func signals(random *rand.Rand) (all [][]float32) {
	pairs := [][2]float64{{350, 440}, {425, 0}, {440, 480}, {480, 620}, {400, 450}, {1000, 0}, {1400, 0}, {697, 1209}, {770, 1336}, {852, 1477}, {941, 1336}}
	for _, pair := range pairs {
		for range 20 {
			n, on := human.Rate/2+random.IntN(5*human.Rate/2), human.Rate/4*(1+random.IntN(4))
			hiss := 0.1 * math.Pow(10, -float64(30+random.IntN(21))/20)
			busy := random.IntN(2) == 0
			x := make([]float32, n)
			for i := range x {
				if t := float64(i) / human.Rate; !busy || i/on%2 == 0 {
					x[i] = float32(0.1 * math.Sin(2*math.Pi*pair[0]*t))
					if pair[1] > 0 {
						x[i] += float32(0.1 * math.Sin(2*math.Pi*pair[1]*t))
					}
				}
				x[i] += float32(hiss * random.NormFloat64())
			}
			all = append(all, x)
		}
	}
	return all
}

// noises returns noise whose power falls with the frequency, more or less.
func noises(random *rand.Rand) (all [][]float32) {
	for range 100 {
		x := make([]float32, 3*human.Rate)
		keep, low := random.Float64()*0.97, 0.0
		for i := range x {
			low = keep*low + (1-keep)*random.NormFloat64()
			x[i] = float32(0.05 * low * math.Sqrt((1+keep)/(1-keep)))
		}
		all = append(all, x)
	}
	return all
}

// clicks returns bursts of 5 to 40 ms in 2 s that are almost silent.
func clicks(random *rand.Rand) (all [][]float32) {
	for range 100 {
		x := make([]float32, 2*human.Rate)
		for i := range x {
			x[i] = float32(0.0005 * random.NormFloat64())
		}
		for range 1 + random.IntN(4) {
			at, fades := random.IntN(len(x)-human.Rate/10), float64(human.Rate)*(0.002+0.008*random.Float64())
			for i := range human.Rate / 20 {
				x[at+i] += float32(0.4 * random.NormFloat64() * math.Exp(-float64(i)/fades))
			}
		}
		all = append(all, x)
	}
	return all
}
