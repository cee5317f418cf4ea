package trace

// The machines that belong to no session: the journal of a call at one of its owners, a run, and an idempotency key.

import (
	"errors"
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// apart has these machines.
var apart = map[string]kind{
	"journal":     of(journal.Table, journal.Monitor, journal.State(journal.Waiting{}), journal.Values).kept(ofOwner, ""),
	"run":         of(run.Table, run.Monitor, run.State(run.Queued{}), run.Values).kept(ofStore, ""),
	"idempotency": of(idempotency.Table, idempotency.Monitor, idempotency.State(idempotency.Free{}), idempotency.Values).kept(ofKey, "idempotency_unknown"),
}

func (k kind) kept(as keeping, spec string) kind {
	k.keeps, k.spec = as, spec
	return k
}

// specOf returns the name of the specification with the steps of a machine.
func specOf(name string) string {
	if spec := kinds[name].spec; spec != "" {
		return spec
	}
	return name
}

// owned notes that a log has the steps of an owner of a call. No other log may have them: each owner has an epoch of its own.
func (c *Checker) owned(owner, log string) error {
	if other, known := c.owners[owner]; known && other != log {
		return fmt.Errorf("it has a second owner, with the same epoch: see %s", other)
	}
	c.owners[owner] = log
	return nil
}

// inStore is a machine whose state is in the store, as far as the logs tell of it.
type inStore struct {
	states map[uint64]machine.Named // by the revision
	writes map[write]*written
}

// write is the place of a write: after which revision. again tells the writes of a key apart that begin a new record.
type write struct{ found, again uint64 }

// written is the result of a write.
type written struct {
	stored uint64
	to     machine.Named
}

// storeStep checks a step of a machine whose state is in the store. Such steps may come from several servers, in any order: each has the revisions of the states before and
// after it.
func (c *Checker) storeStep(log string, l line) error {
	k := kinds[l.Machine]
	st, err := l.step(k, false)
	if err != nil {
		return err
	}
	if err := c.decided(&session{seen: map[string]any{l.Machine: k.fresh}}, l.Machine, k.unwatched(), st); err != nil {
		return err
	}
	name := l.Machine + " " + l.Session
	if k.keeps == ofKey {
		name += " " + log
	}
	m := c.stored[name]
	if m == nil {
		m = &inStore{states: map[uint64]machine.Named{}, writes: map[write]*written{}}
		c.stored[name] = m
	}
	if err := m.take(k, st, l.Found, l.Stored); err != nil {
		return err
	}
	return c.specified(l.Machine, st)
}

// unwatched returns the kind without its monitor, which needs all steps in their order.
func (k kind) unwatched() kind {
	k.watch = func(seen any, _ step) (any, string) { return seen, "" }
	return k
}

func (m *inStore) take(k kind, st step, found, stored uint64) error {
	if stored == 0 {
		if st.to != st.from {
			return errors.New("it changes the state, and the store has nothing of it")
		}
		return m.at(k, found, st.from)
	}
	if stored <= found {
		return fmt.Errorf("it is stored as revision %d, after revision %d", stored, found)
	}
	place := write{found: found}
	if found == 0 && k.keeps == ofKey {
		place.again = stored
	}
	w := m.writes[place]
	switch {
	case w == nil:
		if err := m.at(k, found, st.from); err != nil {
			return err
		}
		m.writes[place] = &written{stored, st.to}
		return nil
	case w.stored != stored:
		return fmt.Errorf("two owners have written after revision %d: revisions %d and %d", found, w.stored, stored)
	case w.to != st.from:
		return fmt.Errorf("it goes on from %s, but the step before it in this write goes to %s", coordtest.Text(st.from), coordtest.Text(w.to))
	}
	w.to = st.to
	return nil
}

// at notes the state at a revision. Revision 0 has the machine's first state.
func (m *inStore) at(k kind, revision uint64, is machine.Named) error {
	was, known := m.states[revision]
	if revision == 0 {
		was, known = k.first, true
	}
	if known && was != is {
		return fmt.Errorf("the state at revision %d is %s, and another step says %s", revision, coordtest.Text(is), coordtest.Text(was))
	}
	m.states[revision] = is
	return nil
}

// Ends checks what only all logs together tell: that each step has found what the write before it has stored. It is called after the last log.
func (c *Checker) Ends() error {
	for name, m := range c.stored {
		for _, w := range m.writes {
			if is, known := m.states[w.stored]; known && is != w.to {
				return fmt.Errorf("%s: revision %d was written as %s and found as %s", name, w.stored, coordtest.Text(w.to), coordtest.Text(is))
			}
		}
	}
	return nil
}
