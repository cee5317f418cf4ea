package journal

// The Writer: takes a session's records, and stores them in a goroutine of its own.

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/env"
)

// Limits of a Writer.
const (
	maxWaiting      = 1024    // records that wait for the store
	maxWaitingBytes = 4 << 20 // the events and texts in them, about
	// leastTail is how many bytes of records may follow a State before the State is written again. It is also at least the size of the State.
	leastTail = 256 << 10
	// closeTimeout is how long Close waits for the store.
	closeTimeout = 2 * time.Second
)

// Watch is told what becomes of a call's events. Its functions do not block for long. They are called from the goroutine of the session or of the Writer.
type Watch struct {
	// Committed: all events up to this number may go to the client.
	Committed func(number uint64)
	// Fenced: another owner has taken the call over. The session must end and send nothing more.
	Fenced func()
}

// Writer is the journal of one call, at its present owner. Its methods are safe for concurrent use.
type Writer struct {
	book  *Book
	name  string
	log   *slog.Logger
	watch Watch
	epoch uint32

	wake    chan struct{} // has a token when there may be something to write
	closing chan struct{}
	gone    chan struct{}

	mu      sync.Mutex
	ledger  ledger
	state   State // everything that was given
	waiting []Record
	bytes   int // about the size of waiting
	ended   bool
	begun   bool // the goroutine runs
	closed  bool

	at tail // belongs to the goroutine
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
	w.ledger.stored = state.Newest()
	w.ledger.given, w.ledger.free = w.ledger.stored, w.ledger.stored
	if at.last > 0 {
		w.ledger.mode = storing
	}
	return w
}

// Start says who is told, and begins to write. Records that were given before wait.
func (w *Writer) Start(watch Watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.begun {
		return
	}
	w.watch, w.begun = watch, true
	w.book.cfg.Env.Go(w.run)
}

// Epoch returns the epoch of this owner.
func (w *Writer) Epoch() uint32 { return w.epoch }

// Owns reports whether this is still the owner of the call. If it is not, the Writer is fenced. An owner that cannot ask the store is taken for the owner.
func (w *Writer) Owns(ctx context.Context) bool {
	_, at, err := w.book.end(ctx, w.name)
	if err != nil || at.epoch <= w.epoch {
		return true
	}
	w.fenced()
	return false
}

// Record takes what has changed. Nobody changes r afterwards. It does not wait.
func (w *Writer) Record(r Record) {
	w.mu.Lock()
	if w.closed || w.ledger.mode == fenced {
		w.mu.Unlock()
		return
	}
	if r.State != nil {
		r.State.Epoch = w.epoch
	}
	w.state.Apply(r)
	w.ended = w.ended || r.Ended
	if w.state.Client.Extended {
		w.ledger.begin()
	}
	w.ledger.give(w.state.Newest())
	if w.ledger.writes() && !w.ledger.whole {
		w.waiting = append(w.waiting, r)
		w.bytes += size(r)
	}
	if len(w.waiting) > maxWaiting || w.bytes > maxWaitingBytes {
		w.waiting, w.bytes = nil, 0
		w.ledger.whole = true // the State has them
	}
	free := w.ledger.free
	w.mu.Unlock()
	w.watch.Committed(free)
	w.rouse()
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
	return n + 256
}

func (w *Writer) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run writes until the Writer is closed.
func (w *Writer) run() {
	defer close(w.gone)
	for {
		select {
		case <-w.wake:
		case <-w.closing:
			w.finish()
			return
		}
		if !w.write(context.Background(), w.book.cfg.Patience) && !w.pause() {
			w.finish()
			return
		}
	}
}

// pause waits until the store is tried again. It returns false if the Writer is closed meanwhile.
func (w *Writer) pause() bool {
	due := make(chan struct{})
	t := w.book.cfg.Env.AfterFunc(w.book.cfg.Retry, func() { close(due) })
	defer t.Stop()
	select {
	case <-due:
		w.rouse()
		return true
	case <-w.closing:
		return false
	}
}

// finish writes what waits. The log of a call that has ended in order is removed.
func (w *Writer) finish() {
	ctx, cancel := env.WithTimeout(w.book.cfg.Env, context.Background(), closeTimeout, context.DeadlineExceeded)
	defer cancel()
	if !w.write(ctx, closeTimeout) || w.at.last == 0 {
		return
	}
	w.mu.Lock()
	remove := w.ended && w.ledger.mode != fenced
	w.mu.Unlock()
	if !remove {
		return
	}
	if err := w.book.cfg.Log.Remove(ctx, w.name); err != nil {
		w.log.Debug("the journal of a call that has ended stays until it expires", "err", err)
	}
}

// Close writes what waits, within closeTimeout, and removes the log if a record has said that the call has ended.
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
	}
	if !closed && w.withdraw() {
		w.book.without.Add(-1)
	}
}

