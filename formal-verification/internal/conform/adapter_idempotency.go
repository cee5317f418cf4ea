package conform

// The adapters of idempotency.fizz and idempotency_unknown.fizz: compare them with the table of internal/coord/idempotency. The tries of a key are the specs'.

import (
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

// The sizes of specs/idempotency_unknown.fizz.
const (
	onceTries = 3
	lastLease = 2 // LAST: it does not run out
)

// tries has the variables of idempotency_unknown.fizz that say what may come of each try.
type tries struct {
	Tries  [onceTries]string
	Asleep [onceTries]bool
}

// keyFields returns the variables of a key. A spec cannot have one that is named try.
func keyFields(s idempotency.State) map[string]string {
	out := allKeyFields(s)
	out["holder"] = out["try"]
	delete(out, "try")
	return out
}

var allKeyFields = FieldsOf(idempotency.Values)

// twoKeys is the adapter of idempotency.fizz: two keys that have nothing in common.
type twoKeys struct{ offers *Offers }

func (twoKeys) Name() string { return "idempotency" }

// Compare compares each step of the spec with the table of its key.
func (k twoKeys) Compare(g *graph.Graph) (Figures, error) {
	type keys = [2]idempotency.State
	return Part[keys, idempotency.Effect]{
		Spec: k.Name(), Starts: []keys{{idempotency.Free{}, idempotency.Free{}}},
		Step: func(s keys, step move) (keys, []idempotency.Effect, string) {
			try := step.number("t")
			of := (try - 1) / 2
			event := triesKey(step.Action, idempotency.Try(try))
			if event == nil {
				return s, nil, ""
			}
			if k.offers != nil {
				k.offers.note(k.Name(), s[of], event)
			}
			next, effects, row := idempotency.Table.Next(s[of], event)
			if row < 0 {
				return s, nil, NoRow
			}
			s[of] = next
			return s, effects, idempotency.Table[row].Why
		},
		Vars: func(s keys) map[string]string {
			out := keyFields(s[0])
			for name, second := range keyFields(s[1]) {
				out[name] = "[" + out[name] + "," + second + "]"
			}
			delete(out, "safe") // no operation is declared safe
			return out
		},
		Ghosts: []string{"tries", "asleep", "got"},
	}.Compare(g)
}

// triesKey returns what an action of idempotency.fizz is for the key of a try. The key does not see that a try reaches the proxy.
func triesKey(action string, t idempotency.Try) idempotency.Event {
	switch action {
	case "Lock", "Wait", "GetCache":
		return idempotency.Check{Try: t, Payload: 1}
	case "HitServer":
		return idempotency.Sending{Try: t}
	case "Cache":
		return idempotency.Processed{Try: t, Response: idempotency.Response(t)}
	}
	return nil
}

// dies is what the spec has beside the table, for the driver: the holder's node is gone.
// The key does not see it.
type dies struct {
	idempotency.Event
	Try idempotency.Try
}

func (dies) Name() string { return "Die" }

// idempotencyUnknown is one key whose holders may die or be slow.
func idempotencyUnknown() Comparer {
	table := machine.Join(idempotency.Table, []machine.Row[idempotency.State, idempotency.Event, idempotency.Effect]{
		machine.On[idempotency.State, idempotency.Event](
			"Die", func(s idempotency.Locked, _ dies) (idempotency.Locked, []idempotency.Effect) { return s, nil }),
	})
	m := watched("idempotency_unknown", table, idempotency.Monitor, idempotency.State(idempotency.Free{}), idempotency.Values, nil, nil)
	m.Ghosts = []string{"tries", "asleep", "event", "was"}
	m.EventsAt = func(s idempotency.State, at graph.Node) []Labelled[idempotency.Event] {
		return unknownEvents(s, decoded[tries](at.Vars))
	}
	m.Vars = func(s idempotency.State, w world[idempotency.State, idempotency.Seen]) map[string]string {
		return ghosts(keyFields(s), map[string]any{
			"risked": w.Seen.Risked, "open": max(w.Seen.Doubt, ifSo(w.Seen.Sent && !w.Seen.Safe, w.Seen.Holder)),
		})
	}
	return m
}

// unknownEvents offers what each try may do next, whether it holds the lock or has lost
// it, and leases that are over, running and never taken.
func unknownEvents(s idempotency.State, all tries) []Labelled[idempotency.Event] {
	var o offer[idempotency.Event]
	locked, _ := s.(idempotency.Locked)
	free, _ := s.(idempotency.Free)
	newest := max(locked.Lease, free.Lease)
	for l := range newest + 2 {
		if l != newest || l < lastLease {
			o.add(idempotency.LeaseExpired{Lease: l}, "LeaseExpired l=%d", l)
		}
	}
	for i, status := range all.Tries {
		t, late := idempotency.Try(i+1), "Late"
		if locked.Try == t {
			late = ""
			if locked.Lease < lastLease && status != "dead" {
				o.add(dies{Try: t}, "Die t=%d", t)
			}
		}
		switch status {
		case "lock":
			o.add(idempotency.Sending{Try: t}, "Sending%s t=%d", late, t)
			o.add(idempotency.GaveUp{Try: t}, "GaveUp%s t=%d", late, t)
		case "processed":
			o.add(idempotency.Processed{Try: t, Response: idempotency.Response(t)}, "Processed%s t=%d", late, t)
			o.add(idempotency.GaveUp{Try: t}, "GaveUp%s t=%d", late, t)
		}
		if status != "inProxy" || all.Asleep[i] {
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
