package journal

// The goroutine of a Writer: asks the store for what the machine wants, and gives the machine the answers.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/env"
)

// leastTail is how many bytes of records may follow a State before the State is written again. It is also at least the size of the State. The State is also written again in
// place of records of half its size: so the log has large settings once, however often they change.
const leastTail = 128 << 10

// A call whose journal has at most modest bytes takes its room in any case. A larger one grows only while the journals take at most half of the room of all, so that a few
// long conversations do not take the room of all others, or while its principal has little: of littleOf parts of what is left, one. A State that is written again may be
// larger by slack.
const (
	modest   = leastTail + 64<<10
	slack    = 4 << 10
	littleOf = 8
)

// run asks the store until the Writer is closed and nothing is left to do.
func (w *Writer) run() {
	defer close(w.gone)
	defer func() { w.book.room.Give(w.principal(), w.at.held) }()
	closing := w.closing // nil while the Writer is being closed
	due := make(chan struct{})
	begin := func() {
		closing = nil
		w.beginClosing(due)
	}
	stop := func() {
		due = nil
		w.step(journal.Stop{})
	}
	for {
		select {
		case <-closing:
			begin()
		case <-due:
			stop()
		default:
		}
		if closing == nil && w.settled() {
			w.step(journal.Stop{})
		}
		if r := w.take(); r.effect != nil {
			w.ask(r, closing, due)
			continue
		}
		if w.over() {
			return
		}
		select {
		case <-w.wake:
		case <-closing:
			begin()
		case <-due:
			stop()
		}
	}
}

// take returns what the store is to be asked for now.
func (w *Writer) take() request {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.asked
	w.asked = request{}
	return r
}

// beginClosing ends the call if it has ended in order. due is closed when the time for the rest is over.
func (w *Writer) beginClosing(due chan struct{}) {
	w.mu.Lock()
	ended, within := w.ended, closeTimeout
	w.mu.Unlock()
	if ended {
		within = endTimeout
	}
	w.book.cfg.Env.AfterFunc(within, func() { close(due) })
	if ended {
		w.step(journal.Over{})
	}
}

// settled reports whether nothing waits that the store could take.
func (w *Writer) settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.known.state.(type) {
	case journal.Waiting, journal.Resting, journal.Off:
		return true
	case journal.Writing, journal.Doubtful, journal.Broken, journal.Mending, journal.Finishing, journal.Ending, journal.Fenced, journal.Closed:
	}
	return false
}

// over reports whether the Writer has nothing more to do.
func (w *Writer) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.known.state.(type) {
	case journal.Fenced, journal.Closed:
		return w.closed
	case journal.Waiting, journal.Resting, journal.Writing, journal.Doubtful, journal.Broken, journal.Mending, journal.Off, journal.Finishing, journal.Ending:
	}
	return false
}

// ask asks the store for one thing. closing is nil if the Writer is being closed. due is closed when there is no more time for it.
func (w *Writer) ask(r request, closing, due <-chan struct{}) {
	if r.again {
		w.pause(closing, due)
	}
	if closing == nil {
		select {
		case w.book.ending <- struct{}{}:
			defer func() { <-w.book.ending }()
		case <-due:
		}
	}
	ctx, cancel := env.WithTimeout(w.book.cfg.Env, context.Background(), w.book.cfg.Patience, context.DeadlineExceeded)
	defer cancel()
	switch f := r.effect.(type) {
	case journal.Append:
		w.append(ctx, false)
	case journal.AppendFull:
		w.append(ctx, true)
	case journal.AppendEnd:
		w.answer(f.To, w.store(ctx, []Record{{Ended: true}}, f.To))
	case journal.Look:
		w.step(w.look(ctx))
	case journal.Remove:
		if err := w.book.cfg.Log.Remove(ctx, w.name); err != nil {
			w.log.Debug("the journal of a call that has ended stays until it expires", "err", err)
		}
	case journal.Arm, journal.Release, journal.Break, journal.Restore, journal.Fence: // they are performed at once
	}
}

