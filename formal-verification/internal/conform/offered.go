package conform

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// What an adapter never offers the code: states in which it never sends an event, events that it never sends in a state, and
// values that it never gives the field of an event. The comparison cannot see a fault that shows there alone, so this list is
// what the comparison takes on trust. specs/never_offered.txt has it.

// Offers is what one adapter offered the machines of its code.
type Offers struct {
	pairs map[string][]pair   // by machine: every state with every event that its table has
	met   map[string]bool     // "machine State"
	sent  map[string]bool     // "machine State Event"
	given map[string]bool     // "machine State Event field=class"
	open  map[string][]string // "machine State Event": the classes of its fields
}

// pair is a state and an event of a table, by their names.
type pair struct{ state, event string }

func newOffers() *Offers {
	return &Offers{
		pairs: map[string][]pair{}, met: map[string]bool{}, sent: map[string]bool{}, given: map[string]bool{}, open: map[string][]string{},
	}
}

// pairsOf returns every state with every event that the table has a row for, each pair once.
func pairsOf[S, E machine.Named, F any](t machine.Table[S, E, F]) []pair {
	var out []pair
	for _, row := range t {
		if p := (pair{row.From, row.Event}); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// note notes that a machine in a state was sent an event.
func (o *Offers) note(name string, state, event machine.Named) {
	at := name + " " + state.Name()
	o.met[at] = true
	key := at + " " + event.Name()
	first := !o.sent[key]
	o.sent[key] = true
	for _, c := range classes(state, event) {
		o.given[key+" "+c.field+"="+c.has] = true
		if first {
			for _, v := range c.may {
				o.open[key] = append(o.open[key], c.field+"="+v)
			}
		}
	}
}

// class says what a field of an event has, as a state sees it, and what it may have.
type class struct {
	field, has string
	may        []string
}

// classes returns the classes of an event's fields. An identifier is the state's own or another; where the state has none of its
// type, it has no class.
func classes(state, event machine.Named) []class {
	var out []class
	v := reflect.ValueOf(event)
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		if c, has := classOf(state, f, t); has {
			c.field = coordtest.Snake(t.Name)
			out = append(out, c)
		}
	}
	return out
}

func classOf(state machine.Named, f reflect.Value, t reflect.StructField) (class, bool) {
	named, _ := f.Interface().(fmt.Stringer)
	switch {
	case !t.IsExported() || t.Anonymous:
		return class{}, false
	case f.Kind() == reflect.Bool:
		return class{has: fmt.Sprint(f.Bool()), may: []string{"false", "true"}}, true
	case f.Kind() == reflect.Uint8 && named != nil:
		return class{has: named.String(), may: names(f.Type())}, true
	case f.Kind() == reflect.Uint64, t.Name == "Gen":
		own := ofType(state, f.Type(), t.Name)
		has := "another"
		if slices.ContainsFunc(own, func(v reflect.Value) bool { return v.Uint() == f.Uint() }) {
			has = "its own"
		}
		return class{has: has, may: []string{"its own", "another"}}, len(own) > 0
	}
	has := "something"
	if f.IsZero() {
		has = "nothing"
	}
	return class{has: has, may: []string{"nothing", "something"}}, true
}

// names returns the names of an enumeration's values, which are counted from 1. Its String says "none" of what is no value.
func names(t reflect.Type) []string {
	var out []string
	for i := uint64(1); i < 32; i++ {
		v := reflect.New(t).Elem()
		v.SetUint(i)
		name := v.Interface().(fmt.Stringer).String()
		if name == "none" || slices.Contains(out, name) {
			break
		}
		out = append(out, name)
	}
	return out
}

// ofType returns the fields of a state that an identifier of that type may name: those of its type, of a generation the Gen.
func ofType(state machine.Named, t reflect.Type, name string) []reflect.Value {
	var out []reflect.Value
	v := reflect.ValueOf(state)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Type == t && (name != "Gen" || f.Name == name) {
			out = append(out, v.Field(i))
		}
	}
	return out
}

