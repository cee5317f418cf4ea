package journal_test

// Random schedules in virtual time: two servers, one log, and a client. The store is slow, loses requests and answers, and takes requests late. The rules are those of
// formal-verification/specs/journal_takeover.fizz.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
)

var errLost = errors.New("the store did not answer")

// weakLog is what one process sees of a log whose store fails now and then.
type weakLog struct {
	*journaltest.View
	late *sync.WaitGroup // requests that the store takes late

	mu     sync.Mutex
	random *rand.Rand
	faults int // in 100 requests
	dead   bool
}

// fault is what becomes of one request.
type fault struct {
	wait                    time.Duration
	requestLost, answerLost bool
}

func (l *weakLog) next() (f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.wait = time.Duration(l.random.IntN(3)) * time.Millisecond
	if l.dead {
		f.requestLost = true
	} else if l.random.IntN(100) < l.faults {
		f.wait = time.Duration(l.random.IntN(1200)) * time.Millisecond
		f.requestLost, f.answerLost = l.random.IntN(3) == 0, l.random.IntN(3) == 0
	}
	return f
}

// set sets how many of 100 requests fail, and whether the process is dead.
func (l *weakLog) set(faults int, dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults, l.dead = faults, dead
}

// Append implements journal.Log. The store also takes a request for which nobody waits any more.
func (l *weakLog) Append(ctx context.Context, list string, entry []byte, last uint64) (uint64, error) {
	f := l.next()
	type answer struct {
		revision uint64
		err      error
	}
	answers := make(chan answer, 1)
	l.late.Go(func() {
		<-time.After(f.wait)
		if f.requestLost {
			answers <- answer{err: errLost}
			return
		}
		revision, err := l.View.Append(context.Background(), list, entry, last)
		if f.answerLost {
			err = errLost
		}
		answers <- answer{revision, err}
	})
	select {
	case a := <-answers:
		return a.revision, a.err
	case <-ctx.Done():
		return 0, errLost
	}
}

// Last implements journal.Log.
func (l *weakLog) Last(ctx context.Context, list string) ([]byte, uint64, error) {
	f := l.next()
	select {
	case <-time.After(f.wait):
	case <-ctx.Done():
		return nil, 0, errLost
	}
	if f.requestLost || f.answerLost {
		return nil, 0, errLost
	}
	return l.View.Last(ctx, list)
}

// node is a server process, with its session of the call.
type node struct {
	log    *weakLog
	book   *journal.Book
	*owner                 // nil: it has no session
	events []journal.Event // what the session has made, and what it has found in the journal
	taken  int             // the number of the client's event that it has accepted last
}

// visit is a client that goes from one server to the other.
type visit struct {
	*testing.T
	random *rand.Rand
	seed   uint64
	shared *journaltest.Log
	truth  *journal.Book
	late   sync.WaitGroup
	nodes  [2]*node
	gone   []*node // processes that are dead
	at     *node   // nil while the client is away
	sent   int
	told   []string
	ended  bool // the call has ended in order
	over   bool // the client was refused

	mu    sync.Mutex
	books []*journal.Book // those of all processes
}

func TestRandomSchedules(t *testing.T) {
	for seed := range uint64(120) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := &visit{T: t, random: rand.New(rand.NewPCG(seed, 1)), seed: seed, shared: &journaltest.Log{}}
				v.truth = journal.New(journal.Config{Log: &journaltest.View{Log: v.shared}})
				v.play()
			})
		})
	}
}

func (v *visit) play() {
	for i := range v.nodes {
		v.nodes[i] = v.process()
	}
	first := v.nodes[0]
	first.owner = v.started(first.book.Begin(token, nil))
	begins := whole()
	begins.State.Call.Principal = "ada"
	first.Record(begins)
	<-time.After(10 * time.Millisecond)
	for i := 0; i < 60 && !v.over; i++ {
		v.act()
		<-time.After(time.Duration(v.random.IntN(20)) * time.Millisecond)
	}
	for _, n := range v.nodes {
		n.log.set(0, false)
	}
	<-time.After(10 * time.Second)
	for i := 0; i < 10 && v.at == nil && !v.over; i++ {
		v.dial(v.nodes[i%2])
	}
	if !v.over {
		v.finish()
	}
	for _, n := range append(v.gone, v.nodes[:]...) {
		if n.owner != nil {
			n.Close()
		}
	}
	v.late.Wait()
	for _, b := range v.books {
		if b.Holds() {
			v.Errorf("no call goes on, and one holds room of the journals")
		}
	}
}

// started starts a Writer. Each event that it lets go out must be stored, while its server has not given up the journal.
func (v *visit) started(w *journal.Writer) *owner {
	o := &owner{Writer: w}
	w.Start(journal.Watch{
		Committed: func(number uint64) {
			o.committed.Store(number)
			s, err := v.truth.Find(context.Background(), token)
			if err == nil && s.Newest() < number && !v.gaveUp() {
				v.Errorf("event %d goes out, and the journal has only those up to %d", number, s.Newest())
			}
		},
		Fenced: func() { o.fenced.Store(true) },
	})
	return o
}

// finish expects that the client is told everything when the store works.
func (v *visit) finish() {
	for range 3 {
		if v.at == nil || v.at.fenced.Load() {
			v.at = nil
			v.dial(v.nodes[0])
		}
		if v.at != nil {
			v.give(v.at)
		}
		<-time.After(5 * time.Second)
		v.hear()
	}
	if !v.over && (v.at == nil || len(v.told) != v.sent) {
		v.Errorf("the client has sent %d events, and knows of %v", v.sent, v.told)
	}
}

