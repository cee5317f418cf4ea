package journal

// The Book: all calls that a server keeps in its store. It begins a journal, and takes calls over.

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/steps"
)

// The errors of a Log. They come wrapped.
var (
	// ErrConflict: the newest entry of the list is another one.
	ErrConflict = steps.ErrConflict
	// ErrNotFound: there is no such entry.
	ErrNotFound = steps.ErrNotFound
)

// ErrUnknown: no call that can be continued has this token.
var ErrUnknown = errors.New("the journal knows no call with this token")

// Log is where the entries are. It is safe for concurrent use. Each call has its own list.
type Log interface {
	// Append adds an entry to a list if its newest entry has the revision last; 0 means that the list is empty. It returns the new revision, or ErrConflict.
	Append(ctx context.Context, list string, entry []byte, last uint64) (revision uint64, err error)
	// Last returns the newest entry of a list, or ErrNotFound.
	Last(ctx context.Context, list string) (entry []byte, revision uint64, err error)
	// Next returns the first entry of a list whose revision is above after, or ErrNotFound.
	Next(ctx context.Context, list string, after uint64) (entry []byte, revision uint64, err error)
	// Trim removes the entries of a list whose revision is below before.
	Trim(ctx context.Context, list string, before uint64) error
	// Remove removes a list.
	Remove(ctx context.Context, list string) error
	// Lost reports whether the entry with that revision is lost with all others, because the store has lost its data. Appends to what is there now begin with the revision 0.
	Lost(revision uint64) bool
	// Room returns an error if no new list may begin.
	Room(ctx context.Context) error
	// HalfRoom returns an error if a list that takes much may take no more, because the lists take more than half of the room.
	HalfRoom(ctx context.Context) error
	// Left returns how many bytes are left until Room returns an error. The answer may be a moment old.
	Left(ctx context.Context) (int64, error)
}

// Limits bound the journal. A zero field takes its default.
type Limits struct {
	// MaxState is the size of the largest State of a call, in bytes of its entries; 0 takes 4 MiB. A call above it is not journalled.
	MaxState int
	// Patience is how long an event may wait for the store, without the write before it; 0 takes 500 ms.
	Patience time.Duration
	// Retry is how long a Writer waits after the store has failed; 0 takes 1 s.
	Retry time.Duration
}

// Config configures a Book. Log is required.
type Config struct {
	Log    Log
	Env    env.Env // nil is the real one
	Logger *slog.Logger
	// Node names this process for the others, with at most 64 letters: who reads the log of a call learns who owns it. "" for a process that has no others.
	Node string
	// Broken is called with an invariant of a journal's machine that does not hold; nil where they are not checked.
	Broken func(invariant, event string)
	// Trace gets each step of the journals' machines, with the name of the call's list and the owner's epoch. It must not block. nil for none.
	Trace func(list string, epoch uint32, e Edge)
	Limits
}

// Edge is one step of the machine of a journal.
type Edge = machine.Edge[journal.State, journal.Event, journal.Effect]

// Book has the journals of a server's calls. It is safe for concurrent use.
type Book struct {
	cfg          Config
	takenOver    atomic.Uint64
	unjournalled atomic.Uint64
	without      atomic.Int64  // calls that are not journalled now
	ending       chan struct{} // has room for maxEnding
	room         *account.Budget

	mu   sync.Mutex
	open map[*Writer]bool // those that write
}

// New returns a Book.
func New(cfg Config) *Book {
	if cfg.Env == nil {
		cfg.Env = env.System()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxState == 0 {
		cfg.MaxState = 4 << 20
	}
	if cfg.Patience == 0 {
		cfg.Patience = 500 * time.Millisecond
	}
	if cfg.Retry == 0 {
		cfg.Retry = time.Second
	}
	return &Book{cfg: cfg, ending: make(chan struct{}, maxEnding), open: map[*Writer]bool{}, room: account.New(0)}
}

// WriteAgain has every call of this process write its whole State, also if nothing has changed in it: the store has lost its data.
func (b *Book) WriteAgain() {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.open))
	b.mu.Unlock()
	for _, w := range all {
		w.Record(Record{}) // its append is refused, and then the Writer begins anew
	}
}

// Counts returns how many calls were taken over from another process, and how often a call was not journalled any more.
func (b *Book) Counts() (takenOver, unjournalled uint64) {
	return b.takenOver.Load(), b.unjournalled.Load()
}

// Without returns how many calls are not journalled now, because the store has failed: no other process could continue them.
func (b *Book) Without() int { return int(b.without.Load()) }

