package conform

// The adapters of idempotency.fizz and idempotency_unknown.fizz: compare them with the table of internal/coord/idempotency.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

// The sizes of specs/idempotency.fizz and specs/idempotency_unknown.fizz.
const (
	keys      = 2
	onceTries = 3 // in both
	lastLease = 2 // LAST: it does not run out
)

// status of a try, as the driver keeps it.
const (
	pending   = "pending"
	inProxy   = "inProxy"
	hasLock   = "lock"
	processed = "processed"
	dead      = "dead"
)

// driver is the tries, as whoever performs the effects knows them. At is the records of
// their keys, since what becomes of a try is in the effects.
type driver struct {
	At     [keys]idempotency.State
	Status [onceTries]string
	Asleep [onceTries]bool
	Got    [onceTries]idempotency.Response
}

func newDriver(status string) driver {
	d := driver{At: [keys]idempotency.State{idempotency.Free{}, idempotency.Free{}}}
	for t := range d.Status {
		d.Status[t] = status
	}
	return d
}

// perform performs the effects of a step of key k. of says whose try is of which key.
func (d driver) perform(k int, effects []idempotency.Effect, of func(idempotency.Try) int) driver {
	for _, f := range effects {
		switch f := f.(type) {
		case idempotency.Grant:
			d.Status[f.Try-1] = hasLock
		case idempotency.Wait:
			d.Asleep[f.Try-1] = true
		case idempotency.Forward:
			d.Status[f.Try-1] = processed
		case idempotency.Reply:
			d.Got[f.Try-1] = f.Response
			d.Status[f.Try-1] = "fromCache"
			if !f.Replayed {
				d.Status[f.Try-1] = "cached"
			}
		case idempotency.Refuse:
			d.Status[f.Try-1] = "refused"
		case idempotency.SayUnknown:
			d.Status[f.Try-1] = "unknown"
		case idempotency.SayRetry:
			d.Status[f.Try-1] = "retry"
		case idempotency.CheckAgain:
			d.Status[f.Try-1] = inProxy
		case idempotency.Wake:
			for t := range d.Asleep {
				d.Asleep[t] = d.Asleep[t] && of(idempotency.Try(t+1)) != k
			}
		case idempotency.ArmLease:
		}
	}
	return d
}

// checks says whether a try may check its key.
func (d driver) checks(t idempotency.Try) bool { return d.Status[t-1] == inProxy && !d.Asleep[t-1] }

// holds says whether t holds the lock of a key.
func holds(s idempotency.State, t idempotency.Try) bool {
	locked, is := s.(idempotency.Locked)
	return is && locked.Try == t
}

// keyFields is the variables of a key. A spec cannot have one that is named try.
var keyFields = func() func(idempotency.State) map[string]string {
	fields := FieldsOf(idempotency.Values)
	return func(s idempotency.State) map[string]string {
		out := fields(s)
		out["holder"] = out["try"]
		delete(out, "try")
		return out
	}
}()

// keyEvent is an event of one key. What the client does to a try has no Event: its key
// does not see it.
type keyEvent struct {
	Key   int
	Try   idempotency.Try
	Event idempotency.Event
}

// keyOf is the key of a try where there are two.
func keyOf(t idempotency.Try) int { return int(t-1) / 2 }

// idempotencyKeys is two keys that have nothing in common.
func idempotencyKeys() Comparer {
	type state = [keys]idempotency.State
	step := func(s state, e keyEvent) (state, []idempotency.Effect, string) {
		if e.Event == nil {
			return s, nil, ""
		}
		next, effects, row := idempotency.Table.Next(s[e.Key], e.Event)
		if row < 0 {
			return s, nil, NoRow
		}
		s[e.Key] = next
		return s, effects, idempotency.Table[row].Why
	}
	first := newDriver(pending)
	return System[state, keyEvent, idempotency.Effect, driver]{
		Spec:   "idempotency",
		Starts: []Start[state, driver]{{first.At, first}},
		Step:   step,
		Events: func(s state, d driver) []Labelled[keyEvent] { return keyEvents(s, d) },
		Grow: func(d driver, e keyEvent) driver {
			if e.Event == nil {
				d.Status[e.Try-1] = inProxy
				return d
			}
			next, effects, _ := step(d.At, e)
			d.At = next
			return d.perform(e.Key, effects, keyOf)
		},
		Vars: keyVars,
		Tables: &tables[state, keyEvent]{pairsOf(idempotency.Table), func(s state, e keyEvent) (machine.Named, machine.Named) {
			if e.Event == nil {
				return nil, nil
			}
			return s[e.Key], e.Event
		}},
	}
}