// withdraw ends the journal, and reports whether the call was not journalled at that moment.
func (w *Writer) withdraw() (without bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	without = w.ledger.mode == unjournalled
	w.ledger.mode = waiting
	return without
}

// batch takes what is to be written: the records that wait, or the State in their place. newest is the number of the newest event in it.
func (w *Writer) batch() (records []Record, newest uint64, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ledger.writes() {
		return nil, 0, false
	}
	if w.at.size > max(leastTail, 2*w.at.state) {
		w.ledger.whole = true
	}
	whole, newest = w.ledger.take()
	records = w.waiting
	w.waiting, w.bytes = nil, 0
	if whole {
		records = []Record{{State: w.state.clone(), Ended: w.ended}}
	}
	return records, newest, whole
}

// write writes what waits. Each write may take so long. It returns false if the store is to be tried again later.
func (w *Writer) write(parent context.Context, within time.Duration) bool {
	for {
		records, newest, whole := w.batch()
		if len(records) == 0 {
			return true
		}
		ctx, cancel := env.WithTimeout(w.book.cfg.Env, parent, within, context.DeadlineExceeded)
		late := w.book.cfg.Env.AfterFunc(within, func() { w.failed(context.DeadlineExceeded) })
		err := w.store(ctx, records, whole)
		late.Stop()
		cancel()
		switch {
		case errors.Is(err, errFenced):
			w.fenced()
			return true
		case err != nil:
			w.failed(err)
			return false
		}
		w.mu.Lock()
		again, free := w.ledger.wrote(newest, whole), w.ledger.free
		w.mu.Unlock()
		if again {
			w.book.without.Add(-1)
			w.log.Info("the call is journalled again")
		}
		w.watch.Committed(free)
	}
}

// failed notes that the store has failed, or takes too long. The events go out.
func (w *Writer) failed(err error) {
	w.mu.Lock()
	first, free := w.ledger.failed(), w.ledger.free
	w.waiting, w.bytes = nil, 0 // the State has them
	w.mu.Unlock()
	if first {
		w.book.unjournalled.Add(1)
		w.book.without.Add(1)
		w.log.Warn("the call is not journalled: no other process could continue it", "err", err)
	}
	w.watch.Committed(free)
}

// fenced notes that another owner has the call.
func (w *Writer) fenced() {
	w.mu.Lock()
	without := w.ledger.mode == unjournalled
	first := w.ledger.fence()
	w.mu.Unlock()
	if without {
		w.book.without.Add(-1)
	}
	if first {
		w.log.Info("another process has taken the call over: it ends here")
		w.watch.Fenced()
	}
}

var (
	errFenced   = errors.New("another owner has taken the call over")
	errTooLarge = errors.New("the call is too large for the journal: images and long texts count")
)

// store appends records to the log. After an error it is not known what the log has.
func (w *Writer) store(ctx context.Context, records []Record, whole bool) error {
	if whole {
		if err := w.findEnd(ctx); err != nil {
			return err
		}
	}
	all, err := pieces(records, w.at.epoch, w.at.whole)
	if err != nil {
		return err
	}
	if whole && len(all)*maxPiece > w.book.cfg.MaxState+maxPiece {
		return errTooLarge
	}
	begins, bytes := uint64(0), 0
	for i, e := range all {
		if whole && i > 0 && i == len(all)-1 {
			e.whole = begins // from this piece on the State is complete
		}
		revision, err := w.book.cfg.Log.Append(ctx, w.name, e.bytes(), w.at.last)
		if errors.Is(err, ErrConflict) {
			return w.conflict(ctx)
		}
		if err != nil {
			return err
		}
		if i == 0 {
			begins = revision
		}
		w.at.last = revision
		bytes += len(e.piece) + headerSize
	}
	if !whole {
		w.at.size += bytes
		return nil
	}
	w.at.whole, w.at.size, w.at.state = begins, bytes, bytes
	if err := w.book.cfg.Log.Trim(ctx, w.name, begins); err != nil {
		w.log.Debug("the entries before the State stay", "err", err)
	}
	return nil
}

// findEnd finds the end of the log, before the whole State is written. A write that has failed may have happened.
func (w *Writer) findEnd(ctx context.Context) error {
	_, at, err := w.book.end(ctx, w.name)
	switch {
	case errors.Is(err, ErrUnknown):
		w.at = tail{epoch: w.at.epoch}
		return w.book.cfg.Log.Room(ctx)
	case err != nil:
		return err
	case at.epoch > w.at.epoch:
		return errFenced
	}
	w.at.last, w.at.whole = at.last, at.whole
	return nil
}

// conflict returns errFenced if another owner has written. Otherwise the newest entry is one of this Writer, whose success was not known.
func (w *Writer) conflict(ctx context.Context) error {
	if err := w.findEnd(ctx); err != nil {
		return err
	}
	return ErrConflict
}
