package link

// The output commit of a call that is journalled: its client gets an event only once the event is stored.

import (
	"errors"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of the events that wait until they are stored.
const (
	maxHeld     = 4096
	commitLimit = 2 * time.Second // how long Close waits for them
)

// commit has the events that wait until they are stored. The hub's lock guards it. The zero value holds nothing.
type commit struct {
	on     bool
	stored uint64 // the number of the newest event that is stored
	held   []heldEvent
	mute   bool          // nothing goes out any more
	failed error         // why a held event could not be sent; the next Send returns it
	empty  chan struct{} // closed when nothing is held; nil while nobody waits
}

// heldEvent is an event that waits, and the function to call once it is on its way.
type heldEvent struct {
	event Event
	sent  func()
}

// hold keeps an event that is not stored yet, and all events after one. waits is false for an event that may go out. reconnects says that the client can reconnect.
func (c *commit) hold(e Event, sent func(), reconnects bool) (waits bool, err error) {
	switch {
	case c.mute:
		return true, nil
	case c.failed != nil:
		return false, c.failed
	case !c.on || !reconnects && len(c.held) == 0 || len(c.held) == 0 && e.Number <= c.stored:
		return false, nil
	case len(c.held) >= maxHeld:
		return false, ErrBackpressure
	}
	c.held = append(c.held, heldEvent{e, sent})
	return true, nil
}

// HoldUncommitted has the hub hold numbered events until Committed says that they are stored. It is called before the first Send.
func (h *Hub) HoldUncommitted() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commit.on = true
}

// Committed notes that all events up to that number are stored, and sends those that have waited.
func (h *Hub) Committed(number uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.commit
	c.stored = max(c.stored, number)
	n := 0
	for n < len(c.held) && c.held[n].event.Number <= c.stored {
		if err := h.pass(c.held[n].event, c.held[n].sent); err != nil && c.failed == nil && !errors.Is(err, ErrTooLarge) {
			c.failed = err
		}
		n++
	}
	c.held = slices.Delete(c.held, 0, n)
	c.settle()
}

// Mute drops the events that wait, and all that follow: another process has the call.
func (h *Hub) Mute() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commit.mute, h.commit.held = true, nil
	h.commit.settle()
}

// settle tells awaitCommit that nothing is held.
func (c *commit) settle() {
	if len(c.held) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// awaitCommit returns when nothing waits to be stored, or after commitLimit.
func (h *Hub) awaitCommit() {
	h.mu.Lock()
	if len(h.commit.held) == 0 {
		h.mu.Unlock()
		return
	}
	if h.commit.empty == nil {
		h.commit.empty = make(chan struct{})
	}
	empty := h.commit.empty
	h.mu.Unlock()
	due := make(chan struct{})
	limit := h.env.AfterFunc(commitLimit, func() { close(due) })
	defer limit.Stop()
	select {
	case <-empty:
	case <-due:
	}
}

// Former is what a journal knows of a call that another process has served.
type Former struct {
	// Events has all numbered events after the number Base, the oldest first.
	Events  []Event
	Base    uint64
	Session *wire.Session // the session object
}

// NewRestoredHub returns the hub of a call that goes on in this process. Its client has no connection until Attach. output is that of the client's next connection; nil for a
// client that plays the audio by itself. reconnects is that of NewHub.
func NewRestoredHub(e env.Env, output Output, reconnects func() bool, f Former) *Hub {
	h := &Hub{env: e, output: output, reconnects: reconnects, former: make(chan struct{}), session: f.Session}
	close(h.former)
	h.replay = newReplayBuffer(output == nil)
	h.replay.restored, h.replay.base = true, f.Base
	h.commit.stored = f.Base
	for _, e := range f.Events {
		h.replay.add(e, true)
		h.commit.stored = e.Number
	}
	return h
}
