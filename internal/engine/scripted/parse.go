package scripted

// This file reads and checks scripts.

import (
	"regexp"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
)

// maxPattern is the most bytes of a regular expression.
const maxPattern = 1000

// ParseError is an error in a script and its position.
type ParseError = strict.Error

// Parse reads a script. It uses name only in errors. Every error wraps a *ParseError.
func Parse(name string, src []byte) (*Script, error) {
	s := &Script{}
	if err := strict.Decode(name, src, s, strict.Options{}); err != nil {
		return nil, err
	}
	return s, nil
}

// Check implements strict.Checker.
func (r *HearRule) Check(fail func(key, format string, args ...any)) {
	r.When.ofStage(fail)
	if r.Text != nil && len(r.Speakers) > 0 {
		fail("", "has both text and speakers")
	}
}

// Check implements strict.Checker.
func (r *SpeakRule) Check(fail func(key, format string, args ...any)) {
	r.When.ofStage(fail)
	if r.Fail != "" && r.Stall {
		fail("", "has both fail and stall")
	}
}

// Check implements strict.Checker.
func (r *Reply) Check(fail func(key, format string, args ...any)) {
	if r.Fail != "" && r.Stall || r.Fail != "" && r.Cut || r.Stall && r.Cut {
		fail("", "has more than one of fail, stall and cut")
	}
}

// ofStage reports a condition that only the model's replies can have.
func (w *When) ofStage(fail func(key, format string, args ...any)) {
	if w.Tool != "" || w.Turn != 0 {
		fail("when", "tool and turn are for the model's replies only")
	}
}

// Check implements strict.Checker.
func (w *When) Check(fail func(key, format string, args ...any)) {
	switch {
	case w.Regexp == "":
	case len(w.Regexp) > maxPattern:
		fail("regexp", "has %d bytes, the limit is %d", len(w.Regexp), maxPattern)
	default:
		var err error
		if w.re, err = regexp.Compile(w.Regexp); err != nil {
			fail("regexp", "%v", err)
		}
	}
}
