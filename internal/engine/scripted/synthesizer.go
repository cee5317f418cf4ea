package scripted

// This file has the synthesizer of the scripted pipeline.

import (
	"context"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	// Character is the length of the audio for one character at speed 1.
	Character = 60 * time.Millisecond

	// userVoice is the voice that the recogniser understands: that of [Tones].
	userVoice = "user"

	defaultSpeedup = 20
	maxUtterance   = 10000                        // runes
	firstChunk     = pipeline.OutputRate / 50     // samples: 20 ms, so that the first audio is early
	longChunk      = pipeline.MaxChunk            // samples: 100 ms
	samplesPerSec  = float64(pipeline.OutputRate) // for float arithmetic
	minSpeed       = 0.25                         // slowest speech
	maxSpeed       = 4                            // fastest speech
)

// synthesizer speaks in tones.
type synthesizer struct {
	rules *SynthesizerRules
	waves *[16][period]float32
}

// Synthesize implements pipeline.Synthesizer.
func (s *synthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if s.rules.Missing != "" {
		return &pipeline.StageError{Stage: pipeline.StageSynthesizer, Err: pipeline.ErrUnavailable, Hint: s.rules.Missing}
	}
	if n := utf8.RuneCountInString(u.Text); n > maxUtterance {
		return &pipeline.StageError{
			Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w: a text of %d characters, the limit is %d", pipeline.ErrTooLong, n, maxUtterance),
			Hint: "cut it into clauses",
		}
	}
	rule := s.rule(u.Text)
	if err := pause(ctx, rule.Delay); err != nil {
		return err
	}
	p := pacer{ctx: ctx, start: time.Now(), speedup: s.rules.Speedup, emit: emit}
	if p.speedup == 0 {
		p.speedup = defaultSpeedup
	}
	speech := newSpeech(s.waves, u.Text, s.cell(u.Speed))
	if u.Voice == userVoice {
		speech = newTones(s.waves, u.Text)
	}
	if rule.Fail == "" && !rule.Stall {
		return p.speak(speech, math.MaxInt)
	}
	if err := p.speak(speech, int(rule.After.Seconds()*samplesPerSec)); err != nil {
		return err
	}
	if rule.Stall {
		return stall(ctx)
	}
	return &pipeline.StageError{Stage: pipeline.StageSynthesizer, Err: fmt.Errorf("%w: %s", ErrScripted, rule.Fail)}
}

func (s *synthesizer) rule(text string) SpeakRule {
	for i := range s.rules.Rules {
		if _, ok := s.rules.Rules[i].When.match(input{text: text}); ok {
			return s.rules.Rules[i]
		}
	}
	return SpeakRule{}
}

// cell returns the length of one character in samples.
func (s *synthesizer) cell(speed float64) int {
	if !(speed > 0) {
		speed = 1
	}
	d := s.rules.Character
	if d == 0 {
		d = Character
	}
	return int(math.Round(d.Seconds() * samplesPerSec / min(max(speed, minSpeed), maxSpeed)))
}

// pacer emits speech at most speedup times faster than real time. It computes each deadline from the begin, so that it does not
// drift.
type pacer struct {
	ctx     context.Context
	start   time.Time
	speedup float64
	sent    int // samples emitted so far
	emit    func(pcm []int16) error
}

// speak emits the speech, but at most limit samples.
func (p *pacer) speak(s *renderer, limit int) error {
	buf := make([]int16, longChunk)
	size := firstChunk
	for left := min(limit, s.left()); left > 0; left = min(limit-p.sent, s.left()) {
		n := s.read(buf[:min(size, left)])
		due := p.start.Add(time.Duration(float64(p.sent+n) / samplesPerSec / p.speedup * float64(time.Second)))
		if err := pause(p.ctx, time.Until(due)); err != nil {
			return err
		}
		if err := p.emit(buf[:n]); err != nil {
			return err
		}
		p.sent += n
		size = longChunk
	}
	return p.ctx.Err()
}
