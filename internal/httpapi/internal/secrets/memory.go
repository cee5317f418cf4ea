package secrets

import (
	"container/heap"
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// Client secrets in the memory of one server: creates them, finds them, and forgets them when they expire.

// Limits of the client secrets of a server.
const (
	Max      = 10_000   // secrets at a time
	maxBytes = 64 << 20 // size of the requests that created them
	overhead = 2 << 10  // counted for each secret in addition
)

// Memory keeps the client secrets of one server. It is safe for concurrent use.
type Memory struct {
	sealer

	mu    sync.Mutex
	byID  map[ID]*Secret
	queue expiryHeap // the secret that expires next is first
	bytes int
	of    map[string]int // how many each principal has
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	v := &Memory{byID: map[ID]*Secret{}, of: map[string]int{}}
	_, _ = rand.Read(v.key[:]) // never fails, see crypto/rand
	return v
}

// Create implements Store. When the store is full and another principal has more secrets, that principal loses the one that expires next.
func (v *Memory) Create(_ context.Context, made New) (value string, expires int64, wait time.Duration, err error) {
	now := time.Now()
	s := &Secret{Principal: made.Principal, Session: made.Session, size: made.Size + overhead, Expires: now.Add(made.Lifetime).Unix()}
	_, _ = rand.Read(s.ID[:]) // never fails, see crypto/rand
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(now)
	if v.of[s.Principal] >= made.Most {
		return "", 0, time.Unix(v.queue[v.next(s.Principal)].Expires, 0).Sub(now), ErrTooMany
	}
	for len(v.byID) >= Max || v.bytes+s.size > maxBytes {
		greedy := v.greediest()
		if v.of[greedy] <= v.of[s.Principal]+1 {
			return "", 0, time.Unix(v.queue[0].Expires, 0).Sub(now), ErrTooMany
		}
		v.remove(v.next(greedy))
	}
	v.byID[s.ID] = s
	heap.Push(&v.queue, s)
	v.bytes += s.size
	v.of[s.Principal]++
	return v.value(s.ID, s.Expires), s.Expires, 0, nil
}

// forget removes the secrets that have expired. The caller holds mu.
func (v *Memory) forget(now time.Time) {
	for len(v.queue) > 0 && v.queue[0].Expires <= now.Unix() {
		v.remove(0)
	}
}

// remove removes the secret at that index of the queue. The caller holds mu.
func (v *Memory) remove(index int) {
	s, _ := heap.Remove(&v.queue, index).(*Secret)
	delete(v.byID, s.ID)
	v.bytes -= s.size
	if v.of[s.Principal]--; v.of[s.Principal] == 0 {
		delete(v.of, s.Principal)
	}
}

// next returns the index in the queue of the principal's secret that expires next. The principal has one. The caller holds mu.
func (v *Memory) next(principal string) int {
	first := -1
	for i, s := range v.queue {
		if s.Principal == principal && (first < 0 || s.Expires < v.queue[first].Expires) {
			first = i
		}
	}
	return first
}

// greediest returns the principal with most secrets. The caller holds mu.
func (v *Memory) greediest() (principal string) {
	for name, n := range v.of {
		if n > v.of[principal] {
			principal = name
		}
	}
	return principal
}

// Find implements Store.
func (v *Memory) Find(_ context.Context, value string) (s *Secret, known bool, stale error) {
	id, expires, ok := v.read(value)
	if !ok {
		return nil, false, nil
	}
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(now)
	s = v.byID[id]
	switch {
	case s == nil:
		return &Secret{ID: id, Expires: expires}, true, ErrExpired
	case s.used:
		return s, true, ErrUsed
	}
	return s, true, nil
}

// Use implements Store.
func (v *Memory) Use(_ context.Context, s *Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.used {
		return ErrUsed
	}
	s.used = true
	return nil
}

// GiveBack implements Store.
func (v *Memory) GiveBack(_ context.Context, s *Secret) {
	v.mu.Lock()
	defer v.mu.Unlock()
	s.used = false
}

// Len implements Store. Secrets for which nobody has looked since they expired count.
func (v *Memory) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.byID)
}

// expiryHeap is a heap of secrets by their expiry.
type expiryHeap []*Secret

func (e expiryHeap) Len() int           { return len(e) }
func (e expiryHeap) Less(i, j int) bool { return e[i].Expires < e[j].Expires }
func (e expiryHeap) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface. Only Create pushes.
func (e *expiryHeap) Push(s any) { *e = append(*e, s.(*Secret)) }

// Pop implements heap.Interface.
func (e *expiryHeap) Pop() any {
	last := len(*e) - 1
	s := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return s
}
