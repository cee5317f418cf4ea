package endofturn

// The logistic functions that join what is known to a probability.

import "math"

// Feature is one thing that an Estimator knows, as a number.
type Feature struct {
	Name  string
	Value float64
}

// Explain returns what e knows at the moment. fresh reports whether the words count. It returns nil for an Estimator that is not of New. It is for
// measurements: make bench-listening fits the weights with it. The last Feature is the Judge's, NaN without an answer.
func Explain(e Estimator) (all []Feature, fresh bool) {
	own, is := e.(*estimator)
	if !is {
		return nil, false
	}
	s := own.prosody.measure()
	fresh = own.fresh()
	heard := math.NaN()
	if own.judge != nil {
		heard = own.judge.heard()
	}
	values := features(&own.words, &s, heard, (own.at - own.spoken).Seconds())
	for i, name := range names {
		all = append(all, Feature{name, values[i]})
	}
	return all, fresh
}

// names are the names of the features. The first nine are of the sound, the last one is the answer of a Judge.
var names = [...]string{
	"constant", "silence", "low", "fall", "unvoiced", "quiet", "long", "rate", "duration",
	"open", "may follow", "hesitates", "complete", "closing", "condition", "question", "command", "counts", "unfinished", "ended", "comma", "short",
	"heard",
}

// features returns the values of the features. silence is in seconds.
func features(w *words, s *sound, heard, silence float64) [len(names)]float64 {
	return [...]float64{
		1, math.Log(max(silence, 0.1) / 0.3), s.low / 4, s.fall / 4, s.unvoiced - 0.5, s.quiet/10 - 0.5, s.long, s.rate/5 - 1, math.Log(max(s.duration, 0.2)),
		indicator(w.open), indicator(w.mayFollow), indicator(w.hesitates), indicator(w.complete), indicator(w.closing), indicator(w.condition),
		indicator(w.question), indicator(w.command), indicator(w.counts && !w.unfinished), indicator(w.unfinished), indicator(w.ended), indicator(w.comma), indicator(w.short),
		heard,
	}
}

// The weights of the features. They are near those that make bench-listening fits to English prompts with the initial letters a to m (FLAGS=-fit).
// That of silence is higher and that of "may follow" lower, so that a doubtful end does not wait for the fallback.
var (
	soundWeights = [len(names)]float64{-0.7, 0.6, 0, 0.3, -0.8, 1, 0, -0.4, -0.1}
	allWeights   = [len(names)]float64{0.3, 0.9, 0.2, 0, -0.4, 0.6, -0.3, -0.2, 0.4, -4, -1.8, 0, 2.2, 1.4, -3.5, 0.9, 0, -2.7, -3.4, 0, -0.5, 0.5}
)

// heardWeight is the weight of a Judge's answer. The fit gives it -0.1 for Smart Turn: the answers tell little about those prompts. This is the largest
// weight with which hardly more pauses are cut.
const heardWeight = 0.2

// uncertain is the highest probability that the sound alone gives.
const uncertain = 0.8

// bySound returns the probability that a turn is over by its sound alone. heard is the answer of a Judge, NaN for none. silence is in seconds.
func bySound(s *sound, heard, silence float64) float64 {
	return min(uncertain, logistic(soundWeights, features(&words{}, s, heard, silence)))
}

const (
	long       = 1.5 // seconds of a silence that is long for a pause inside a turn
	impatience = 2.5 // how much each further second weighs, where the last word needs no other one
)

// byAll returns the probability that a turn is over by its words and its sound. heard is the answer of a Judge, NaN for none. silence is in seconds.
func byAll(w *words, s *sound, heard, silence float64) float64 {
	if w.acknowledges || w.hesitates {
		return 0
	}
	weights := allWeights
	if !w.open && !w.unfinished {
		weights[0] += impatience * max(0, silence-long)
	}
	return logistic(weights, features(w, s, heard, silence))
}

// logistic returns the logistic function of the weighted sum. heard counts with heardWeight, unless it is NaN.
func logistic(weights, values [len(names)]float64) float64 {
	if last := len(names) - 1; math.IsNaN(values[last]) {
		values[last] = 0
	} else {
		weights[last] = heardWeight
	}
	var sum float64
	for i, v := range values {
		sum += weights[i] * v
	}
	return 1 / (1 + math.Exp(-sum))
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
