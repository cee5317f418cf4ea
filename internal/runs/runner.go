package runs

// The Runner: its configuration, its life, and the list of runs that it has to look at.

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// Config configures a Runner. Store is required; other fields that are zero take the default that they name.
type Config struct {
	// Store keeps the runs. It stays open while the Runner is used.
	Store *store.Store
	// Name is the beginning of the names of the runs' log and bucket; "" takes "runs". Runners with the same Store and Name share their runs.
	Name string
	// Workers do the work.
	Workers []Worker
	// Keep is how long a run is kept after it began; 0 takes 168 h. MaxAge is how long it may take, waiting included; 0 takes 24 h, and at most Keep.
	Keep, MaxAge time.Duration
	// Lease is how long an owner may be silent before another process takes its runs over; 0 takes 15 s.
	Lease time.Duration
	// MaxTurn is how long one call of a Worker may take; 0 takes 1 h.
	MaxTurn time.Duration
	// MaxRunning is how many runs this Runner works on at a time; 0 takes 32. One principal has half of them at most.
	MaxRunning int
	// MaxOpen is how many runs may be open (not ended); 0 takes 2,000. One principal has a tenth of them at most.
	MaxOpen int
	// MaxKept is how many runs of one principal are kept; 0 takes 500. Beyond it, the oldest that have ended are removed.
	MaxKept int
	// MaxBytes is the limit of all runs together, in bytes; 0 takes half of the store's limit.
	MaxBytes int64
	// MaxWatchers is how many streams of events are open at a time; 0 takes 256. One principal has a quarter of them at most.
	MaxWatchers int
	// Trace gets each step of the runs' machines, with the revision of the run's log in which the step has found the run, and the one in which it has stored
	// the step; 0 for none. It must not block. nil for none.
	Trace func(id string, e Edge, found, stored uint64)
	// Logger gets what an operator should know. nil discards it.
	Logger *slog.Logger

	shared bool                                               // tests: another Runner uses the same store
	place  func(log *store.Log) func(name string) steps.Place // tests end the Runner at a write
}

// defaultReplyTimeout is how long a question waits with the policy AutoDecide if a run does not say it, and maxReplyTimeout is the longest such time.
const (
	defaultReplyTimeout = 5 * time.Minute
	maxReplyTimeout     = 24 * time.Hour
)

// names are the names of tools.
var names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// withDefaults returns the configuration with defaults for its zero fields.
func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Store == nil:
		return c, errors.New("runs: Config.Store is missing")
	case min(c.Keep, c.MaxAge, c.Lease, c.MaxTurn) < 0 || c.MaxBytes < 0 || min(c.MaxRunning, c.MaxOpen, c.MaxKept, c.MaxWatchers) < 0:
		return c, errors.New("runs: a limit is negative: give 0 for the default")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Name = cmp.Or(c.Name, "runs")
	c.Keep = cmp.Or(c.Keep, 168*time.Hour)
	c.MaxAge = min(cmp.Or(c.MaxAge, 24*time.Hour), c.Keep)
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.MaxTurn = cmp.Or(c.MaxTurn, time.Hour)
	c.MaxBytes = cmp.Or(c.MaxBytes, c.Store.MaxBytes()/2)
	c.MaxRunning = cmp.Or(c.MaxRunning, 32)
	c.MaxOpen = cmp.Or(c.MaxOpen, 2000)
	c.MaxKept = cmp.Or(c.MaxKept, 500)
	c.MaxWatchers = cmp.Or(c.MaxWatchers, 256)
	return c, nil
}

// Runner keeps runs and does them. It is safe for concurrent use. Its owner closes it.
type Runner struct {
	cfg     Config
	book    *book
	open    *store.Bucket // has a key for each run that has not ended; its value is the lease of the run's owner
	workers map[string]*Worker
	todo    todo
	watch   watchers
	stop    context.CancelCauseFunc
	looped  chan struct{} // closed when the loop has ended
	joined  sync.WaitGroup

	mu     sync.Mutex
	turns  map[key]*Turn
	busy   map[string]int // the turns of each principal, those that were abandoned included
	all    int
	openOf map[string]int // the open runs of each principal
	behind []key          // queued runs for which there was no room
	timers map[key]*time.Timer
	kept   map[key]run.Interaction // waiting runs of earlier owners that were found valid
	closed bool
}

// openBytes is the room for the key of one open run, with what the store adds to it.
const openBytes = 1 << 10

// errClosing is the cause with which turns end when the Runner is closed.
var errClosing = errors.New("the server stops")