// Missing returns what was never offered, by "machine State": the names of events, with a field and its value where the event
// was sent with other values. A state in which no event was ever sent has the word "never" alone.
func (o *Offers) Missing() map[string][]string {
	out := map[string][]string{}
	for name, pairs := range o.pairs {
		for _, p := range pairs {
			at := name + " " + p.state
			key := at + " " + p.event
			switch {
			case !o.met[at]:
				out[at] = []string{never}
			case !o.sent[key]:
				out[at] = append(out[at], p.event)
			default:
				for _, c := range o.open[key] {
					if !o.given[key+" "+c] {
						out[at] = append(out[at], p.event+" "+c)
					}
				}
			}
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// never stands for all events of a state in which none was sent.
const never = "never"

// Together returns what several adapters offered together.
func Together(all ...*Offers) *Offers {
	out := newOffers()
	for _, o := range all {
		maps.Copy(out.pairs, o.pairs)
		maps.Copy(out.met, o.met)
		maps.Copy(out.sent, o.sent)
		maps.Copy(out.given, o.given)
		for key, classes := range o.open {
			for _, c := range classes {
				if !slices.Contains(out.open[key], c) {
					out.open[key] = append(out.open[key], c)
				}
			}
		}
	}
	return out
}

// --- what records the offers

// recorder is a Comparer that can note what it offers.
type recorder interface {
	recorded(*Offers) Comparer
}

// CompareAndList is Compare; it also returns what the adapter offered on the way. Each kind of Comparer here can tell.
func CompareAndList(c Comparer, g *graph.Graph) (Figures, *Offers, error) {
	o := newOffers()
	if r, is := c.(recorder); is {
		c = r.recorded(o)
	}
	figures, err := c.Compare(g)
	return figures, o, err
}

func (m Machine[S, E, F, D]) recorded(o *Offers) Comparer {
	m.offers = o
	o.pairs[m.Spec] = pairsOf(m.Table)
	return m
}

func (m withContract) recorded(o *Offers) Comparer {
	m.offers = o
	o.pairs[m.Spec] = pairsOf(m.Table)
	return m
}

func (k twoKeys) recorded(o *Offers) Comparer {
	o.pairs[k.Name()] = pairsOf(idempotency.Table)
	return twoKeys{offers: o}
}

func (a sessionSpec) recorded(o *Offers) Comparer {
	a.Next = o.composition(a.Next)
	return a
}

// composition is next, and what it tells each machine is noted.
func (o *Offers) composition(next nextFunc) nextFunc {
	for name, pairs := range map[string][]pair{
		"conn": pairsOf(conn.Table), "turn": pairsOf(turn.Table), "response": pairsOf(response.Table),
		"playout": pairsOf(playout.Table), "synthesis": pairsOf(synthesis.Table), "transcription": pairsOf(transcription.Table),
		"transcription.final": pairsOf(transcription.Table), "transcription.older": pairsOf(transcription.Table),
		"settings": allSettings(),
	} {
		o.pairs[name] = pairs
	}
	return func(s session.State, at playout.Position, e session.Event) (session.State, []session.Effect, []session.Step) {
		to, effects, steps := next(s, at, e)
		for _, st := range steps {
			if slices.Contains(o.pairs[st.Machine], pair{st.From.Name(), st.Event.Name()}) { // else it was given its state
				o.note(st.Machine, st.From, st.Event)
			}
		}
		if change, is := e.(session.Configure); is {
			o.note("settings", settingsOf(s.Config), settingsOf(change.Config))
		} else {
			o.met["settings "+settingsOf(s.Config).Name()] = true
		}
		return to, effects, steps
	}
}

// settings are the settings that are on, as a state and as an event: "interrupt+reports".
type settings string

func (s settings) Name() string { return string(s) }

func settingsOf(c session.Config) settings {
	var on []string
	for _, part := range []struct {
		on   bool
		name string
	}{{c.Interrupt, "interrupt"}, {c.CreateResponse, "create_response"}, {c.Reports, "reports"}} {
		if part.on {
			on = append(on, part.name)
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return settings(strings.Join(on, "+"))
}

func allSettings() []pair {
	var all []string
	for i := range 8 {
		all = append(all, settingsOf(session.Config{Interrupt: i&4 != 0, CreateResponse: i&2 != 0, Reports: i&1 != 0}).Name())
	}
	var out []pair
	for _, from := range all {
		for _, to := range all {
			if from != to {
				out = append(out, pair{from, to})
			}
		}
	}
	return out
}

func (b *bargeinExchange) recorded(o *Offers) Comparer {
	copied := *b
	copied.next = o.composition(b.next)
	o.pairs["bargein"] = pairsOf(b.table)
	copied.offered = func(s bargein.State, e bargein.Event) { o.note("bargein", s, e) }
	return &copied
}

func (a viewClient) recorded(o *Offers) Comparer {
	o.pairs["view"] = pairsOf(view.Table)
	next := a.next
	a.next = func(s view.State, e view.Event) view.State {
		o.note("view", s, e)
		return next(s, e)
	}
	return a
}
