package steps

// Machines at places of a store.

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Kind has what all machines of one kind have in common. R is the record of a machine in the store: its state, and what belongs to it.
type Kind[R any, S, E machine.Named, F any] struct {
	Table machine.Table[S, E, F]
	// Decode returns the record and the state of a version; the zero Version is a machine that is not stored yet.
	Decode func(Version) (R, S, error)
	// Encode returns the new value, which is different for each call; nil for a change that leaves all as it is.
	Encode func(*Change[R, S, E, F]) ([]byte, error)
	// Trace gets each step once it is stored, with the name of the machine, the revision of the version that it has found, and the one that it has stored; 0 for none.
	// Steps that are stored together have the same revisions. It must not block. nil for none.
	Trace func(name string, e machine.Edge[S, E, F], found, stored uint64)
}

// Change is a change of a machine in the store.
type Change[R any, S, E machine.Named, F any] struct {
	Was, Now      R
	State         S
	Found, Stored uint64 // the revisions before and after; 0 for none
	Edges         []machine.Edge[S, E, F]
	table         machine.Table[S, E, F]
}

// Take gives the machine an event, and returns the effects.
func (c *Change[R, S, E, F]) Take(e E) []F {
	to, effects, row := c.table.Next(c.State, e)
	c.Edges = append(c.Edges, machine.Edge[S, E, F]{From: c.State, Event: e, To: to, Effects: effects, Row: row})
	c.State = to
	return effects
}

// Effects returns the effects of all events that the machine took.
func (c *Change[R, S, E, F]) Effects() (all []F) {
	for _, e := range c.Edges {
		all = append(all, e.Effects...)
	}
	return all
}

// Step changes a machine, as Swap changes a value. change gives it events, and changes its record; it is called again if another writer was first.
func (k *Kind[R, S, E, F]) Step(
	ctx context.Context, name string, at Place, patience time.Duration, change func(*Change[R, S, E, F]) error,
) (*Change[R, S, E, F], error) {
	done, err := Swap(ctx, at, patience, func(found Version) ([]byte, *Change[R, S, E, F], error) {
		record, state, err := k.Decode(found)
		if err != nil {
			return nil, nil, err
		}
		c := &Change[R, S, E, F]{Was: record, Now: record, State: state, Found: found.Revision, table: k.Table}
		if err := change(c); err != nil {
			return nil, nil, err
		}
		value, err := k.Encode(c)
		return value, c, err
	})
	if err != nil {
		return nil, err
	}
	c := done.Made
	c.Stored = done.Stored
	if k.Trace != nil {
		for _, e := range c.Edges {
			k.Trace(name, e, done.Found, done.Stored)
		}
	}
	return c, nil
}
