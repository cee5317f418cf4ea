package runs

// Who follows the messages of runs, and their streams of server-sent events.

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// watchers are those who follow runs. It is safe for concurrent use.
type watchers struct {
	mu     sync.Mutex
	of     map[key]map[chan struct{}]bool
	all    int
	used   map[string]int // by principal
	ended  bool
	closed chan struct{}
}

// on returns a channel that gets a value when there is news of a run, and the function that ends the watch.
func (w *watchers) on(k key, most int) (news chan struct{}, end func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if share := max(1, most/4); w.all >= most || w.used[k.principal] >= share {
		return nil, nil, fmt.Errorf("%w: %d streams of events may be open at a time, %d of one principal: close one", ErrTooMany, most, share)
	}
	news = make(chan struct{}, 1)
	if w.of[k] == nil {
		w.of[k] = map[chan struct{}]bool{}
	}
	w.of[k][news] = true
	w.all++
	w.used[k.principal]++
	return news, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.of[k], news); len(w.of[k]) == 0 {
			delete(w.of, k)
		}
		w.all--
		if w.used[k.principal]--; w.used[k.principal] == 0 {
			delete(w.used, k.principal)
		}
	}, nil
}

// tell tells those who follow a run that there is news.
func (w *watchers) tell(k key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for news := range w.of[k] {
		select {
		case news <- struct{}{}:
		default: // there is news already
		}
	}
}

// close ends all watches.
func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.closed)
	}
}

// Times of a watch: how often the store is asked for what other processes have written, and when idle is called.
const (
	pollEvery = time.Second
	idleEvery = 15 * time.Second
)

// wait returns when there may be news. If other processes write too, this is after pollEvery at the latest.
func (w *watchers) wait(ctx context.Context, news <-chan struct{}, alone bool, idle func() error) error {
	most := pollEvery
	if alone {
		most = idleEvery
	}
	poll := time.NewTimer(most)
	defer poll.Stop()
	select {
	case <-news:
		return nil
	case <-poll.C:
		if idle != nil {
			return idle()
		}
		return nil
	case <-w.closed:
		return ErrClosing
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
