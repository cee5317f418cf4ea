package sherpa

// This file moves the times of words to where the sound becomes louder and softer. What the decoder attends to has steps of 24 ms, and begins in the
// silence before a word.

import "math"

const (
	step = 10 // milliseconds of one level

	// The decoder attends to a word this long before its onset, in milliseconds. This and the next five numbers gave the smallest deviations of onsets in
	// prompts of a person, a to m, joined with pauses of 0 to 250 ms (BenchmarkWordTimes).
	early = 60
	// An onset is looked for this long before and after that, in levels.
	lookBack, lookAhead = 8, 25
	// around is how many levels before and after an onset are compared.
	around = 3
	// leastRise is the least rise of the level at an onset, and mostRise is the most that counts, in dB.
	leastRise, mostRise = 6, 25
	// A level farther away must rise by so many dB more.
	fartherRise = 0.6

	// A word ends where the level stays so many dB below its loudest place.
	fade = 25
	// insideWord is the longest silence inside of a word, in levels: before a plosive there are up to 100 ms.
	insideWord = 15
)

// loudness has the level of each step of a recording, in dB.
type loudness []float64

func newLoudness(pcm []float32) loudness {
	l := make(loudness, 0, len(pcm)/(step*ms))
	for ; len(pcm) >= step*ms; pcm = pcm[step*ms:] {
		energy := 1e-9
		for _, v := range pcm[:step*ms] {
			energy += float64(v) * float64(v) / (step * ms)
		}
		l = append(l, 10*math.Log10(energy))
	}
	return l
}

func (l loudness) mean(from, to int) (sum float64) {
	for _, v := range l[from:to] {
		sum += v / float64(to-from)
	}
	return sum
}

// onset returns where the word begins to which the decoder attends from a time on, and before the time of the next one. All are milliseconds.
func (l loudness) onset(attended, next int) int {
	expected := (attended + early) / step
	best, at := math.Inf(-1), min(expected, len(l))
	for i := max(around, expected-lookBack); i < min(len(l)-around, expected+lookAhead, max(expected+1, (next+early)/step)); i++ {
		rise := min(l.mean(i, i+around)-l.mean(i-around, i), mostRise)
		if score := rise - fartherRise*math.Abs(float64(i-expected)); rise >= leastRise && score > best {
			best, at = score, i
		}
	}
	return at * step
}

// end returns where a word ends that begins at a time, and before the next one. All are milliseconds.
func (l loudness) end(begin, next int) int {
	from, to := min(begin/step, len(l)), min(next/step, len(l))
	loudest := math.Inf(-1)
	for _, v := range l[from:max(from, to)] {
		loudest = max(loudest, v)
	}
	last := from // behind the last loud level
	for i := from; i < to && (last == from || i < last+insideWord); i++ {
		if l[i] >= loudest-fade {
			last = i + 1
		}
	}
	return max(begin, last*step)
}
