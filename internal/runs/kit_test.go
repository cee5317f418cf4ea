package runs

// The world of the tests: a store on disk, owners that are ended at any write and come again, a worker that counts what it does, and the check of a log.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// moment is when a test may end the owner of a run.
type moment string

const (
	beforeWrite moment = "before the write"
	afterWrite  moment = "after the write"
)

var errCrashed = errors.New("a test has ended this owner")

// mortal is the place of one step, whose owner may be ended at its write.
type mortal struct {
	steps.Place
	world *world
	was   string // the state before the step
	ended bool
}

func (m *mortal) Newest(ctx context.Context) (steps.Version, error) {
	v, err := m.Place.Newest(ctx)
	if e, _, unread := decode(v); unread == nil {
		m.was = e.State.Name
	}
	return v, err
}

func (m *mortal) Write(ctx context.Context, value []byte, revision uint64) (uint64, error) {
	e, _, err := decode(steps.Version{Value: value, Revision: revision + 1})
	if err != nil {
		return 0, err
	}
	if m.ended = m.world.crash(m.was, e, beforeWrite); m.ended {
		return 0, errCrashed
	}
	stored, err := m.Place.Write(ctx, value, revision)
	if m.ended = err == nil && m.world.crash(m.was, e, afterWrite); m.ended {
		err = errCrashed
	}
	return stored, err
}

// After implements steps.Place: an owner that has ended reads nothing back.
func (m *mortal) After(ctx context.Context, revision uint64) (steps.Version, error) {
	if m.ended {
		return steps.Version{}, errCrashed
	}
	return m.Place.After(ctx, revision)
}

// world is a store, the Runner that owns its runs, and the write at which that Runner is ended.
type world struct {
	t       *testing.T
	store   *store.Store
	runner  *Runner
	cfg     Config
	workers []Worker // of the next Runner

	mu          sync.Mutex
	crashAt     int // the number of the write; 0 for none
	moment      moment
	writes      int
	dead        bool
	crashed     string // the state and the event of the write at which the owner was ended
	crashedOnce bool
	done        map[string]int // how often each step of each run was done
	walked      map[string]bool
}

// onDisk opens a store with files. They are not synced: this process lives on, and TestKill kills one.
func onDisk(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: filepath.Join(t.TempDir(), "data"), Timeout: time.Minute, MaxBytes: 2 << 30, Unsynced: true})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var worlds atomic.Int64 // each has a log of its own in the store

// newWorld opens a Runner on a store, which is ended at the write crashAt.
func newWorld(t *testing.T, s *store.Store, cfg Config, crashAt int, at moment) *world {
	t.Helper()
	cfg.MaxBytes, cfg.MaxOpen = 4<<20, 100
	cfg.Lease = cmp.Or(cfg.Lease, time.Hour) // the Runner looks at all runs three times in a lease: a wake-up that is missing is not made up for
	cfg.Name = "runs" + strconv.FormatInt(worlds.Add(1), 10)
	w := &world{t: t, store: s, cfg: cfg, crashAt: crashAt, moment: at, done: map[string]int{}, walked: map[string]bool{}}
	w.workers = []Worker{{Tool: "job", Work: w.work}}
	w.start()
	t.Cleanup(w.end)
	return w
}

func (w *world) start() {
	w.t.Helper()
	cfg := w.cfg
	cfg.Store, cfg.Workers, cfg.Trace = w.store, w.workers, w.trace
	cfg.place = func(log *store.Log) func(string) steps.Place {
		return func(name string) steps.Place { return &mortal{Place: log.Place(name), world: w} }
	}
	var err error
	w.runner, err = New(w.t.Context(), cfg)
	gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
}

// end ends the Runner without a chance to write.
func (w *world) end() {
	w.mu.Lock()
	w.dead = true
	w.mu.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.runner.Close(now); err != nil {
		w.t.Error(err)
	}
}

// again ends the owner, if it is not dead already, and starts the next one.
func (w *world) again() {
	w.end()
	w.mu.Lock()
	w.dead = false
	if w.crashedOnce {
		w.crashAt = 0
	}
	w.mu.Unlock()
	w.start()
}

