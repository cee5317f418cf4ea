package journal

// The Writer: takes a session's records, gives the machine of the journal (internal/coord/journal) its events, and performs its effects but for those of the store.

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of a Writer.
const (
	maxWaiting      = 1024    // records that wait for the store
	maxWaitingBytes = 4 << 20 // the events and texts in them, about
	// closeTimeout is how long Close waits for the store, and endTimeout how long it waits if the call has ended: its log is to be removed.
	closeTimeout = 2 * time.Second
	endTimeout   = 5 * time.Second
	// maxEnding is how many Writers that are being closed ask the store at a time. If many calls end at once, it would answer none of them in time.
	maxEnding = 8
)

// Watch is told what becomes of a call's events. Its functions do not block for long. They are called from the goroutine of the session or of the Writer.
type Watch struct {
	// Committed: all events up to this number may go to the client. It may come after a larger number.
	Committed func(number uint64)
	// Fenced: another owner has taken the call over. The session must end and send nothing more.
	Fenced func()
}

// Writer is the journal of one call, at its present owner. Its methods are safe for concurrent use.
type Writer struct {
	book  *Book
	name  string
	log   *slog.Logger
	epoch uint32
	at    tail // belongs to the goroutine
	// oversize is the newest record when the State was too large; 0 for none. It belongs to the goroutine.
	oversize journal.Record

	wake    chan struct{} // has a token when there may be something to do
	closing chan struct{}
	gone    chan struct{}

	mu    sync.Mutex
	watch Watch
	known machineState
	state State // everything that was given
	queue queue
	asked request // what the store is to be asked for
	late  env.Timer
	// failure is why the last append has failed; nil if it has not.
	failure error
	ended   bool // the call has ended in order
	begun   bool // the goroutine runs
	closed  bool
}

// machineState is the machine of the journal, and what its monitor remembers.
type machineState struct {
	state    journal.State
	seen     journal.Seen
	recorded journal.Record // the newest record
}

// request is what the goroutine asks the store for. effect is nil if there is nothing to ask.
type request struct {
	effect journal.Effect
	again  bool // the store has just failed
}

func (b *Book) newWriter(name string, logger *slog.Logger, at tail, state State) *Writer {
	if logger == nil {
		logger = b.cfg.Logger
	}
	w := &Writer{
		book: b, name: name, log: logger, epoch: at.epoch, at: at, state: state,
		wake: make(chan struct{}, 1), closing: make(chan struct{}), gone: make(chan struct{}),
	}
	w.watch = Watch{Committed: func(uint64) {}, Fenced: func() {}}
	w.state.Epoch = at.epoch
	w.known.state = journal.Waiting{}
	w.queue.free = state.Newest()
	if at.last > 0 {
		w.next(journal.Begin{}, nil)
	}
	return w
}

// Start says who is told, and begins to write. Records that were given before wait.
func (w *Writer) Start(watch Watch) {
	w.mu.Lock()
	if w.closed || w.begun {
		w.mu.Unlock()
		return
	}
	w.watch, w.begun = watch, true
	w.book.mu.Lock()
	w.book.open[w] = true
	w.book.mu.Unlock()
	free := w.queue.free
	w.book.cfg.Env.Go(w.run)
	w.mu.Unlock()
	watch.Committed(free)
}

// Epoch returns the epoch of this owner.
func (w *Writer) Epoch() uint32 { return w.epoch }

// Record takes what has changed. Nobody changes r afterwards. It does not wait.
func (w *Writer) Record(r Record) {
	w.mu.Lock()
	if w.closed || w.ended {
		w.mu.Unlock()
		return
	}
	if r.State != nil {
		r.State.Epoch = w.epoch
	}
	w.ended, r.Ended = r.Ended, false // Close writes the end
	if w.ended && r.changesNothing() {
		w.mu.Unlock()
		return
	}
	w.state.Apply(r)
	var out outcome
	if w.state.Client.Extended {
		w.next(journal.Begin{}, &out)
	}
	w.known.recorded++
	w.queue.add(w.known.recorded, r, w.state.Newest(), w.book.cfg.Env.Now())
	w.next(journal.Recorded{Record: w.known.recorded}, &out)
	w.mu.Unlock()
	w.tell(out)
}

