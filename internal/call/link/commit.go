package link

// The output commit of a call that is journalled: its client gets an event only once the event is stored.

import (
	"errors"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of the events that are withheld.
const (
	maxWithheld = 4096
	OwnWithheld = 1 << 20         // bytes beside the memory that all connections share
	commitLimit = 2 * time.Second // how long Close waits for them
)

// commit has the events that are withheld until they are stored. The hub's lock guards it. The zero value withholds nothing.
type commit struct {
	on       bool
	stored   uint64 // the number of the newest event that is stored
	withheld []withheldEvent
	memory   Memory        // for their texts
	mute     bool          // nothing goes out any more
	failed   error         // why a withheld event could not be sent; the next Send returns it
	empty    chan struct{} // closed when nothing is withheld; nil while nobody waits
}

// withheldEvent is an event that waits, and the function to call once it is on its way.
type withheldEvent struct {
	event Event
	sent  func()
}

// withhold keeps an event that is not stored yet, and all events after it. waits is false for an event that may go out. reconnects says that the client can reconnect.
func (c *commit) withhold(e Event, sent func(), reconnects bool) (waits bool, err error) {
	switch {
	case c.mute:
		return true, nil
	case c.failed != nil:
		return false, c.failed
	case !c.on || !reconnects && len(c.withheld) == 0 || len(c.withheld) == 0 && e.Number <= c.stored:
		return false, nil
	case len(c.withheld) >= maxWithheld, c.memory.Take(int64(len(e.Text))) != nil:
		return false, ErrBackpressure
	}
	c.withheld = append(c.withheld, withheldEvent{e, sent})
	return true, nil
}

// WithholdUncommitted has the hub withhold numbered events until Committed says that they are stored. It is called before the first Send.
func (h *Hub) WithholdUncommitted() {
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
	for n < len(c.withheld) && c.withheld[n].event.Number <= c.stored {
		c.memory.Give(int64(len(c.withheld[n].event.Text)))
		if err := h.pass(c.withheld[n].event, c.withheld[n].sent); err != nil && c.failed == nil && !errors.Is(err, ErrTooLarge) {
			c.failed = err
		}
		n++
	}
	c.withheld = slices.Delete(c.withheld, 0, n)
	c.settle()
}

// Mute drops the events that wait, and all that follow: another process has the call.
func (h *Hub) Mute() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.commit.mute, h.commit.withheld = true, nil
	h.commit.memory.Close()
	h.commit.settle()
}

// settle tells awaitCommit that nothing is withheld.
func (c *commit) settle() {
	if len(c.withheld) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// awaitCommit returns when nothing waits to be stored, or after commitLimit.
func (h *Hub) awaitCommit() {
	h.mu.Lock()
	if len(h.commit.withheld) == 0 {
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
	h.commit.memory = unlimited{}
	h.replay.restored, h.replay.base = true, f.Base
	h.commit.stored = f.Base
	for _, e := range f.Events {
		h.replay.add(e, true)
		h.commit.stored = e.Number
	}
	return h
}