// firstPause is how long a Writer waits after the store has failed while events wait.
const firstPause = 50 * time.Millisecond

// pause waits before the store is tried again.
func (w *Writer) pause(closing, due <-chan struct{}) {
	w.mu.Lock()
	wait := w.book.cfg.Retry
	if _, doubtful := w.known.state.(journal.Doubtful); doubtful {
		wait = min(wait, firstPause)
	}
	w.mu.Unlock()
	again := make(chan struct{})
	t := w.book.cfg.Env.AfterFunc(wait, func() { close(again) })
	defer t.Stop()
	select {
	case <-again:
	case <-closing:
	case <-due:
	}
}

// append appends what waits, or the whole State.
func (w *Writer) append(ctx context.Context, whole bool) {
	w.mu.Lock()
	to, waiting := w.known.recorded, w.queue.waiting
	whole = whole || w.queue.whole || len(waiting) == 0 || w.at.last == 0 || w.at.former || w.at.size > max(leastTail, 2*w.at.state) || w.queue.bytes > max(leastTail, w.at.state/2)
	records := make([]Record, 0, len(waiting))
	if whole {
		records = append(records, Record{State: w.state.clone()})
		w.queue.whole = false
	} else {
		for _, r := range waiting {
			records = append(records, r.Record)
		}
	}
	w.mu.Unlock()
	err := errTooLarge
	if !whole || w.oversize != to { // the State has not changed since it was too large
		err = w.store(ctx, records, to)
	}
	if errors.Is(err, errTooLarge) {
		w.oversize = to
	}
	if err != nil && whole {
		w.mu.Lock()
		w.queue.forget()
		w.mu.Unlock()
	}
	w.answer(to, err)
}

// answer tells the machine what has become of an append up to a record.
func (w *Writer) answer(to journal.Record, err error) {
	w.mu.Lock()
	if w.failure = err; errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		w.failure = errLate
	}
	w.mu.Unlock()
	switch {
	case err == nil:
		w.step(journal.Stored{To: to})
	case errors.Is(err, ErrConflict):
		w.step(journal.Conflict{})
	default:
		w.log.Debug("a write to the journal of a call has failed", "err", err)
		w.step(journal.Failed{})
	}
}

var errTooLarge = errors.New("it is larger than a journal may be; settings, images and long texts count")

// store appends records to the log, of which the newest has the number to. After an error it is not known what the log has.
func (w *Writer) store(ctx context.Context, records []Record, to journal.Record) error {
	whole := records[0].State != nil
	if w.at.last == 0 {
		if err := w.book.cfg.Log.Room(ctx); err != nil {
			return err
		}
	}
	if whole && records[0].State.least() > w.book.cfg.MaxState {
		return errTooLarge // to write it as JSON would take long
	}
	all, err := pieces(records, w.epoch, w.at.whole)
	if err != nil {
		return err
	}
	if whole && len(all)*maxPiece > w.book.cfg.MaxState+maxPiece {
		return errTooLarge
	}
	grows := int64(0)
	if !records[0].Ended { // what ends is removed, and makes room
		if grows, err = w.mayTake(ctx, whole, all); err != nil {
			return err
		}
	}
	if err := w.write(ctx, whole, all, to); err != nil {
		w.book.room.Give(w.principal(), max(0, grows))
		return err
	}
	w.at.held += grows
	w.book.room.Give(w.principal(), max(0, -grows))
	return nil
}

