package trace

// Compares a step of a trace with a specification. It first renames the identifiers of the step to those of the specification.

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// Spec has the steps of a machine's spec: for each state and event of its small domain, the next state and the effects.
type Spec struct {
	machine string
	steps   map[string]string
	known   map[string]answer
	sliced  *conform.Sliced // where it is one of the whole session's
}

// NewSpec takes the steps of a machine from its spec's graph, with the adapter that compares the spec with the code. It returns an
// error if the spec differs from the code.
func NewSpec(name string, g *graph.Graph) (*Spec, error) {
	if sliced, is, err := conform.NewSliced(name, g); is {
		if err != nil {
			return nil, fmt.Errorf("read the steps of the spec %s: %w", name, err)
		}
		return &Spec{machine: name, sliced: sliced}, nil
	}
	for _, m := range conform.All() {
		walks, is := m.(interface {
			Steps(*graph.Graph, func(from, event, to machine.Named, effects []machine.Named)) error
		})
		if m.Name() != name || !is {
			continue
		}
		s := &Spec{machine: name, steps: map[string]string{}, known: map[string]answer{}}
		err := walks.Steps(g, func(from, event, to machine.Named, effects []machine.Named) {
			s.steps[asked(from, event)] = told(to, effects)
		})
		if err != nil {
			return nil, fmt.Errorf("read the steps of the spec %s: %w", name, err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("there is no adapter for the spec %s", name)
}

func asked(from, event machine.Named) string {
	return coordtest.Text(from) + " + " + coordtest.Text(event)
}

func told(to machine.Named, effects []machine.Named) string {
	return coordtest.Text(to) + " with" + texts(effects)
}

// answer is the result of looking up a step in the spec.
type answer struct {
	beyond bool   // the spec does not go that far
	what   string // how it differs, or ""
}

// sort is a sort of values of which a spec has only a few: those to which the values of a step are renamed. All values of one sort are
// renamed together, so that equal values stay equal and different values stay different. 0 is no identifier and no generation, and
// stays 0, unless the sort has the value 0.
type sort struct {
	few     []any
	zero    bool // 0 is a value
	ordered bool // the order of the values counts, and not only whether they are equal
	counted bool // whether a value comes right after another one counts
}

// The sorts that a type alone does not tell.
var (
	generations = &sort{few: count[uint32](1, 3), ordered: true}
	clauses     = &sort{few: count[uint32](1, 2), ordered: true, zero: true}
	waits       = &sort{few: count[uint32](4000, 4000)}
	reasons     = &sort{few: []any{conn.ByClient, conn.ServerStops, conn.GraceOver}}
	statuses    = &sort{few: []any{response.Completed, response.Failed}}
)

// requests are those of a client, and those of a turn.
var requests = []any{
	machine.Request{Client: 1},
	machine.Request{Client: 2},
	machine.Request{Client: 3},
	machine.Request{Turn: 1},
	machine.Request{Turn: 2},
	machine.Request{Turn: 3},
}

// sorts has the sorts of types.
var sorts = map[reflect.Type]*sort{
	reflect.TypeFor[machine.Response]():     {few: count[machine.Response](1, 3), ordered: true},
	reflect.TypeFor[machine.Turn]():         {few: count[machine.Turn](1, 3), ordered: true},
	reflect.TypeFor[playout.Position]():     {few: []any{playout.Position{}, playout.Position{Item: 1, MS: 500}, playout.Position{Item: 2, MS: 40}}, zero: true},
	reflect.TypeFor[machine.Request]():      {few: requests},
	reflect.TypeFor[journal.Record]():       {few: count[journal.Record](0, 5), ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Attempt]():          {few: count[run.Attempt](0, 7), ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Interaction]():      {few: count[run.Interaction](1, 3), ordered: true},
	reflect.TypeFor[run.Session]():          {few: count[run.Session](1, 2)},
	reflect.TypeFor[run.Seq]():              {few: count[run.Seq](0, 12), ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Result]():           {few: count[run.Result](1, 1)},
	reflect.TypeFor[run.Millis]():           {few: count[run.Millis](7, 7)},
	reflect.TypeFor[idempotency.Try]():      {few: count[idempotency.Try](1, 3)},
	reflect.TypeFor[idempotency.Lease]():    {few: count[idempotency.Lease](0, 3), ordered: true, zero: true, counted: true},
	reflect.TypeFor[idempotency.Payload]():  {few: count[idempotency.Payload](1, 2)},
	reflect.TypeFor[idempotency.Response](): {few: count[idempotency.Response](1, 3)},
}

// count returns the numbers from least to most.
func count[N ~uint32 | ~uint64](least, most N) (all []any) {
	for n := least; n <= most; n++ {
		all = append(all, n)
	}
	return all
}

// sortOf returns the sort of a field in a step of event, or nil.
func sortOf(f reflect.StructField, event machine.Named) *sort {
	if of, known := sorts[f.Type]; known {
		return of
	}
	switch f.Type {
	case reflect.TypeFor[conn.Reason]():
		if _, expired := event.(conn.GraceExpired); !expired { // there it is the row's
			return reasons
		}
	case reflect.TypeFor[response.Status]():
		if _, ended := event.(response.BodyEnded); ended { // elsewhere it is the row's
			return statuses
		}
	}
	switch f.Name {
	case "Gen":
		return generations
	case "Clause":
		return clauses
	case "MS", "FallbackMS":
		return waits
	}
	return nil
}

// names has the values of each sort in a step, in order if it has one.
type names struct {
	sorts  []*sort // as they are first met
	values map[*sort][]any
}

// fields returns a copy of a step. visit may set every field of the copy that has a sort.
func (s step) fields(visit func(*sort, reflect.Value)) step {
	copied := func(v machine.Named) machine.Named {
		return conform.Alter(v, func(f reflect.StructField, field reflect.Value) {
			if of := sortOf(f, s.event); of != nil {
				visit(of, field)
			}
		})
	}
	out := s
	out.from, out.event, out.to = copied(s.from), copied(s.event), copied(s.to)
	out.effects = nil
	for _, f := range s.effects {
		out.effects = append(out.effects, copied(f))
	}
	return out
}

func (s step) names() names {
	found := names{values: map[*sort][]any{}}
	s.fields(func(of *sort, v reflect.Value) {
		if !of.zero && v.IsZero() || slices.Contains(found.values[of], v.Interface()) {
			return
		}
		if found.values[of] == nil {
			found.sorts = append(found.sorts, of)
		}
		found.values[of] = append(found.values[of], v.Interface())
	})
	for _, of := range found.sorts {
		if of.ordered {
			slices.SortFunc(found.values[of], func(a, b any) int { return cmp.Compare(reflect.ValueOf(a).Uint(), reflect.ValueOf(b).Uint()) })
		}
	}
	return found
}

// ask looks up a step of the code in the spec. It tries every renaming that keeps the meaning of the step. One that the spec has
// is enough, because a machine takes the same step for all identifiers.
func (s *Spec) ask(st step) answer {
	key := asked(st.from, st.event) + " = " + told(st.to, st.effects)
	if a, known := s.known[key]; known {
		return a
	}
	a := answer{beyond: true}
	renamings(st.names(), func(to map[*sort]map[any]any) bool {
		small := st.fields(func(of *sort, v reflect.Value) {
			if name, is := to[of][v.Interface()]; is {
				v.Set(reflect.ValueOf(name))
			}
		})
		want, known := s.steps[asked(small.from, small.event)]
		if !known {
			return true
		}
		a.beyond = false
		got := told(small.to, small.effects)
		if want == got {
			a.what = ""
			return false
		}
		a.what = asked(small.from, small.event) + ": the spec goes to " + want + ", the code to " + got
		return true
	})
	s.known[key] = a
	return a
}

// renamings calls try with every renaming of the values into their domains, until try returns false.
func renamings(found names, try func(map[*sort]map[any]any) bool) {
	to := map[*sort]map[any]any{}
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(found.sorts) {
			return try(to)
		}
		of := found.sorts[i]
		return namings(found.values[of], of.few, of.ordered, func(m map[any]any) bool {
			to[of] = m
			return of.counted && !keepsNext(found.values[of], m) || next(i+1)
		})
	}
	next(0)
}

// keepsNext reports whether two values that follow each other still do after the renaming m, and no others. values is sorted.
func keepsNext(values []any, m map[any]any) bool {
	follows := func(a, b any) bool { return reflect.ValueOf(a).Uint()+1 == reflect.ValueOf(b).Uint() }
	for i := 1; i < len(values); i++ {
		if follows(values[i-1], values[i]) != follows(m[values[i-1]], m[values[i]]) {
			return false
		}
	}
	return true
}

// namings calls try with every injection of values into names, in order if ordered is true, until try returns false.
func namings(values, into []any, ordered bool, try func(map[any]any) bool) bool {
	used := make([]bool, len(into))
	m := map[any]any{}
	var next func(i, least int) bool
	next = func(i, least int) bool {
		if i == len(values) {
			return try(m)
		}
		for k := range into {
			if used[k] || ordered && k < least {
				continue
			}
			used[k], m[values[i]] = true, into[k]
			goOn := next(i+1, k+1)
			used[k] = false
			if !goOn {
				return false
			}
		}
		return true
	}
	return next(0, 0)
}

// specified compares a step with the machine's spec, if there is one.
func (c *Checker) specified(name string, st step) error {
	s := c.specs[specOf(name)]
	if s == nil || kept[st.why] { // what never reached the machine, its spec cannot know
		return nil
	}
	a := s.ask(st)
	switch {
	case a.beyond:
		c.figures.Beyond++
	case a.what != "":
		return fmt.Errorf("it is no step of the spec: %s", strings.TrimSpace(a.what))
	default:
		c.figures.Specified++
	}
	return nil
}