// crash ends the owner at the write that the test names. An owner that is dead writes nothing any more.
func (w *world) crash(was string, e *entry, at moment) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return at == beforeWrite
	}
	if at == beforeWrite {
		w.writes++
	}
	if w.writes == w.crashAt && at == w.moment {
		w.dead, w.crashedOnce = true, true
		if e.Event != nil {
			w.crashed = was + " " + e.Event.Name
		}
	}
	return w.dead
}

func (w *world) isDead() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.dead
}

// trace notes which rows of the table were walked.
func (w *world) trace(_ string, e Edge, _, _ uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if row := run.Table[e.Row]; row.Why == "" {
		w.walked[row.From+" "+row.Action] = true
	}
}

// plan is the input of the worker.
type plan struct {
	Ask      bool // asks a question
	Approval bool // asks for an approval
	Hold     bool // waits until it is stopped
	Fail     bool
}

// work is the worker of the tests.
func (w *world) work(ctx context.Context, t *Turn) (json.RawMessage, error) {
	var p plan
	if err := json.Unmarshal(t.Input(), &p); err != nil {
		return nil, err
	}
	if err := w.step(ctx, t, "one", false); err != nil {
		return nil, err
	}
	if err := t.Progress(ctx, "half"); err != nil {
		return nil, err
	}
	if p.Hold {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if p.Ask || p.Approval {
		if _, err := t.Ask(ctx, "go", Question{Prompt: "Go on?", Approval: p.Approval}); err != nil {
			return nil, err
		}
	}
	if err := w.step(ctx, t, "two", true); err != nil {
		return nil, err
	}
	if p.Fail {
		return nil, &Failure{"no_luck", "it did not work"}
	}
	return json.RawMessage(`"done"`), nil
}

// step does a step that counts, and sees that nobody does it after the log has it.
func (w *world) step(ctx context.Context, t *Turn, name string, repeatable bool) error {
	_, err := t.Step(ctx, name, repeatable, func(ctx context.Context) (json.RawMessage, error) {
		_, err := t.r.book.each(ctx, t.key, 0, func(e *entry) error {
			if e.Step != nil && e.Step.Name == name && e.Step.Output != nil {
				w.t.Errorf("step %s is done again", name)
			}
			return nil
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.done[t.ID()+" "+name]++
		return json.RawMessage(`1`), err
	})
	return err
}

// try calls f until no owner dies meanwhile, as a client does that gets no answer.
func (w *world) try(f func() error) error {
	for {
		err := f()
		if !w.isDead() {
			return err
		}
		w.again()
	}
}

// begin begins a run. If the owner dies meanwhile, it looks whether there is a new run before it tries again.
func (w *world) begin(p plan, policy run.Policy) string {
	w.t.Helper()
	g := gomega.NewWithT(w.t)
	input, err := json.Marshal(p)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	before := w.ids()
	id := ""
	err = w.try(func() error {
		for _, now := range w.ids() {
			if !slices.Contains(before, now) {
				id = now
				return nil
			}
		}
		b := &beginning{Tool: "job", Version: 1, Input: input, Policy: policy}
		if policy == run.AutoDecide {
			b.Timeout = time.Millisecond
		}
		k := key{hashed("p"), newID(time.Now())}
		id = k.id
		_, err := w.runner.create(w.t.Context(), k, b)
		w.runner.todo.add(k)
		return err
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for !time.Now().After(began(id).Add(time.Millisecond)) { // so that the next run has a later id: ids sort by the millisecond
		steps.Pause(w.t.Context(), time.Millisecond)
	}
	return id
}

// ids returns the ids of all runs.
func (w *world) ids() (all []string) {
	page, _, err := w.runner.List(w.t.Context(), "p", "", 1000)
	gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
	for _, r := range page {
		all = append(all, r.ID)
	}
	return all
}

// until waits until a run has one of the states, or has ended. An owner that dies meanwhile comes again.
func (w *world) until(id string, statuses ...string) *Run {
	w.t.Helper()
	return w.wait(id, func(now *Run) bool { return slices.Contains(statuses, now.Status) })
}

// held waits until a run that holds has so many messages, the last one of progress: then nothing more is written. Each further attempt writes one more.
func (w *world) held(id string, messages uint64) *Run {
	w.t.Helper()
	return w.wait(id, func(now *Run) bool { return now.Status == "running" && now.Seq >= messages })
}

// wait waits until a run is as it should be, or has ended.
func (w *world) wait(id string, is func(*Run) bool) *Run {
	w.t.Helper()
	give, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for {
		if w.isDead() {
			w.again()
		}
		now, err := w.runner.Get(w.t.Context(), "p", id)
		gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
		if !w.isDead() && (is(now) || now.Result != nil) {
			return now
		}
		if !steps.Pause(give, time.Millisecond) {
			w.t.Fatalf("run %s is still %s", id, now.Status)
		}
	}
}

// reply answers the question of a run.
func (w *world) reply(id string, a Answer) {
	w.t.Helper()
	err := w.try(func() error {
		_, err := w.runner.Reply(w.t.Context(), "p", id, "ia_1", a)
		return err
	})
	if !errors.Is(err, ErrResolved) { // the first try may have come through
		gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
	}
}

func (w *world) cancel(id string) {
	w.t.Helper()
	err := w.try(func() error {
		_, err := w.runner.Cancel(w.t.Context(), "p", id, "")
		return err
	})
	gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
}

// check checks the log of a run that has ended: the machine makes the same steps of its events, no property of the machine is broken, the
// messages are numbered without a gap, and can be read from any point.
func (w *world) check(id string) {
	w.t.Helper()
	g, ctx, k := gomega.NewWithT(w.t), w.t.Context(), key{hashed("p"), id}
	state, seen := run.State(run.Queued{}), run.Seen{}
	var all []Message
	n, changes := 0, 0
	_, err := w.runner.book.each(ctx, k, 0, func(e *entry) error {
		n++
		g.Expect(e.N).To(gomega.Equal(n))
		if e.Event != nil {
			event, ok := events.Back(e.Event)
			g.Expect(ok).To(gomega.BeTrue())
			next, effects, row := run.Table.Next(state, event)
			var wrong string
			seen, wrong = run.Monitor.Watch(seen, Edge{From: state, Event: event, To: next, Effects: effects, Row: row})
			g.Expect(wrong).To(gomega.BeEmpty())
			state = next
		}
		g.Expect(e.state()).To(gomega.Equal(state))
		_, waits := state.(run.WaitingUser)
		_, over := run.Terminal(state)
		g.Expect(e.Question != nil).To(gomega.Equal(waits), "a run has a question while it waits for the answer")
		g.Expect(e.Result != nil).To(gomega.Equal(over), "a run has a result when it has ended")
		for _, m := range e.Messages {
			g.Expect(m.Seq).To(gomega.Equal(uint64(len(all) + 1)))
			g.Expect(checkMessage(m.Type, m.Data)).To(gomega.Succeed())
			if m.Type == (run.StateChanged{}).Name() {
				changes++
			}
			all = append(all, m)
		}
		return nil
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, ended := run.Terminal(state)
	g.Expect(ended).To(gomega.BeTrue())
	g.Expect(all[len(all)-1].Type).To(gomega.Equal(run.StateChanged{}.Name()))
	for after := range len(all) + 1 {
		var replayed []Message
		err := w.runner.Follow(ctx, "p", id, uint64(after), func(m Message) error { replayed = append(replayed, m); return nil }, nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(append(slices.Clone(all[:after]), replayed...)).To(gomega.Equal(all), "the messages after %d", after)
	}
}

// forgotten waits until no run is open any more.
func (w *world) forgotten() {
	w.t.Helper()
	give, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for {
		open, err := w.runner.open.Keys(give)
		gomega.NewWithT(w.t).Expect(err).NotTo(gomega.HaveOccurred())
		if len(open) == 0 {
			return
		}
		if !steps.Pause(give, time.Millisecond) {
			w.t.Fatalf("these runs are still open: %s", open)
		}
	}
}

func sorted(of map[string]bool) []string { return slices.Sorted(maps.Keys(of)) }
