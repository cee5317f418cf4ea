package servertest

// The inbox of a test's client: keeps all events of the server, and waits for those that must come.

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// Inbox keeps the events that a client has received, and how many of them the test has passed. Put, All and Names may be called from any
// goroutine, the other methods only from the test's.
type Inbox struct {
	t *testing.T

	mu      sync.Mutex
	events  []wire.ServerEvent
	passed  int           // how many of the events First has returned or passed
	arrived chan struct{} // has a value after Put, until First takes it
}

// NewInbox returns an empty inbox. It fails t when an event does not come in time.
func NewInbox(t *testing.T) *Inbox { return &Inbox{t: t, arrived: make(chan struct{}, 1)} }

// Put adds an event.
func (b *Inbox) Put(e wire.ServerEvent) {
	b.mu.Lock()
	b.events = append(b.events, e)
	b.mu.Unlock()
	select {
	case b.arrived <- struct{}{}:
	default:
	}
}

// First waits for the next event of one of these types after the events that earlier calls have returned or passed. Without types it waits for the next event of any type.
func (b *Inbox) First(types ...string) wire.ServerEvent {
	b.t.Helper()
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		if e := b.find(types); e != nil {
			return e
		}
		select {
		case <-b.arrived:
		case <-late.C:
			b.t.Fatalf("no %s after %s", strings.Join(types, " or "), strings.Join(b.Names(), " "))
		}
	}
}

// find returns what First waits for; nil if it has not come yet.
func (b *Inbox) find(types []string) wire.ServerEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range b.events[b.passed:] {
		if len(types) == 0 || slices.Contains(types, e.Type()) {
			b.passed += i + 1
			return e
		}
	}
	return nil
}

// Next is First for events with the Go type E.
func Next[E wire.ServerEvent](b *Inbox, name string) E {
	b.t.Helper()
	e, ok := b.First(name).(E)
	if !ok {
		b.t.Fatalf("%s is not a %T", name, e)
	}
	return e
}

// Rewind lets First begin again with the oldest event.
func (b *Inbox) Rewind() { b.pass(0) }

// Skip lets First pass all events so far.
func (b *Inbox) Skip() { b.pass(len(b.All())) }

func (b *Inbox) pass(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.passed = n
}

// All returns the events so far.
func (b *Inbox) All() []wire.ServerEvent {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// Names returns the types of the events so far, without deltas and without rate_limits.updated, which comes at an unknown time.
func (b *Inbox) Names() []string {
	var out []string
	for _, e := range b.All() {
		if !strings.HasSuffix(e.Type(), ".delta") && e.Type() != "rate_limits.updated" {
			out = append(out, e.Type())
		}
	}
	return out
}
