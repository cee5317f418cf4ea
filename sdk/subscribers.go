package sdk

// What other goroutines see of a session: the present snapshot and levels, the inspector, and the subscribers.

import (
	"sync"
	"sync/atomic"
)

// publisher holds what any goroutine may read. Jobs write it.
type publisher struct {
	shown     atomic.Pointer[Snapshot]
	levels    atomic.Pointer[Levels]
	subs      subscribers
	inspector inspector
}

// subscribers are the functions that get snapshots and levels. Jobs call them, one at a time.
type subscribers struct {
	mu   sync.Mutex
	last uint64
	list []subscriber
}

type subscriber struct {
	id       uint64
	snapshot func(Snapshot)
	levels   func(Levels)
}

func (s *subscribers) add(f func(Snapshot), l func(Levels)) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.list = append(s.list[:len(s.list):len(s.list)], subscriber{id: s.last, snapshot: f, levels: l})
	return s.last
}

func (s *subscribers) remove(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []subscriber
	for _, one := range s.list {
		if one.id != id {
			left = append(left, one)
		}
	}
	s.list = left
}

func (s *subscribers) all() []subscriber {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list
}

// show gives a snapshot to the subscriber with this id, or to all when id is 0.
func (s *subscribers) show(id uint64, shown Snapshot) {
	for _, one := range s.all() {
		if one.snapshot != nil && (id == 0 || id == one.id) {
			one.snapshot(shown)
		}
	}
}

func (s *subscribers) level(l Levels) {
	for _, one := range s.all() {
		if one.levels != nil {
			one.levels(l)
		}
	}
}