// Close writes what waits, within closeTimeout. If a record has said that the call has ended it removes the log, within endTimeout.
func (w *Writer) Close() {
	w.mu.Lock()
	closed, begun := w.closed, w.begun
	w.closed = true
	w.mu.Unlock()
	if !closed {
		close(w.closing)
	}
	if begun {
		<-w.gone
		w.book.mu.Lock()
		delete(w.book.open, w)
		w.book.mu.Unlock()
	} else {
		w.step(journal.Stop{})
	}
}

// outcome is what the effects of a step say to others. They are told without the lock.
type outcome struct {
	free                    uint64 // all events up to this number may go out; 0 for no change
	broke, restored, fenced bool
}

var errLate = errors.New("the store does not answer in time")

// step gives the machine an event and performs the effects.
func (w *Writer) step(e journal.Event) {
	var out outcome
	w.mu.Lock()
	w.next(e, &out)
	w.mu.Unlock()
	w.tell(out)
}

// next is step for a caller that holds the lock. It adds to out what is to be told.
func (w *Writer) next(e journal.Event, out *outcome) {
	from := w.known.state
	to, effects, row := journal.Table.Next(from, e)
	w.known.state = to
	edge := Edge{From: from, Event: e, To: to, Effects: effects, Row: row}
	if w.book.cfg.Trace != nil {
		w.book.cfg.Trace(w.name, w.epoch, edge)
	}
	if broken := w.book.cfg.Broken; broken != nil {
		var invariant string
		if w.known.seen, invariant = journal.Monitor.Watch(w.known.seen, edge); invariant != "" {
			broken(invariant, e.Name())
		}
	}
	switch e := e.(type) {
	case journal.Begin:
		if _, first := from.(journal.Waiting); first {
			w.at.newest = w.known.recorded // the goroutine has not been asked for anything
		}
	case journal.Stored:
		w.queue.stored(e.To)
	case journal.Found:
		w.queue.stored(e.To)
	case journal.Over:
		if _, closed := to.(journal.Closed); closed {
			w.asked = request{} // a State that is written after the end would stay until it expires
		}
	case journal.Recorded, journal.Conflict, journal.Failed, journal.Taken, journal.Gone, journal.Late, journal.Stop:
	}
	_, failed := e.(journal.Failed)
	for _, f := range effects {
		w.perform(f, failed, out)
	}
	w.book.without.Add(without(to) - without(from))
	switch to.(type) {
	case journal.Fenced, journal.Closed:
		if w.late != nil {
			w.late.Stop()
		}
		w.queue.forget()
	case journal.Waiting, journal.Broken, journal.Mending, journal.Off:
		w.queue.forget() // the State has it
	case journal.Resting, journal.Writing, journal.Doubtful, journal.Finishing, journal.Ending:
	}
}

// without returns 1 for a call that no other process could continue, because the store has failed, and 0 for all others.
func without(s journal.State) int64 {
	switch s.(type) {
	case journal.Broken, journal.Mending, journal.Off:
		return 1
	case journal.Waiting, journal.Resting, journal.Writing, journal.Doubtful, journal.Finishing, journal.Ending, journal.Fenced, journal.Closed:
	}
	return 0
}

func (w *Writer) perform(f journal.Effect, failed bool, out *outcome) {
	switch f := f.(type) {
	case journal.Arm:
		w.arm(f.Record)
	case journal.Append, journal.AppendFull, journal.AppendEnd, journal.Look, journal.Remove:
		w.asked = request{f, failed}
	case journal.Release:
		out.free = w.queue.release(f.To)
	case journal.Break:
		out.broke = true
	case journal.Restore:
		out.restored = true
	case journal.Fence:
		out.fenced = true
	}
}

