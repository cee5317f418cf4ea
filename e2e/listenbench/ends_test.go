package listenbench

// The ways to end a turn, applied to what was heard.

import (
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// settle is the silence after which semantic_vad begins to wait for the end, as in a session.
const settle = 200 * time.Millisecond

// estimate is a probability that the turn is over.
type estimate struct {
	at     time.Duration // when, in the turn
	p      float64
	pause  int // during which pause of the turn; -1: during speech
	values []endofturn.Feature
	fresh  bool
}

// silence is a pause as the detector hears it.
type silence struct {
	pause int           // which pause of the turn
	begin time.Duration // end of the last frame of speech
	end   time.Duration // begin of the next one, or of nothing
}

// among returns the estimates that were found in the silence.
func (s silence) among(found []estimate) []estimate {
	return slices.DeleteFunc(slices.Clone(found), func(e estimate) bool { return e.at <= s.begin || e.at > s.end })
}

// silences returns the silences of a turn that are pauses, and all others of at least 100 ms with pause -1.
func (h *heard) silences() (out []silence) {
	begin := -1
	for i, speech := range h.speech {
		switch {
		case speech:
			if begin >= 0 && i-begin >= 10 {
				out = append(out, h.silence(begin, i))
			}
			begin = -1
		case begin < 0 && i > 0 && h.speech[i-1]:
			begin = i
		}
	}
	if begin >= 0 {
		out = append(out, h.silence(begin, len(h.speech)))
	}
	return out
}

func (h *heard) silence(from, to int) silence {
	s := silence{-1, time.Duration(from) * frame, time.Duration(to) * frame}
	for i, p := range h.pauses {
		if s.begin < p.end && s.end > p.begin {
			s.pause = i
		}
	}
	return s
}

// estimates returns what an estimator says of a turn. j is its judge; nil: it has none.
func (h *heard) estimates(e endofturn.Estimator, j *judge) (out []estimate) {
	texts := h.texts
	if j != nil {
		j.reset()
	}
	pause := map[int]int{}
	for _, s := range h.silences() {
		for i := int(s.begin / frame); i < int(s.end/frame); i++ {
			pause[i] = s.pause
		}
	}
	add := func(i int, at time.Duration, p float64) {
		in, is := pause[i]
		if !is {
			in = -1
		}
		values, fresh := endofturn.Explain(e)
		out = append(out, estimate{at, p, in, values, fresh})
	}
	for i := max(0, h.opened); i < len(h.speech); i++ {
		now := time.Duration(i+1) * frame
		if j != nil {
			j.at(now)
		}
		if p, due := e.Frame(h.pcm[i*voice.FrameSize:(i+1)*voice.FrameSize], h.speech[i]); due {
			add(i, now, p)
		}
		for len(texts) > 0 && texts[0].at <= now {
			if p, due := e.Text(texts[0].text, texts[0].through); due {
				add(i, now, p)
			}
			texts = texts[1:]
		}
	}
	return out
}

// policy ends a turn: it returns when in a silence it does, if it does. found are the estimates in this silence.
type policy struct {
	name string
	cut  func(s silence, found []estimate) (at time.Duration, does bool)
}

// bySilence ends a turn after that much silence.
func bySilence(name string, after time.Duration) policy {
	return policy{name, func(s silence, _ []estimate) (time.Duration, bool) { return s.begin + after, s.begin+after < s.end }}
}

// byEstimate ends a turn when the estimate reaches the threshold, or after the fallback.
func byEstimate(name string, threshold float64, fallback time.Duration) policy {
	return policy{name, func(s silence, found []estimate) (time.Duration, bool) {
		for _, e := range found {
			if e.p >= threshold {
				return e.at, true
			}
		}
		late := s.begin + settle + fallback
		return late, late < s.end
	}}
}

// result is what a policy did to all turns.
type result struct {
	pauses, cuts       [2]int // by where: pauses in sentences, and between them
	turns, cut         int    // turns with a pause in a sentence, and those that were cut there
	delays             []time.Duration
	unheard, unmatched int // turns without a speech onset or end; silences that are no pauses of the turn
}

// apply applies a policy to a turn.
func (r *result) apply(h *heard, found []estimate, p policy) {
	inner, cut, ended := 0, 0, false
	for _, s := range h.silences() {
		at, does := p.cut(s, s.among(found))
		switch {
		case s.pause < 0:
			if does {
				r.unmatched++
			}
		case h.pauses[s.pause].where == atEnd:
			if does && !ended {
				ended = true
				r.delays = append(r.delays, at-h.pauses[s.pause].begin)
			}
		default:
			kind := h.pauses[s.pause].where
			r.pauses[kind]++
			if kind == inSentence {
				inner++
			}
			if does {
				r.cuts[kind]++
				if kind == inSentence {
					cut++
				}
			}
		}
	}
	if !ended {
		r.unheard++
	}
	if inner > 0 {
		r.turns++
		if cut > 0 {
			r.cut++
		}
	}
}
