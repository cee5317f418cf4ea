package endofturn

// The estimator: when an estimate is due, and what it is made of.

import (
	"math"
	"time"
)

const (
	frame = 10 * time.Millisecond

	// Earliest is the silence at which the first estimate is made. Silence counts from the detector's last frame of speech.
	Earliest = 150 * time.Millisecond
	// Every is the time from one estimate to the next.
	Every = 100 * time.Millisecond

	// lag is how much time a text that does not say how far it reaches may need from the end of the speech.
	lag = 300 * time.Millisecond
	// alone is the silence from which on the sound counts alone. The text of the end of the speech usually comes before.
	alone = 850 * time.Millisecond
	// maxText is how much of the end of a text is looked at, in bytes.
	maxText = 1000
)

// Estimator follows one turn of a user. One goroutine uses it.
type Estimator interface {
	// Frame takes the next frame: voice.FrameSize mono samples at voice.FrameRate. speech reports whether the detector hears the user in it.
	// due reports whether p is an estimate: the probability that the user has finished the turn.
	Frame(pcm []float32, speech bool) (p float64, due bool)
	// Text takes the recogniser's text of the turn so far, which replaces earlier ones. It is the text of the audio up to through, from the
	// first frame on; 0 if that is not known.
	Text(text string, through time.Duration) (p float64, due bool)
}

// Threshold returns the probability from which on a turn is over, for an eagerness of the protocol. That of "low" is reached only with words.
func Threshold(eagerness string) float64 {
	switch eagerness {
	case "low":
		return 0.85
	case "high":
		return 0.5
	}
	return 0.7
}

// estimator is the Estimator of New.
type estimator struct {
	pick     func(text string) *Language // returns the data for a text of the turn
	language *Language                   // of the newest text; nil: there is no data
	prosody  *prosody
	words    words
	judge    *judging // nil: there is no Judge

	at      time.Duration // length of the audio
	spoken  time.Duration // where the last speech ended; 0: there was none
	through time.Duration // up to where the text reaches; 0 if that is not known
	texted  time.Duration // how long the audio was when the text came
}

// New returns an Estimator for a turn in a language, such as "en" or "en-US". If language is empty, the script of the words decides. A language without
// data has no words: the sound counts alone.
func New(language string) Estimator { return Own(nil).New(language) }

// Judged lets a Judge hear the turn of a new Estimator of New or Own.New, and returns the Estimator. As long as the Judge has no answer for a silence, the
// estimates are those without it. Judged returns any other Estimator as it is.
func Judged(e Estimator, j Judge) Estimator {
	if own, is := e.(*estimator); is {
		own.judge = &judging{ask: j}
	}
	return e
}

func (e *estimator) Frame(pcm []float32, speech bool) (p float64, due bool) {
	e.at += frame
	e.prosody.frame(pcm, speech)
	if speech {
		e.spoken = e.at
	}
	silence := e.at - e.spoken
	answered := e.judge != nil && e.judge.frame(pcm, silence, e.spoken > 0)
	if e.spoken == 0 || silence < Earliest || !answered && (silence-Earliest)%Every != 0 {
		return 0, false
	}
	return e.estimate()
}

func (e *estimator) Text(text string, through time.Duration) (p float64, due bool) {
	if len(text) > maxText {
		text = text[len(text)-maxText:]
	}
	e.through, e.texted = through, e.at
	e.words = words{}
	if e.language = e.pick(text); e.language != nil {
		e.words = e.language.look(text)
	}
	if e.spoken == 0 || e.at-e.spoken < Earliest {
		return 0, false
	}
	return e.estimate()
}

// fresh reports whether the text reaches to the end of the speech.
func (e *estimator) fresh() bool {
	switch {
	case e.language == nil || e.words.count == 0:
		return false
	case e.through > 0:
		return e.through >= e.spoken
	}
	return e.texted > e.spoken || e.at-e.spoken >= lag
}

// estimate returns the probability that the turn is over. ok is false if it is too early to say.
func (e *estimator) estimate() (p float64, ok bool) {
	fresh, silence := e.fresh(), e.at-e.spoken
	heard := math.NaN()
	if e.judge != nil {
		if e.judge.waits(silence) {
			return 0, false
		}
		heard = e.judge.heard()
	}
	if !fresh && silence < alone {
		return 0, false
	}
	sound := e.prosody.measure()
	if !fresh {
		return bySound(&sound, heard, silence.Seconds()), true
	}
	return byAll(&e.words, &sound, heard, silence.Seconds()), true
}
