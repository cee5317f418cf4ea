package session

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// panicked is what a stage of the pipeline left behind when it panicked.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("it panicked: %v", p.value) }

// contain runs a stage. A stage that panics has failed; its session and all others go on.
func contain(stage string, run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pipeline.StageError{Stage: stage, Err: &panicked{v, string(debug.Stack())}}
		}
	}()
	return run()
}

// What is logged when a fault is ours.
const (
	sessionFailed   = "a session has failed"
	invariantBroken = "an invariant does not hold"
)

// mourn ends a session whose actor panics: that is a fault of ours, but the other calls are not to pay for it.
func (s *Session) mourn() {
	v := recover()
	if v == nil {
		return
	}
	s.log.Error(sessionFailed, "panic", v, "stack", string(debug.Stack()))
	if !s.released {
		s.release()
	}
}

// failed logs the failure of a stage.
func (s *Session) failed(what string, err error, about ...any) {
	about = append(about, "err", err)
	var p *panicked
	if errors.As(err, &p) {
		s.log.Error(what, append(about, "stack", p.stack)...)
		return
	}
	s.log.Warn(what, about...)
}
