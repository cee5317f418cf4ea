package steps_test

// Machines in a weak store: the steps of each form one chain, which a trace shows.

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/steps"
)

// flat has the fields of all states.
type flat struct {
	Name     string
	Try      idempotency.Try
	Lease    idempotency.Lease
	Payload  idempotency.Payload
	Response idempotency.Response
	Sent     bool
	Safe     bool
}

type (
	change = steps.Change[flat, idempotency.State, idempotency.Event, idempotency.Effect]
	kind   = steps.Kind[flat, idempotency.State, idempotency.Event, idempotency.Effect]
	edge   = machine.Edge[idempotency.State, idempotency.Event, idempotency.Effect]
)

var states = steps.NewFlat[idempotency.State, flat](idempotency.Free{}, idempotency.Locked{}, idempotency.Cached{}, idempotency.Unknown{})

func newKind() *kind {
	return &kind{
		Table: idempotency.Table,
		Decode: func(v steps.Version) (f flat, s idempotency.State, err error) {
			if v.Revision == 0 {
				return f, idempotency.Free{}, nil
			}
			if err := json.Unmarshal(v.Value, &f); err != nil {
				return f, nil, err
			}
			s, ok := states.Back(&f)
			if !ok {
				err = errors.New("the state is unknown")
			}
			return f, s, err
		},
		Encode: func(c *change) ([]byte, error) {
			if c.State == c.Edges[0].From {
				return nil, nil
			}
			return json.Marshal(states.Of(c.State)) // no two tries leave the same state
		},
	}
}

// step is a step as the trace has it.
type step struct {
	edge
	found, stored uint64
}

// TestMachinesInAWeakStore: three processes send the tries of one key. Each stored step goes on from the one before it, none is stored twice, and no invariant of the machine breaks.
func TestMachinesInAWeakStore(t *testing.T) {
	for seed := range uint64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &weakPlace{random: rand.New(rand.NewPCG(seed, 1)), faults: int(seed % 4 * 12), keep: int(seed / 4 % 2)}
				var mu sync.Mutex
				var all []step
				k := newKind()
				k.Trace = func(name string, e edge, found, stored uint64) {
					mu.Lock()
					defer mu.Unlock()
					gomega.NewWithT(t).Expect(name).To(gomega.Equal("key"))
					all = append(all, step{e, found, stored})
				}
				var processes sync.WaitGroup
				for i := range 3 {
					random := rand.New(rand.NewPCG(seed, uint64(i)+2))
					processes.Go(func() { playTries(t, k, p, uint64(i), random) })
				}
				processes.Wait()
				p.late.Wait()
				checkChain(t, all)
			})
		})
	}
}

// playTries sends some tries: each may get the lock, send, and end with a response or without.
func playTries(t *testing.T, k *kind, p *weakPlace, process uint64, random *rand.Rand) {
	t.Helper()
	for n := range uint64(6) {
		try := idempotency.Try(1 + 3*n + process)
		last := idempotency.Event(idempotency.GaveUp{Try: try})
		if random.IntN(3) == 0 {
			last = idempotency.Processed{Try: try, Response: idempotency.Response(try)}
		}
		for _, e := range []idempotency.Event{idempotency.Check{Try: try, Payload: 1, Safe: true}, idempotency.Sending{Try: try}, last} {
			<-time.After(time.Duration(random.IntN(30)) * time.Millisecond)
			_, err := k.Step(t.Context(), "key", p, steps.Patience, func(c *change) error {
				effects := c.Take(e)
				gomega.NewWithT(t).Expect(c.Effects()).To(gomega.Equal(effects))
				return nil
			})
			if err != nil && !errors.Is(err, steps.ErrUnavailable) {
				t.Error(err)
			}
		}
	}
}

// checkChain holds the steps to each other and to the machine's monitor. A step of which nobody knows that it was stored leaves a gap.
func checkChain(t *testing.T, all []step) {
	t.Helper()
	stored := map[uint64]step{}
	for _, s := range all {
		if s.stored == 0 {
			if s.From != s.To {
				t.Errorf("%s from %s to %s is not stored", s.Event.Name(), s.From.Name(), s.To.Name())
			}
			continue
		}
		if _, twice := stored[s.stored]; twice || s.stored != s.found+1 {
			t.Errorf("revision %d was stored after %d, twice: %v", s.stored, s.found, twice)
		}
		stored[s.stored] = s
	}
	seen, before := idempotency.Seen{}, idempotency.State(idempotency.Free{})
	for n := uint64(1); ; n++ {
		s, there := stored[n]
		if !there {
			return
		}
		if s.From != before {
			t.Errorf("revision %d: its step goes on from %+v, and the one before it has left %+v", n, s.From, before)
		}
		var wrong string
		if seen, wrong = idempotency.Monitor.Watch(seen, s.edge); wrong != "" {
			t.Errorf("revision %d: %s", n, wrong)
		}
		before = s.To
	}
}

// A change that fails, or a record that cannot be read, stores nothing and is not traced.
func TestAChangeThatFails(t *testing.T) {
	g, p, k, errWrong := gomega.NewWithT(t), newPlace(), newKind(), errors.New("wrong")
	k.Trace = func(string, edge, uint64, uint64) { t.Error("it is traced") }
	_, err := k.Step(t.Context(), "key", p, 0, func(*change) error { return errWrong })
	g.Expect(err).To(gomega.MatchError(errWrong))
	g.Expect(p.words()).To(gomega.BeEmpty())
	_, err = p.store([]byte(`{"Name":"Lost"}`), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = k.Step(t.Context(), "key", p, 0, func(*change) error { return nil })
	g.Expect(err).To(gomega.MatchError("the state is unknown"))
}

// A struct that lacks a field of a state is a mistake of its package.
func TestAFieldWithoutAPlace(t *testing.T) {
	type small struct {
		Name string
		Work idempotency.Try `of:"Hand,Try"`
	}
	g, form := gomega.NewWithT(t), steps.NewFlat[idempotency.Event, small](idempotency.Sending{}, idempotency.GaveUp{})
	g.Expect(form.Of(idempotency.Sending{Try: 7})).To(gomega.Equal(small{"Sending", 7}))
	e, ok := form.Back(&small{"GaveUp", 7})
	g.Expect([]any{e, ok}).To(gomega.Equal([]any{idempotency.GaveUp{Try: 7}, true}))
	_, ok = form.Back(&small{"Check", 7})
	g.Expect(ok).To(gomega.BeFalse())
	g.Expect(func() { steps.NewFlat[idempotency.Event, small](idempotency.LeaseExpired{}) }).To(gomega.PanicWith(gomega.ContainSubstring("Lease")))
}
