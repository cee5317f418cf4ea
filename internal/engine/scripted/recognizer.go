package scripted

// This file has the recogniser of the scripted pipeline.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	maxAudio     = 10 * 60 * pipeline.InputRate // samples of an utterance that are used: 10 min
	quiet        = -50                          // dBFS: sound below is silence
	below        = 30                           // dB below the loudest frame: sound below is not part of the speech
	shortest     = 600 * time.Millisecond       // shortest speech without a text that has partial results
	partialEvery = 100 * time.Millisecond       // how much audio lies between two partial results
)

// engine is the backend.Engine of the scripted recogniser.
type engine struct {
	rules    *TranscriberRules
	analyser *analyser
}

func (e *engine) Info() backend.Info {
	return backend.Info{Name: "scripted", Detail: "test signal, length of speech", Live: !e.rules.Offline, Probs: e.rules.Logprobs, Ends: true, Times: true}
}

func (e *engine) Close() error { return nil }

func (e *engine) Open(_ context.Context, c backend.Config) (backend.Stream, error) {
	if c.Live && e.rules.Offline {
		return nil, backend.ErrUnimplemented
	}
	s := &stream{rules: e.rules, timed: c.Words}
	s.demod.analyser = e.analyser
	return s, nil
}

// stream is one utterance.
type stream struct {
	rules *TranscriberRules
	timed bool // the caller wants words
	demod demodulator
	frame []float32 // samples of the last frame, which is not complete
	level []float32 // level of each 10 ms, in dBFS
	fed   int       // samples so far
	due   int       // samples after which the next partial result is due
	shown string    // the last partial result
}

// Feed implements backend.Stream. The partial results do not depend on the pieces in which the audio comes.
func (s *stream) Feed(ctx context.Context, pcm []float32) (u backend.Update, err error) {
	if room := maxAudio - s.fed; len(pcm) > room {
		pcm = pcm[:max(room, 0)]
	}
	u.Partial = s.shown
	for piece := range slices.Chunk(pcm, voice.FrameSize) {
		next := s.feed(piece)
		next.Boundary = cmp.Or(next.Boundary, u.Boundary)
		u = next
	}
	return u, ctx.Err()
}

// feed takes at most a frame.
func (s *stream) feed(pcm []float32) backend.Update {
	s.fed += len(pcm)
	s.measure(pcm)
	if s.demod.write(pcm) {
		text := string(s.demod.done)
		rule := s.rule(text)
		if rule.Text != nil {
			text = *rule.Text
		}
		s.shown = text
		return backend.Update{Partial: text, Boundary: boundary(rule, text)}
	}
	if s.fed >= s.due {
		s.due = s.fed + s.every()
		s.shown = s.partial()
	}
	return backend.Update{Partial: s.shown}
}

func (s *stream) every() int {
	d := s.rules.PartialEvery
	if d == 0 {
		d = partialEvery
	}
	return int(d.Seconds() * pipeline.InputRate)
}

func (s *stream) partial() string {
	if t := s.demod.text(); t != "" || s.demod.synced {
		return t
	}
	from, to := active(s.level)
	if length(from, to) < shortest {
		return s.shown
	}
	return speechOf(from, to)
}

// Finish implements backend.Stream.
func (s *stream) Finish(ctx context.Context) (backend.Result, error) {
	s.demod.write(make([]float32, window)) // silence completes the last look
	text := s.text()
	rule := s.rule(text)
	if err := pause(ctx, s.rules.Delay+rule.Delay); err != nil {
		return backend.Result{}, err
	}
	switch {
	case rule.Stall:
		return backend.Result{}, stall(ctx)
	case rule.Fail != "":
		return backend.Result{}, fmt.Errorf("%w: %s", ErrScripted, rule.Fail)
	case len(rule.Speakers) > 0:
		var all []string
		for _, p := range rule.Speakers {
			all = append(all, p.Text)
		}
		text = strings.Join(all, " ")
	case rule.Text != nil:
		text = *rule.Text
	}
	return backend.Result{Text: text, Boundary: boundary(rule, text), Words: s.words(rule, text)}, nil
}

// certainty is the probability of each word where Logprobs is set.
const certainty = 0.9

// words returns the words of the text, spread evenly over the speech; nil where neither the script nor the caller asks for them.
func (s *stream) words(rule HearRule, text string) []backend.Word {
	said := rule.Speakers
	if len(said) == 0 {
		if !s.rules.Logprobs && !s.timed {
			return nil
		}
		said = []Speaker{{Text: text}}
	}
	var out []backend.Word
	for _, p := range said {
		for _, w := range strings.Fields(p.Text) {
			out = append(out, backend.Word{Text: w, Speaker: p.Name})
		}
	}
	from, to := active(s.level)
	at := func(i int) int {
		return int((length(0, from) + length(from, to)*time.Duration(i)/time.Duration(len(out))).Milliseconds())
	}
	for i := range out {
		out[i].StartMS, out[i].EndMS = at(i), at(i+1)
		if s.rules.Logprobs {
			out[i].Prob = certainty
		}
	}
	return out
}

// Close implements backend.Stream.
func (s *stream) Close() error { return nil }

func (s *stream) text() string {
	if t := s.demod.text(); t != "" && !s.demod.corrupt {
		return t
	}
	from, to := active(s.level)
	if from == to {
		return ""
	}
	return speechOf(from, to)
}

func (s *stream) rule(text string) HearRule {
	for i := range s.rules.Rules {
		if _, ok := s.rules.Rules[i].When.match(input{text: text}); ok {
			return s.rules.Rules[i]
		}
	}
	return HearRule{}
}

// boundary returns how a complete text ends. A text with a comma or an ellipsis at its end has no boundary.
func boundary(rule HearRule, text string) backend.Boundary {
	switch rule.Boundary {
	case "eou":
		return backend.EndOfUtterance
	case "eob":
		return backend.EndOfBackchannel
	case "none":
		return backend.NoBoundary
	}
	switch {
	case text == "" || strings.HasSuffix(text, ",") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…"):
		return backend.NoBoundary
	case slices.Contains([]string{"uh-huh", "mm-hmm", "mhm", "yeah", "okay", "ok", "right", "i see"}, bare(text)):
		return backend.EndOfBackchannel
	}
	return backend.EndOfUtterance
}

// measure appends the levels of the sound.
func (s *stream) measure(pcm []float32) {
	s.frame = append(s.frame, pcm...)
	n := 0
	for ; n+voice.FrameSize <= len(s.frame); n += voice.FrameSize {
		s.level = append(s.level, voice.DBFS(voice.RMS(s.frame[n:n+voice.FrameSize])))
	}
	s.frame = s.frame[:copy(s.frame, s.frame[n:])]
}

// active returns the frames that contain the speech: the first one, and the one after the last.
func active(level []float32) (from, to int) {
	loudest := float32(math.Inf(-1))
	for _, l := range level {
		loudest = max(loudest, l)
	}
	floor := max(quiet, loudest-below)
	for to = len(level); to > 0 && level[to-1] < floor; to-- {
	}
	for from < to && level[from] < floor {
		from++
	}
	return from, to
}

func length(from, to int) time.Duration { return time.Duration(to-from) * 10 * time.Millisecond }

func speechOf(from, to int) string {
	return "speech of " + strconv.FormatFloat(length(from, to).Seconds(), 'f', 1, 64) + " s"
}