// New returns a Runner. It opens its log and its bucket, and begins to claim runs.
func New(ctx context.Context, cfg Config) (*Runner, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	workers := map[string]*Worker{}
	for i := range cfg.Workers {
		w := &cfg.Workers[i]
		switch {
		case !names.MatchString(w.Tool):
			return nil, fmt.Errorf("runs: tool %q: want a name of 1 to 64 letters, digits, _ or -", w.Tool)
		case w.Work == nil:
			return nil, fmt.Errorf("runs: tool %s: Work is nil", w.Tool)
		case workers[w.Tool] != nil:
			return nil, fmt.Errorf("runs: there are two workers for the tool %s", w.Tool)
		}
		workers[w.Tool] = w
	}
	log, err := cfg.Store.Log(ctx, store.LogConfig{Name: cfg.Name, Keep: cfg.Keep, MaxBytes: cfg.MaxBytes})
	if err != nil {
		return nil, err
	}
	// A key without its run is harmless, and a run without its key would be lost: so keys stay longer.
	open, err := cfg.Store.Bucket(ctx, store.BucketConfig{Name: cfg.Name + "-open", Keep: cfg.Keep + time.Hour, MaxBytes: int64(cfg.MaxOpen) * openBytes})
	if err != nil {
		return nil, err
	}
	r := &Runner{
		cfg: cfg, open: open, workers: workers, looped: make(chan struct{}),
		book: &book{
			store: cfg.Store, log: log, node: rand.Text(), place: log.Place,
			kind: kind{Table: run.Table, Decode: decode, Encode: encode, Trace: cfg.Trace},
		},
		turns: map[key]*Turn{}, busy: map[string]int{}, openOf: map[string]int{}, timers: map[key]*time.Timer{}, kept: map[key]run.Interaction{},
		todo: todo{has: map[key]bool{}, wake: make(chan struct{}, 1)}, watch: watchers{of: map[key]map[chan struct{}]bool{}, used: map[string]int{}, closed: make(chan struct{})},
	}
	if cfg.place != nil {
		r.book.place = cfg.place(log)
	}
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	r.stop = stop
	if err := r.scan(life); err != nil {
		stop(err)
		return nil, err
	}
	go r.loop(life)
	return r, nil
}

// Close ends the Runner: it claims nothing any more, ends the streams of events, and waits for its turns until ctx is done. Turns that go on then are
// told to stop, and their runs are left to the next Runner.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	for _, t := range r.timers {
		t.Stop()
	}
	r.mu.Unlock()
	r.watch.close()
	ended := make(chan struct{})
	go func() {
		r.joined.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	r.stop(errClosing)
	grace := time.NewTimer(2 * stopGrace)
	defer grace.Stop()
	for _, wait := range []<-chan struct{}{ended, r.looped} {
		select {
		case <-wait:
		case <-grace.C:
			return errors.New("a run did not stop in time: it is taken up again at the next start")
		}
	}
	return nil
}

// EndStreams ends the streams of events, and those that begin later at once. Their clients connect again.
func (r *Runner) EndStreams() { r.watch.close() }

// stopGrace is how long a turn may take to end after it was told to stop.
const stopGrace = 2 * time.Second

// loop looks at the runs until ctx is done. It alone claims runs for this Runner.
func (r *Runner) loop(ctx context.Context) {
	defer close(r.looped)
	tick := time.NewTicker(max(r.cfg.Lease/3, time.Millisecond))
	defer tick.Stop()
	for {
		for k, more := r.todo.next(); more && ctx.Err() == nil; k, more = r.todo.next() {
			if err := r.consider(ctx, k); err != nil && ctx.Err() == nil {
				r.cfg.Logger.Warn("runs: a run was not looked at; it is tried again", "run", k.id, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.todo.wake:
		case <-tick.C:
			if err := r.scan(ctx); err != nil && ctx.Err() == nil {
				r.cfg.Logger.Warn("runs: the open runs could not be read; it is tried again", "err", err)
			}
		}
	}
}

// scan has the loop look at all open runs: those of a principal in the order in which they began.
func (r *Runner) scan(ctx context.Context) error {
	all, err := r.open.Keys(ctx)
	if err != nil {
		return err
	}
	slices.Sort(all)
	open := map[string]int{}
	for _, text := range all {
		k := parseKey(text)
		open[k.principal]++
		r.todo.add(k)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.openOf = open
	return nil
}

// todo is the runs that the loop has to look at, each once. It is safe for concurrent use.
type todo struct {
	mu   sync.Mutex
	list []key
	has  map[key]bool
	wake chan struct{}
}

func (t *todo) add(k key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.has[k] {
		t.has[k] = true
		t.list = append(t.list, k)
	}
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *todo) next() (k key, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.list) == 0 {
		return k, false
	}
	k, t.list = t.list[0], t.list[1:]
	delete(t.has, k)
	return k, true
}
