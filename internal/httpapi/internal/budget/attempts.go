package budget

// The calls that clients begin in a minute.

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// Attempts limits how many calls each of many clients begins in a minute. The zero value has room for each. It is safe for concurrent use.
type Attempts[K comparable] struct {
	mu sync.Mutex
	of map[K]*link.TokenBucket
}

// maxAttempts is how many clients Attempts keeps. A full bucket is forgotten first, then any.
const maxAttempts = 10_000

// Take takes one call of a client's limit in a minute. It returns how long to wait if there is none left.
func (a *Attempts[K]) Take(of K, limit int, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bucket := a.of[of]
	if bucket == nil || bucket.Size() != float64(limit) {
		a.forget(now)
		if a.of == nil {
			a.of = map[K]*link.TokenBucket{}
		}
		bucket = PerMinute(limit, now)
		a.of[of] = bucket
	}
	bucket.Fill(now)
	if wait = bucket.Wait(1); wait == 0 {
		bucket.Take(1)
	}
	return wait
}

// forget makes room for one client. The caller holds mu.
func (a *Attempts[K]) forget(now time.Time) {
	if len(a.of) < maxAttempts {
		return
	}
	for of, bucket := range a.of {
		if bucket.Fill(now); bucket.Wait(bucket.Size()) == 0 {
			delete(a.of, of)
		}
	}
	for of := range a.of {
		if len(a.of) < maxAttempts {
			return
		}
		delete(a.of, of)
	}
}