// list returns the name of the list of the call with that token. The token does not follow from it.
func list(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Begin returns the journal of a new call. The caller closes it.
func (b *Book) Begin(token string, logger *slog.Logger) *Writer {
	return b.newWriter(list(token), logger, tail{epoch: 1}, State{})
}

// Owner returns the Node of the process that owns the call with that token: it has claimed the call, or has begun it. It returns ErrUnknown for a call that cannot be continued.
func (b *Book) Owner(ctx context.Context, token string) (node string, err error) {
	e, _, err := end(place{b.cfg.Log, list(token)}.Newest(ctx))
	if err == nil && e.flags&flagEnd != 0 {
		err = ErrUnknown
	}
	return e.node, err
}

// place is the list of a call, as package steps has it.
type place struct {
	log  Log
	list string
}

// The methods of steps.Place.
func (p place) Newest(ctx context.Context) (v steps.Version, err error) {
	v.Value, v.Revision, err = p.log.Last(ctx, p.list)
	return v, err
}

func (p place) After(ctx context.Context, revision uint64) (v steps.Version, err error) {
	v.Value, v.Revision, err = p.log.Next(ctx, p.list, revision)
	return v, err
}

func (p place) Write(ctx context.Context, value []byte, revision uint64) (uint64, error) {
	return p.log.Append(ctx, p.list, value, revision)
}

// claimed is a call that a process has taken over.
type claimed struct {
	state State
	at    tail
}

// TakeOver makes this process the owner of the call with that token. may decides whether the one who asks for it may have the call. The former owner cannot
// write any more. Errors: ErrUnknown, ErrDamaged, and those of the store. The caller closes the Writer.
func (b *Book) TakeOver(ctx context.Context, token string, logger *slog.Logger, may func(*State) bool) (*State, *Writer, error) {
	in, mark := place{b.cfg.Log, list(token)}, rand.Text()
	done, err := steps.Swap(ctx, in, 0, func(newest steps.Version) ([]byte, claimed, error) {
		state, at, err := read(ctx, in, newest)
		if err == nil && (state.Ended || !may(&state)) {
			err = ErrUnknown
		}
		if err != nil {
			return nil, claimed{}, err
		}
		at.epoch++
		claim := Record{Claimed: at.epoch, Mark: mark}
		entries, err := pieces([]Record{claim}, at.epoch, at.whole)
		if err != nil {
			return nil, claimed{}, err
		}
		entries[0].node = b.cfg.Node
		state.Apply(claim)
		return entries[0].bytes(), claimed{state, at}, nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the call cannot be taken over: %w", err)
	}
	state, at := done.Made.state, done.Made.at
	at.last, at.newest, at.former = done.Stored, 0, true
	b.takenOver.Add(1)
	return state.clone(), b.newWriter(in.list, logger, at, state), nil
}

// tail is where the log of a call ends.
type tail struct {
	epoch uint32 // that of the newest entry
	last  uint64 // the revision of the newest entry; 0 for none
	whole uint64 // the revision at which the newest stored State begins; 0 for none
	size  int    // the bytes of the entries from there on
	state int    // the bytes of that State
	// newest is the number of the newest record of the owner that is complete in the log.
	newest journal.Record
	// former: the newest State was written by a former owner. Its entry may be so old that the store removes it soon.
	former bool
	held   int64 // how many bytes of Book.room this owner has
}

// read reads the log of a call up to its newest entry. It returns ErrConflict if the owner has written the whole State meanwhile, and has removed the entries before it.
func read(ctx context.Context, in place, newest steps.Version) (State, tail, error) {
	var missing error
	if newest.Revision == 0 {
		missing = ErrNotFound
	}
	last, at, err := end(newest, missing)
	if err != nil {
		return State{}, at, err
	}
	r, after := reader{}, at.whole
	if after > 0 {
		after--
	}
	for after < at.last {
		v, err := in.After(ctx, after)
		if errors.Is(err, ErrNotFound) {
			return State{}, at, fmt.Errorf("%w: %w", ErrConflict, err)
		}
		if err != nil {
			return State{}, at, err
		}
		e, err := readEntry(v.Value)
		if err == nil {
			err = r.take(e)
		}
		if err != nil {
			return State{}, at, err
		}
		at.size += len(v.Value)
		if e.flags&flagWhole != 0 {
			at.state += len(v.Value)
		}
		after = v.Revision
	}
	if r.state.Call.ID == "" {
		return State{}, at, incomplete(ctx, in, at)
	}
	at.epoch = max(last.epoch, r.state.Epoch)
	return r.state, at, nil
}

// incomplete returns the error for a log without a complete State: it is to be read again if it has changed.
func incomplete(ctx context.Context, in place, at tail) error {
	switch _, err := in.After(ctx, at.last); {
	case err == nil:
		return ErrConflict
	case !errors.Is(err, ErrNotFound):
		return err
	}
	return fmt.Errorf("%w: its State is not complete", ErrUnknown)
}

// end returns what the newest entry of a log says, which Place.Newest has returned.
func end(newest steps.Version, err error) (entry, tail, error) {
	if errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err != nil {
		return entry{}, tail{}, err
	}
	e, err := readEntry(newest.Value)
	at := tail{epoch: e.epoch, last: newest.Revision, whole: e.whole, newest: journal.Record(e.newest)}
	if e.first() && e.last() && e.flags&flagWhole != 0 {
		at.whole = newest.Revision
	}
	return e, at, err
}
