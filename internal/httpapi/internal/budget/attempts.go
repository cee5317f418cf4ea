package budget

// The calls that clients begin in a minute.

import (
	"maps"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// Attempts limits how many calls each of many clients begins in a minute. The zero value has room for each. It is safe for concurrent use.
type Attempts[K comparable] struct {
	mu sync.Mutex
	of map[K]*link.TokenBucket
}

// maxClients is how many clients are kept. Who has used nothing is forgotten first, then any.
const maxClients = 10_000

// Take takes one call of a client's limit in a minute. It returns how long to wait if there is none left.
func (a *Attempts[K]) Take(of K, limit int, now time.Time) (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bucket := a.of[of]
	if bucket == nil || bucket.Size() != float64(limit) {
		if a.of == nil {
			a.of = map[K]*link.TokenBucket{}
		}
		makeRoom(a.of, func(bucket *link.TokenBucket) bool { return full(bucket, now) })
		bucket = PerMinute(limit, now)
		a.of[of] = bucket
	}
	bucket.Fill(now)
	if wait = bucket.Wait(1); wait == 0 {
		bucket.Take(1)
	}
	return wait
}

// makeRoom makes room for one client. unused reports whether one has used nothing.
func makeRoom[K comparable, V any](of map[K]V, unused func(V) bool) {
	if len(of) < maxClients {
		return
	}
	maps.DeleteFunc(of, func(_ K, v V) bool { return unused(v) })
	for k := range of {
		if len(of) < maxClients {
			return
		}
		delete(of, k)
	}
}

// full reports whether nothing is taken from a bucket; nil is full.
func full(bucket *link.TokenBucket, now time.Time) bool {
	if bucket == nil {
		return true
	}
	bucket.Fill(now)
	return bucket.Wait(bucket.Size()) == 0
}
