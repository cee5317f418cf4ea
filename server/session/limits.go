package session

import (
	"fmt"
	"math"
	"time"

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

// admitted takes a response from the budget; an error says that nothing is left.
func (s *Session) admitted() error {
	if wait, ok := s.cfg.Limits.Begin(); !ok {
		return &limitError{wait}
	}
	return nil
}

// spent is what a response has cost.
type spent struct{ tokens int }

// spend counts what a response has cost and tells the client what is left.
func (s *Session) spend(tokens int) {
	if left := s.cfg.Limits.Spend(tokens); left != nil && !s.released {
		s.send(&wire.RateLimitsUpdated{RateLimits: left})
	}
}
