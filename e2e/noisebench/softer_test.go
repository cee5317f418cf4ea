package noisebench

// This file measures a caller who becomes softer in a call, and talk in the background that has pauses.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	softSentences = 4
	softPause     = 3 * human.Rate  // after each sentence: the caller waits for an answer
	agentPlays    = 3 * human.Rate  // how long the agent plays before the first sentence
	agentEvery    = 20 * human.Rate // how often the agent plays in background talk with pauses
)

// BenchmarkSofter finds in which sentence a caller is heard who becomes softer. The names a to m have set the numbers of Talker.
func BenchmarkSofter(b *testing.B) {
	caller := prompts(b, 'n', 'z')
	for _, softer := range []float64{8, 10, 12, 15, 20} {
		b.Run(fmt.Sprintf("%v dB", softer), func(b *testing.B) {
			var in [softSentences + 1]int
			var later []time.Duration
			for k := 0; k < len(caller); k += 2 {
				sentence, after := heardIn(caller, k, softer)
				in[sentence]++
				if sentence == 0 {
					later = append(later, after)
				}
			}
			for sentence, n := range in[:softSentences] {
				figures.Count(b, fmt.Sprintf("heard-in-%d", sentence+1), n)
			}
			figures.Count(b, "never-heard", in[softSentences])
			figures.Times(b, "later-in-1", later, 50, 95)
		})
	}
}

// BenchmarkPauses counts the onsets in talk with pauses, before there was a Talker and with it.
func BenchmarkPauses(b *testing.B) {
	caller, others := prompts(b, 'n', 'z'), prompts(b, 'a', 'm')
	for _, below := range []float64{15, 20} {
		for _, pause := range [][2]float64{{0.3, 1.5}, {1, 4}} {
			b.Run(fmt.Sprintf("%v dB below/pauses of %v to %v s", below, pause[0], pause[1]), func(b *testing.B) {
				figures.Count(b, "onsets-before", withPauses(newListener(false), caller, others, below, pause))
				figures.Count(b, "onsets-now", withPauses(newListener(true), caller, others, below, pause))
			})
		}
	}
}

// heardIn returns the number of the first sentence of a softer caller that has an onset, from 0 on, softSentences for none, and how much later than
// with the detector alone the onset is.
func heardIn(caller []human.Sentence, k int, softer float64) (sentence int, later time.Duration) {
	x := append(known(caller, k), make([]float32, agentPlays)...)
	var begins []int
	for i := range softSentences {
		begins = append(begins, len(x))
		said := make([]float32, len(caller[(k+5*i)%len(caller)].PCM)+softPause)
		add(said, caller[(k+5*i)%len(caller)].PCM, gainOf(-softer))
		x = append(x, said...)
	}
	l := newListener(true)
	l.agent = true
	l.find(x[:begins[0]], begins[0])
	l.agent = false
	now := l.find(x[begins[0]:], 0)
	if now < 0 {
		return softSentences, 0
	}
	now += time.Duration(begins[0]/voice.FrameSize) * frame
	at := int(now/frame) * voice.FrameSize
	for sentence+1 < softSentences && begins[sentence+1] <= at {
		sentence++
	}
	return sentence, now - newListener(false).find(x, begins[sentence])
}

// withPauses counts the onsets in background talk with pauses, after a caller has spoken.
func withPauses(l *listener, caller, others []human.Sentence, below float64, pause [2]float64) (onsets int) {
	random := rand.New(rand.NewPCG(4, 1))
	x := append(known(caller, 0), make([]float32, human.Rate)...)
	lead := len(x)
	for len(x) < lead+int(background/time.Second)*human.Rate {
		p := others[random.IntN(len(others))].PCM
		said := make([]float32, len(p)+int((pause[0]+random.Float64()*(pause[1]-pause[0]))*human.Rate))
		add(said, p, gainOf(-below))
		x = append(x, said...)
	}
	for at := 0; at+voice.FrameSize <= len(x); at += voice.FrameSize {
		l.agent = at%agentEvery < agentPlays
		l.take(x[at : at+voice.FrameSize])
		if at >= lead && l.run == onsetFrames {
			onsets++
		}
	}
	return onsets
}