// write appends the entries of records, of which the newest has the number to.
func (w *Writer) write(ctx context.Context, whole bool, all []entry, to journal.Record) error {
	begins, bytes := uint64(0), 0
	for i, e := range all {
		e.node, e.newest = w.book.cfg.Node, uint64(w.at.newest)
		if i == len(all)-1 {
			e.newest = uint64(to)
		}
		if whole && i > 0 && i == len(all)-1 {
			e.whole = begins // from this piece on the State is complete
		}
		text := e.bytes()
		revision, err := w.book.cfg.Log.Append(ctx, w.name, text, w.at.last)
		if err != nil {
			return err
		}
		if i == 0 {
			begins = revision
		}
		w.at.last = revision
		bytes += len(text)
	}
	w.at.newest = to
	if !whole {
		w.at.size += bytes
		return nil
	}
	w.at.whole, w.at.size, w.at.state, w.at.former = begins, bytes, bytes, false
	if err := w.book.cfg.Log.Trim(ctx, w.name, begins); err != nil {
		w.log.Debug("the entries before the State stay", "err", err)
	}
	return nil
}

// principal returns whose call it is; "" if the server has no keys.
func (w *Writer) principal() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.Call.Principal
}

// mayTake takes the room by which the journal of the call grows with these entries. It returns an error, and takes nothing, if the journal is large and has to leave the
// room to others, or if the journals of its principal would take more than they leave free. Nobody knows whose calls those without a principal are.
func (w *Writer) mayTake(ctx context.Context, whole bool, all []entry) (grows int64, err error) {
	size, most := 0, max(modest, w.at.size+slack)
	if !whole {
		size, most = w.at.size, modest
	}
	for _, e := range all {
		grows += int64(len(e.piece))
	}
	var crowded error
	if size += int(grows); size > most {
		crowded = w.book.cfg.Log.HalfRoom(ctx)
	}
	principal := w.principal()
	if principal == "" {
		return 0, crowded
	}
	if whole {
		grows -= w.at.held
	}
	if grows > 0 || crowded != nil {
		left, err := w.book.cfg.Log.Left(ctx)
		if err != nil {
			return 0, err
		}
		if crowded != nil && w.book.room.Held()[principal]+grows > left/littleOf {
			return 0, crowded
		}
		w.book.room.SetFree(left) // other servers have a part of the room
		if err := w.book.room.Take(principal, max(0, grows)); err != nil {
			return 0, fmt.Errorf("the journals of the calls of %s leave too little to others: %w", principal, err)
		}
	}
	return grows, nil
}

// look reads the newest entry of the log, and returns what it says.
func (w *Writer) look(ctx context.Context) journal.Event {
	e, at, err := end(place{w.book.cfg.Log, w.name}.Newest(ctx))
	switch {
	case errors.Is(err, ErrUnknown) && w.at.last == 0:
		return journal.Found{To: w.at.newest} // the first entry is not there
	case errors.Is(err, ErrUnknown) && w.book.cfg.Log.Lost(w.at.last):
		w.at = tail{epoch: w.epoch, held: w.at.held} // the next entry is the first one
		return journal.Found{}
	case errors.Is(err, ErrUnknown):
		return journal.Gone{}
	case err != nil:
		w.log.Debug("the journal of a call cannot be read", "err", err)
		return journal.Failed{}
	case at.epoch > w.epoch || e.flags&flagEnd != 0 || at.epoch == w.epoch && e.node != w.book.cfg.Node:
		return journal.Taken{}
	case at.epoch < w.epoch: // the store has lost its data, and a former owner was faster
		w.at.former = true
	}
	w.at.last, w.at.whole, w.at.newest = at.last, at.whole, 0
	if at.epoch == w.epoch {
		w.at.newest = at.newest
	}
	return journal.Found{To: w.at.newest}
}

// Owner reports whether this is still the owner of the call. If it is not, the Writer is fenced. An owner that cannot ask the store is taken for the owner; the error says why it could
// not. A log that is gone is no error.
func (w *Writer) Owner(ctx context.Context) (owns bool, err error) {
	_, at, err := end(place{w.book.cfg.Log, w.name}.Newest(ctx))
	switch {
	case errors.Is(err, ErrUnknown):
		return true, nil
	case err != nil || at.epoch <= w.epoch:
		return true, err
	}
	w.step(journal.Taken{})
	return false, nil
}
