// Package deadline has the points in time at which waits of a client end, on the clock of its session.
package deadline

import "time"

// Never is the value of a time that has not come, or of a deadline that there is not.
const Never time.Duration = -1

// First returns the earliest of these deadlines; Never when there is none.
func First(all ...time.Duration) time.Duration {
	first := Never
	for _, at := range all {
		if at != Never && (first == Never || at < first) {
			first = at
		}
	}
	return first
}

// Passed reports whether a deadline is over.
func Passed(at, now time.Duration) bool { return at != Never && at <= now }
