package once

// The waiters: tries of this process that wait until the lock of their key is free.

import "sync"

// waiters wakes the tries that wait for a key. It is safe for concurrent use.
type waiters struct {
	mu sync.Mutex
	of map[string]*waiter
}

type waiter struct {
	woken chan struct{}
	tries int
}

// on returns a channel that is closed when the key is woken, and the function that ends the wait.
func (w *waiters) on(key string) (woken <-chan struct{}, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of[key]
	if at == nil {
		at = &waiter{woken: make(chan struct{})}
		w.of[key] = at
	}
	at.tries++
	return at.woken, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if at.tries--; at.tries == 0 && w.of[key] == at {
			delete(w.of, key)
		}
	}
}

// wake wakes all tries that wait for the key.
func (w *waiters) wake(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.of[key]; at != nil {
		close(at.woken)
		delete(w.of, key)
	}
}