// keyEvents offers what each try may do next. Nobody dies, and no lease runs out.
func keyEvents(s [keys]idempotency.State, d driver) []Labelled[keyEvent] {
	var o offer[keyEvent]
	for t := idempotency.Try(1); t <= onceTries; t++ {
		k := keyOf(t)
		add := func(label string, e idempotency.Event) {
			o.add(keyEvent{k, t, e}, "%s t=%d", label, t)
		}
		switch {
		case d.Status[t-1] == pending:
			add("HitProxy", nil)
		case d.checks(t):
			// The spec has a name for each thing that may become of it.
			check := idempotency.Check{Try: t, Payload: 1}
			switch s[k].(type) {
			case idempotency.Free:
				add("Lock", check)
			case idempotency.Locked:
				add("Wait", check)
			case idempotency.Cached:
				add("GetCache", check)
			case idempotency.Unknown:
			}
		case d.Status[t-1] == hasLock:
			add("HitServer", idempotency.Sending{Try: t})
		case d.Status[t-1] == processed:
			add("Cache", idempotency.Processed{Try: t, Response: idempotency.Response(t)})
		}
	}
	return o
}

// keyVars is a list a variable, with a place for each key. What is safe does not come here.
func keyVars(s [keys]idempotency.State, d driver) map[string]string {
	out := map[string]string{"tries": JSON(d.Status), "asleep": JSON(d.Asleep), "got": JSON(d.Got)}
	first, second := keyFields(s[0]), keyFields(s[1])
	for name := range first {
		if name != "safe" {
			out[name] = "[" + first[name] + "," + second[name] + "]"
		}
	}
	return out
}

// dies is what the spec has beside the table, for the driver: the holder's node is gone.
// The key does not see it.
type dies struct {
	idempotency.Event
	Try idempotency.Try
}

func (dies) Name() string { return "Die" }

type unknownDomain struct {
	driver
	Seen idempotency.Seen
}

// idempotencyUnknown is one key whose holders may die or be slow. Its ghosts are compared
// with what the monitor has seen.
func idempotencyUnknown() Comparer {
	table := machine.Join(idempotency.Table, []machine.Row[idempotency.State, idempotency.Event, idempotency.Effect]{
		machine.On[idempotency.State, idempotency.Event](
			"Die", func(s idempotency.Locked, _ dies) (idempotency.Locked, []idempotency.Effect) { return s, nil }),
	})
	oneKey := func(idempotency.Try) int { return 0 }
	return Machine[idempotency.State, idempotency.Event, idempotency.Effect, unknownDomain]{
		Spec: "idempotency_unknown", Ghosts: []string{"event", "was"}, Table: table, First: idempotency.Free{},
		Domain: unknownDomain{driver: newDriver(inProxy)},
		Events: unknownEvents,
		Grow: func(d unknownDomain, e idempotency.Event) unknownDomain {
			if e, died := e.(dies); died {
				d.Status[e.Try-1] = dead
				return d
			}
			next, effects, row := table.Next(d.At[0], e)
			d.Seen = idempotency.Monitor.See(d.Seen, machine.Edge[idempotency.State, idempotency.Event, idempotency.Effect]{
				From: d.At[0], Event: e, To: next, Effects: effects, Row: row,
			})
			d.At[0] = next
			d.driver = d.perform(0, effects, oneKey)
			return d
		},
		Vars: func(s idempotency.State, d unknownDomain) map[string]string {
			return ghosts(keyFields(s), map[string]any{
				"tries": d.Status, "asleep": d.Asleep, "risked": d.Seen.Risked,
				"open": max(d.Seen.Doubt, ifSo(d.Seen.Sent && !d.Seen.Safe, d.Seen.Holder)),
			})
		},
	}
}

// unknownEvents offers what each try may do next, whether it holds the lock or has lost
// it, and leases that are over, running and never taken.
func unknownEvents(s idempotency.State, d unknownDomain) []Labelled[idempotency.Event] {
	var o offer[idempotency.Event]
	locked, _ := s.(idempotency.Locked)
	free, _ := s.(idempotency.Free)
	newest := max(locked.Lease, free.Lease)
	for l := range newest + 2 {
		if l != newest || l < lastLease {
			o.add(idempotency.LeaseExpired{Lease: l}, "LeaseExpired l=%d", l)
		}
	}
	for t := idempotency.Try(1); t <= onceTries; t++ {
		late := "Late"
		if holds(s, t) {
			late = ""
			if locked.Lease < lastLease && d.Status[t-1] != dead {
				o.add(dies{Try: t}, "Die t=%d", t)
			}
		}
		switch d.Status[t-1] {
		case hasLock:
			o.add(idempotency.Sending{Try: t}, "Sending%s t=%d", late, t)
			o.add(idempotency.GaveUp{Try: t}, "GaveUp%s t=%d", late, t)
		case processed:
			o.add(idempotency.Processed{Try: t, Response: idempotency.Response(t)}, "Processed%s t=%d", late, t)
			o.add(idempotency.GaveUp{Try: t}, "GaveUp%s t=%d", late, t)
		}
		if !d.checks(t) {
			continue
		}
		says := idempotency.Payload(1)
		if t == onceTries {
			says = 2
		}
		for _, safe := range []bool{false, true} {
			o.add(idempotency.Check{Try: t, Payload: says, Safe: safe}, "Check t=%d s=%t", t, safe)
		}
	}
	return o
}
