package noisebench

// This file measures talk in the background of a caller.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const (
	background  = 5 * time.Minute
	onsetFrames = 3 // frames of speech in a row that begin a turn, as at the server
	quietFrames = 25
	frame       = 10 * time.Millisecond
	inTime      = 80 * time.Millisecond
	nobody      = 100 // dB below: no background
)

// listener is what both ends have: the detector, and from this version on the Talker.
type listener struct {
	detector *voice.Detector
	talker   *voice.Talker // nil: as before
	run      int           // frames of speech in a row
	agent    bool          // the agent plays
}

func newListener(withTalker bool) *listener {
	l := &listener{detector: voice.NewDetector(voice.DetectorConfig{})}
	if withTalker {
		l.talker = &voice.Talker{}
	}
	return l
}

// take takes a frame, and reports whether it is speech of the caller.
func (l *listener) take(x []float32) bool {
	speech := l.detector.Frame(x).Speech
	if l.talker != nil {
		speech = l.talker.Frame(l.detector, speech, l.agent)
	}
	l.run++
	if !speech {
		l.run = 0
	}
	return speech
}

// BenchmarkVoices counts the onsets and the ducks in background talk, before there was a Talker and with it.
func BenchmarkVoices(b *testing.B) {
	caller, others := prompts(b, 'a', 'm'), prompts(b, 'n', 'z')
	for _, below := range []float64{15, 20} {
		for _, people := range []int{1, 2, 3} {
			b.Run(fmt.Sprintf("%v dB below/%d people", below, people), func(b *testing.B) {
				for name, with := range map[string]bool{"before": false, "now": true} {
					onsets, ducks := alone(newListener(with), caller, others, below, people)
					figures.Count(b, "onsets-"+name, onsets)
					figures.Count(b, "ducks-"+name, ducks)
				}
			})
		}
	}
}

// alone counts the onsets, and the ducks of a page, in background talk after a caller has spoken.
func alone(l *listener, caller, others []human.Sentence, below float64, people int) (onsets, ducks int) {
	x := known(caller, 0)
	lead := len(x)
	x = append(x, make([]float32, int(background/time.Second)*human.Rate)...)
	add(x, talk(others, people, len(x), rand.New(rand.NewPCG(1, uint64(people)))), gainOf(-below))
	quiet := 0
	for at := 0; at+voice.FrameSize <= len(x); at += voice.FrameSize {
		speech := l.take(x[at : at+voice.FrameSize])
		quiet++
		if at >= lead && l.run == onsetFrames {
			onsets++
		}
		if at >= lead && speech && quiet > quietFrames {
			ducks++
		}
		if speech {
			quiet = 0
		}
	}
	return onsets, ducks
}

// known returns three prompts of the caller, with pauses.
func known(caller []human.Sentence, k int) (x []float32) {
	for i := range 3 {
		x = append(x, caller[(k+7*i+3)%len(caller)].PCM...)
		x = append(x, make([]float32, human.Rate)...)
	}
	return x
}

// BenchmarkOnsets measures how much later the prompts of a known caller are found than without Talker and without background.
func BenchmarkOnsets(b *testing.B) {
	caller, others := prompts(b, 'a', 'm'), prompts(b, 'n', 'z')
	for _, row := range []struct{ softer, below float64 }{{0, nobody}, {0, 20}, {0, 15}, {4, nobody}, {8, nobody}, {10, nobody}} {
		b.Run(fmt.Sprintf("%v dB softer/background %v dB below", row.softer, row.below), func(b *testing.B) {
			var later []time.Duration
			all, good := 0, 0
			for k := 0; k < len(caller); k += 2 {
				clean := known(caller, k)
				lead := len(clean)
				clean = append(clean, make([]float32, len(caller[k].PCM))...)
				add(clean[lead:], caller[k].PCM, gainOf(-row.softer))
				noisy := slices.Clone(clean)
				if row.below < nobody {
					add(noisy, talk(others, 1, len(noisy), rand.New(rand.NewPCG(2, uint64(k)))), gainOf(-row.below))
				}
				before := newListener(false).find(clean, lead)
				if before < 0 {
					continue
				}
				all++
				if now := newListener(true).find(noisy, lead); now >= 0 {
					later = append(later, now-before)
					if now-before <= inTime {
						good++
					}
				}
			}
			figures.Share(b, "found", len(later), all)
			figures.Share(b, "in-time", good, all)
			figures.Times(b, "later", later, 50, 95, 100)
		})
	}
}

// find returns when the onset after lead samples is found, or -1.
func (l *listener) find(x []float32, lead int) time.Duration {
	for at := 0; at+voice.FrameSize <= len(x); at += voice.FrameSize {
		l.take(x[at : at+voice.FrameSize])
		if at >= lead && l.run >= onsetFrames {
			return time.Duration(at/voice.FrameSize) * frame
		}
	}
	return -1
}