// process returns a server process without a session.
func (v *visit) process() *node {
	n := &node{log: &weakLog{
		View: &journaltest.View{Log: v.shared}, late: &v.late, random: rand.New(rand.NewPCG(v.seed, v.random.Uint64())), faults: int(v.seed % 4 * 12),
	}}
	n.book = journal.New(journal.Config{Log: n.log, Broken: func(invariant, event string) { v.Errorf("%s does not hold after %s", invariant, event) }})
	v.mu.Lock()
	defer v.mu.Unlock()
	v.books = append(v.books, n.book)
	return n
}

// act is one thing that happens.
func (v *visit) act() {
	switch n := v.random.IntN(40); {
	case n < 15:
		v.sent++
		if v.at != nil {
			v.give(v.at)
		}
	case n < 25:
		v.hear()
	case n < 30:
		v.at = nil // the connection breaks
	case n < 32:
		v.die(v.random.IntN(2))
	case n < 34:
		v.stayAway(v.nodes[v.random.IntN(2)])
	default:
		<-time.After(time.Duration(v.random.IntN(1500)) * time.Millisecond)
	}
	if v.at == nil {
		v.dial(v.nodes[v.random.IntN(2)])
	}
}

// give sends a server the events of the client that it has not accepted.
func (v *visit) give(n *node) {
	for n.taken < v.sent && !n.fenced.Load() {
		n.taken++
		k := uint64(n.taken)
		number := uint64(len(n.events)) + 1
		e := journal.Event{ID: link.NumberedID(fmt.Sprint("event_", k), n.Epoch(), number), Number: number, Type: "x", Text: []byte("{}")}
		n.events = append(n.events, e)
		n.Record(journal.Record{Items: []journal.Item{item(k, k-1, fmt.Sprint(k))}, Last: k, Taken: fmt.Sprint(k), Events: []journal.Event{e}})
	}
}

// hear gives the client what its server may send.
func (v *visit) hear() {
	if v.at == nil || v.at.fenced.Load() {
		v.at = nil
		return
	}
	for _, e := range v.at.events[len(v.told):] {
		if e.Number <= v.at.committed.Load() {
			v.told = append(v.told, e.ID)
		}
	}
}

// die ends a process without a word. What it has asked the store for may still be taken.
func (v *visit) die(i int) {
	n := v.nodes[i]
	n.log.set(0, true)
	v.gone, v.nodes[i] = append(v.gone, n), v.process()
	if v.at == n {
		v.at = nil
	}
}

// stayAway ends the session of a server whose client does not come back.
func (v *visit) stayAway(n *node) {
	if n == v.at || n.owner == nil {
		return
	}
	if s, err := v.truth.Find(v.Context(), token); err == nil && s.Epoch == n.Epoch() {
		v.ended = true
	}
	n.Record(journal.Record{Ended: true})
	n.Close()
	n.owner = nil
}

// dial connects the client to a server, which takes the call over if it has no session of it.
func (v *visit) dial(n *node) {
	ctx, cancel := context.WithTimeout(v.Context(), 2*time.Second)
	defer cancel()
	if n.owner != nil && !n.fenced.Load() {
		switch owns, err := n.Owner(ctx); {
		case owns && v.knows(n.events):
			v.connect(n)
			return
		case owns && err != nil:
			return // the client is told to try again
		case owns:
			v.refused("by its owner")
			return
		}
	}
	if n.owner != nil {
		n.Close()
		n.owner = nil
	}
	known := true
	state, w, err := n.book.TakeOver(ctx, token, nil, func(s *journal.State) bool {
		known = v.knows(s.Events)
		return known
	})
	switch {
	case errors.Is(err, journal.ErrUnknown):
		v.refused(fmt.Sprint("its last event is known: ", known))
	case err == nil:
		n.owner, n.events, n.taken = v.started(w), slices.Clone(state.Events), len(state.Items)
		v.whole(state)
		v.connect(n)
	}
}

func (v *visit) connect(n *node) {
	v.at = n
	v.give(n)
}

// knows reports whether the client's last event is among those.
func (v *visit) knows(events []journal.Event) bool {
	var all []link.Event
	for _, e := range events {
		all = append(all, link.Event{ID: e.ID, Number: e.Number})
	}
	if len(v.told) == 0 {
		return true
	}
	_, err := link.EventsAfter(all, 0, v.told[len(v.told)-1])
	return err == nil
}

// refused checks that the client may be refused: a server has given up the journal, or the call has ended.
func (v *visit) refused(why string) {
	v.over = true
	if !v.gaveUp() && !v.ended && len(v.told) > 0 {
		v.Errorf("the client is refused although its call goes on: %s; told %v", why, v.told)
	}
}

// gaveUp reports whether a server has given up the journal.
func (v *visit) gaveUp() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.ContainsFunc(v.books, func(b *journal.Book) bool {
		_, unjournalled := b.Counts()
		return unjournalled > 0
	})
}

// whole checks what a server goes on from: everything that the client was told, and nothing twice.
func (v *visit) whole(s *journal.State) {
	for i, id := range v.told {
		if i >= len(s.Events) || s.Events[i].ID != id {
			v.Errorf("the client was told %v, and the journal has %v", v.told, s.Events)
			return
		}
	}
	for i, text := range texts(*s) {
		if text != fmt.Sprint(i+1) {
			v.Errorf("the conversation is %v", texts(*s))
			return
		}
	}
}
