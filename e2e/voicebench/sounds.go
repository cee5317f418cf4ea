package main

// This file measures the tags of utterances.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
)

// names are the sounds, in the order of the table's columns.
var names = []string{sounds.Speech, sounds.Music, sounds.Tone, sounds.Noise, sounds.Click, ""}

// measureSounds prints which sound is the longest in each utterance.
func measureSounds(ctx context.Context, o options) error {
	people, err := recordings(o, "sounds/*_*_*")
	if err != nil {
		return err
	}
	songs, err := recordings(o, "moh")
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	fmt.Printf("| utterances | number | speech | music | tone | noise | click | silence |\n|---|---|---|---|---|---|---|---|\n")
	speech := map[string][][]float32{}
	for _, r := range people {
		speech[r.folder] = append(speech[r.folder], r.pcm)
	}
	var rows []row
	for folder, all := range speech {
		rows = append(rows, row{"speech, " + folder, all})
	}
	slices.SortFunc(rows, func(a, b row) int { return compare(a.what, b.what) })
	rows = append(rows, row{"music, pieces of 5 s", pieces(songs)}, row{"tones of telephones, 0.5 to 3 s", signals(random)},
		row{"noise, white to brown, 3 s", noises(random)}, row{"clicks, 1 to 4", clicks(random)})
	for _, r := range rows {
		count := map[string]int{}
		for _, pcm := range r.pcm {
			tags, err := sounds.Reference{}.Tag(ctx, pcm)
			if err != nil {
				return err
			}
			longest := ""
			if len(tags) > 0 {
				longest = tags[0].Name
			}
			count[longest]++
		}
		fmt.Printf("| %s | %d |", r.what, len(r.pcm))
		for _, name := range names {
			fmt.Printf(" %.1f %% |", 100*float64(count[name])/float64(len(r.pcm)))
		}
		fmt.Println()
	}
	return nil
}

// row is a row of the table.
type row struct {
	what string
	pcm  [][]float32
}

func compare(a, b string) int {
	if a < b {
		return -1
	}
	return 1
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
