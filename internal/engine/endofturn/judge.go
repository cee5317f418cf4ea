package endofturn

// The judge: a model that hears the turn, and when it is asked.

import (
	"math"
	"time"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// Judge says how probable it is that a user has finished a turn, by its sound: a neural model, for example. pcm is the audio up to now, at most
// Hears of it, mono at voice.FrameRate; the Judge may keep it. It returns at once. The channel gets the probability, or is closed without one if
// there is none.
type Judge func(pcm []float32) <-chan float64

// Hears is how much audio a Judge gets at most.
const Hears = 8 * time.Second

const (
	// patience is the silence up to which estimates wait for the answer of a Judge.
	patience = 450 * time.Millisecond
	// mostSure limits the answer of a Judge, so that no answer counts without end.
	mostSure = 0.999
)

// asked are the silences after which a Judge is asked, in their order.
var asked = [...]time.Duration{Earliest, 400 * time.Millisecond, 800 * time.Millisecond}

// judging asks a Judge for an estimator.
type judging struct {
	ask    Judge
	pcm    []float32      // the audio up to now, at most twice Hears
	asks   int            // how often the Judge was asked in this silence
	answer <-chan float64 // of the question that is open; nil: there is none
	p      float64        // the newest answer for this silence; 0: there is none
}

// frame takes the next 10 ms, in which the user has been silent that long. spoken reports whether there was speech before. It reports whether an
// answer has come.
func (j *judging) frame(pcm []float32, silence time.Duration, spoken bool) (answered bool) {
	const most = int(Hears / frame * voice.FrameSize)
	if len(j.pcm)+len(pcm) > 2*most {
		j.pcm = append(j.pcm[:0], j.pcm[len(j.pcm)-most:]...)
	}
	j.pcm = append(j.pcm, pcm...)
	switch {
	case !spoken:
		return false
	case silence == 0:
		j.asks, j.answer, j.p = 0, nil, 0
		return false
	}
	if j.answer == nil && j.asks < len(asked) && silence >= asked[j.asks] {
		j.asks++
		j.answer = j.ask(append([]float32(nil), j.pcm[max(0, len(j.pcm)-most):]...))
	}
	select {
	case p, ok := <-j.answer:
		j.answer = nil
		if ok {
			j.p = p
		}
		return true
	default:
		return false
	}
}

// waits reports whether an estimate should wait for the answer: none has come yet in this silence, which is short.
func (j *judging) waits(silence time.Duration) bool {
	return j.answer != nil && j.p == 0 && silence < patience
}

// heard returns the newest answer as the logarithm of the odds; NaN if there is none.
func (j *judging) heard() float64 {
	if j.p == 0 {
		return math.NaN()
	}
	p := min(max(j.p, 1-mostSure), mostSure)
	return math.Log(p / (1 - p))
}
