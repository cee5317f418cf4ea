package noisebench

// This file measures the client's detector alone with the sounds of BenchmarkTurns, in seconds and not in real time.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// BenchmarkDetector says each sound of the repertoire once over the agent, after three sentences to the silent agent, and prints in how many of them the client's
// detector finds speech that lasts, and how long after the begin of the sound. The agent is not in the microphone: "agent" says whether the detector
// gets what the loudspeaker plays.
func BenchmarkDetector(b *testing.B) {
	sounds := sayings(b, *panelReport)
	agent, err := resampled(voice.PCM16ToFloat(nil, scripted.Tones("one two three four five six seven eight nine ten")), native.Rate, human.Rate)
	if err != nil {
		b.Fatal(err)
	}
	for _, noise := range []float64{0, 15, 10} {
		for _, reference := range [][]float32{nil, agent} {
			for k := range kinds {
				b.Run(fmt.Sprintf("%v/noise=%v/agent=%v", k, noise, reference != nil), func(b *testing.B) {
					var found []float64
					for i, s := range sounds[k] {
						if ms, is := sustainedIn(sounds[interruption], s.PCM, reference, noise, uint64(i)); is {
							found = append(found, float64(ms))
						}
					}
					slices.Sort(found)
					figures.Share(b, "found", len(found), len(sounds[k]))
					if len(found) > 0 {
						b.ReportMetric(found[len(found)/2], "p50-ms")
						b.ReportMetric(found[len(found)*95/100], "p95-ms")
					}
				})
			}
		}
	}
}

// sustainedIn says three sentences, and then x over the agent. It returns how many milliseconds after the begin of x the detector finds speech that lasts.
func sustainedIn(sentences []human.Sentence, x, agent []float32, noise float64, seed uint64) (ms int, found bool) {
	random := rand.New(rand.NewPCG(25, seed))
	var mic []float32
	for range turnsOpen {
		mic = append(mic, make([]float32, human.Rate)...)
		mic = append(mic, sentences[random.IntN(len(sentences))].PCM...)
	}
	plays := len(mic)
	mic = append(mic, make([]float32, 5*human.Rate)...)
	from := len(mic)
	mic = append(append(mic, x...), make([]float32, human.Rate)...)
	if noise > 0 {
		for i, v := range fan(len(mic), random) {
			mic[i] += v * gainOf(-noise)
		}
	}
	d := sdk.NewBargeInDetector()
	for at := 0; at+voice.FrameSize <= len(mic); at += voice.FrameSize {
		var reference []float32
		if at >= plays && agent != nil {
			begin := (at - plays) % (len(agent) - voice.FrameSize)
			reference = agent[begin : begin+voice.FrameSize]
		}
		if v := d.Frame(mic[at:at+voice.FrameSize], reference, at >= plays); v == sdk.DetectedSustained && at >= from {
			return (at + voice.FrameSize - from) / msSamples, true
		}
	}
	return 0, false
}