// arm starts the time that a record may wait. The caller holds the lock.
func (w *Writer) arm(r journal.Record) {
	if w.late != nil {
		w.late.Stop()
	}
	wait := w.book.cfg.Patience - w.book.cfg.Env.Now().Sub(w.queue.since(r, w.book.cfg.Env.Now()))
	if _, ending := w.known.state.(journal.Ending); ending {
		wait = endTimeout // no event waits
	}
	w.late = w.book.cfg.Env.AfterFunc(max(0, wait), func() { w.step(journal.Late{Record: r}) })
}

// tell tells others what has become of the events.
func (w *Writer) tell(out outcome) {
	w.mu.Lock()
	watch, failure := w.watch, w.failure
	w.mu.Unlock()
	if out.broke {
		w.book.unjournalled.Add(1)
		if failure == nil {
			failure = errLate
		}
		w.log.Warn("the call is not journalled: no other process could continue it", "because", failure)
	}
	if out.free > 0 {
		watch.Committed(out.free)
	}
	if out.restored {
		w.log.Info("the call is journalled again")
	}
	if out.fenced {
		w.log.Info("another process has taken the call over: it ends here")
		watch.Fenced()
	}
	w.rouse()
}

func (w *Writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// queue has the records that are not known to be stored, and the events that wait for them. The zero value is empty.
type queue struct {
	waiting []numbered
	bytes   int  // about the size of waiting
	whole   bool // waiting lacks records: the next write must have the whole State
	held    []heldRecord
	free    uint64 // all events up to this number may go to the client
}

// numbered is a record with its number, and about its size in bytes.
type numbered struct {
	number journal.Record
	bytes  int
	Record
}

// heldRecord is a record whose events wait.
type heldRecord struct {
	number journal.Record
	newest uint64 // the number of the newest event
	since  time.Time
}

// add takes a record that was made at a time. newest is the number of the newest event.
func (q *queue) add(n journal.Record, r Record, newest uint64, at time.Time) {
	if !q.whole {
		bytes := size(r)
		q.waiting, q.bytes = append(q.waiting, numbered{n, bytes, r}), q.bytes+bytes
	}
	if len(q.waiting) > maxWaiting || q.bytes > maxWaitingBytes {
		q.forget()
	}
	if last := len(q.held) - 1; last >= maxWaiting {
		q.held[last].number, q.held[last].newest = n, newest // both are released when the later one is stored
		return
	}
	q.held = append(q.held, heldRecord{n, newest, at})
}

// size returns about how many bytes a record has.
func size(r Record) (n int) {
	for _, e := range r.Events {
		n += len(e.Text)
	}
	for _, it := range r.Items {
		n += 512 + len(it.Item.Arguments) + len(it.Item.Output)
		for _, c := range it.Item.Content {
			n += len(c.Text) + len(c.ImageURL)
		}
	}
	if r.Settings != nil {
		n += len(wire.AppendSession(nil, r.Settings))
	}
	return n + 256
}

// forget drops the records that wait.
func (q *queue) forget() { q.waiting, q.bytes, q.whole = nil, 0, true }

// stored drops the records up to one that the log has.
func (q *queue) stored(to journal.Record) {
	n := 0
	for n < len(q.waiting) && q.waiting[n].number <= to {
		q.bytes -= q.waiting[n].bytes
		n++
	}
	q.waiting = slices.Delete(q.waiting, 0, n)
}

// release returns the number of the newest event that may go out now, if those of the records up to one may.
func (q *queue) release(to journal.Record) uint64 {
	n := 0
	for n < len(q.held) && q.held[n].number <= to {
		q.free = max(q.free, q.held[n].newest)
		n++
	}
	q.held = slices.Delete(q.held, 0, n)
	return q.free
}

// since returns when a record was made, or now if it is not known.
func (q *queue) since(n journal.Record, now time.Time) time.Time {
	for _, h := range q.held {
		if h.number >= n {
			return h.since
		}
	}
	return now
}
