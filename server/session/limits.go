package session

import (
	"fmt"
	"math"
	"time"

	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits is the budget of whoever pays for a session. Sessions share it, so its methods are safe for concurrent use; they do
// not block.
type Limits interface {
	// Begin takes one response from the budget. Where nothing is left it takes nothing and says after how long there will
	// be something.
	Begin() (wait time.Duration, ok bool)
	// Spend takes the tokens of a response that has ended. What is left, for rate_limits.updated, comes back: nil where
	// nothing is limited.
	Spend(tokens int) []wire.RateLimit
}

// codeRateLimit is the code of a response that the budget had no room for.
const codeRateLimit = "rate_limit_exceeded"

// limitError says when the budget has room again.
type limitError struct{ wait time.Duration }

// Error implements error.
func (e *limitError) Error() string {
	return fmt.Sprintf("the rate limit is reached: try again in %.0f s", math.Ceil(e.wait.Seconds()))
}

// admitted reports whether the budget has room for r. Where it has none, r fails before its body begins.
func (s *Session) admitted(r *reply) bool {
	if s.cfg.Limits == nil {
		return true
	}
	wait, ok := s.cfg.Limits.Begin()
	if ok {
		return true
	}
	r.textErr = &limitError{wait}
	r.body = &body{id: r.id, cancel: func() {}, free: func() {}} // an interruption that comes first finds one to end
	s.again(coord.OfSynthesis{Event: synthesis.WorkerExited{}})
	s.again(coord.OfResponse{Event: response.BodyEnded{ID: r.id, Status: response.Failed}})
	return false
}

// spend counts what r has cost and tells the client what is left.
func (s *Session) spend(r *reply) {
	if s.cfg.Limits == nil {
		return
	}
	if left := s.cfg.Limits.Spend(r.object.Usage.TotalTokens); left != nil {
		s.send(&wire.RateLimitsUpdated{RateLimits: left})
	}
}
