package main

// This file measures talk in the background of a caller.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

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

// measureVoices prints the tables of the part voices.
func measureVoices(caller, others []prompt) {
	fmt.Println("| background | people | onsets before | onsets now | ducks before | ducks now |\n|---|---|---|---|---|---|")
	for _, below := range []float64{15, 20} {
		for _, people := range []int{1, 2, 3} {
			var onsets, ducks [2]int
			for i, with := range []bool{false, true} {
				onsets[i], ducks[i] = alone(newListener(with), caller, others, below, people)
			}
			fmt.Printf("| %v dB below | %d | %d | %d | %d | %d |\n", below, people, onsets[0], onsets[1], ducks[0], ducks[1])
		}
	}
	fmt.Println("\n| caller | background | found | at most 80 ms later | later, p50 / p95 / longest |\n|---|---|---|---|---|")
	for _, row := range []struct{ softer, below float64 }{{0, nobody}, {0, 20}, {0, 15}, {4, nobody}, {8, nobody}, {10, nobody}} {
		interruptions(caller, others, row.softer, row.below)
	}
	measureSofter(others, caller) // the names a to m have set the numbers of Talker
}

// alone counts the onsets, and the ducks of a page, in background talk after a caller has spoken.
func alone(l *listener, caller, others []prompt, below float64, people int) (onsets, ducks int) {
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
func known(caller []prompt, k int) (x []float32) {
	for i := range 3 {
		x = append(x, caller[(k+7*i+3)%len(caller)].pcm...)
		x = append(x, make([]float32, human.Rate)...)
	}
	return x
}

// interruptions prints how much later the prompts of a known caller are found than without Talker and without background.
func interruptions(caller, others []prompt, softer, below float64) {
	var later []time.Duration
	all, good := 0, 0
	for k := 0; k < len(caller); k += 2 {
		clean := known(caller, k)
		lead := len(clean)
		clean = append(clean, make([]float32, len(caller[k].pcm))...)
		add(clean[lead:], caller[k].pcm, gainOf(-softer))
		noisy := slices.Clone(clean)
		if below < nobody {
			add(noisy, talk(others, 1, len(noisy), rand.New(rand.NewPCG(2, uint64(k)))), gainOf(-below))
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
	slices.Sort(later)
	said, around := "as before", "none"
	if softer > 0 {
		said = fmt.Sprintf("%v dB softer", softer)
	}
	if below < nobody {
		around = fmt.Sprintf("%v dB below", below)
	}
	fmt.Printf("| %s | %s | %d of %d | %d | %v / %v / %v |\n", said, around, len(later), all, good, later[len(later)/2], later[len(later)*95/100], later[len(later)-1])
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
