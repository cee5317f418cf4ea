package trace

// Compares a step of a trace with a specification, whatever its identifiers are.

import (
	"cmp"
	"fmt"
	"maps"
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

// Spec has the steps of a machine's spec: for each state and event of its small domain, the whole steps. All are in a form without the identifiers.
type Spec struct {
	machine string
	steps   map[string]map[string]bool
	most    map[string]map[*sort]uint64 // by state and event: the highest number of each sort in a step
	sliced  *conform.Sliced             // where it is one of the whole session's
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
		s := &Spec{machine: name, steps: map[string]map[string]bool{}, most: map[string]map[*sort]uint64{}}
		err := walks.Steps(g, func(from, event, to machine.Named, effects []machine.Named) {
			st := step{from: from, event: event, to: to, effects: effects}
			asked, whole := st.forms()
			if s.steps[asked] == nil {
				s.steps[asked], s.most[asked] = map[string]bool{}, map[*sort]uint64{}
			}
			s.steps[asked][whole] = true
			for of, n := range st.highest() {
				s.most[asked][of] = max(s.most[asked][of], n)
			}
		})
		if err != nil {
			return nil, fmt.Errorf("read the steps of the spec %s: %w", name, err)
		}
		return s, nil
	}
	return nil, fmt.Errorf("there is no adapter for the spec %s", name)
}

// answer is the result of looking up a step in the spec.
type answer struct {
	beyond bool   // the spec does not go that far
	what   string // how it differs, or ""
}

// sort is a sort of values that a machine only compares with each other. In the form of a step they are numbered, so that equal values stay equal
// and different values stay different. 0 is no identifier and no generation, and stays 0, unless the sort has the value 0.
type sort struct {
	zero    bool // 0 is a value
	ordered bool // the order of the values counts, and not only whether they are equal
	counted bool // whether a value comes right after another one counts
}

// The sorts that a type alone does not tell.
var (
	generations = &sort{ordered: true}
	clauses     = &sort{ordered: true, zero: true}
	waits       = &sort{}
	reasons     = &sort{}
	statuses    = &sort{}
)

// sorts has the sorts of types.
var sorts = map[reflect.Type]*sort{
	reflect.TypeFor[machine.Response]():     {ordered: true},
	reflect.TypeFor[machine.Turn]():         {ordered: true},
	reflect.TypeFor[playout.Position]():     {zero: true},
	reflect.TypeFor[machine.Request]():      {},
	reflect.TypeFor[journal.Record]():       {ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Attempt]():          {ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Interaction]():      {ordered: true},
	reflect.TypeFor[run.Session]():          {},
	reflect.TypeFor[run.Seq]():              {ordered: true, zero: true, counted: true},
	reflect.TypeFor[run.Result]():           {},
	reflect.TypeFor[run.Millis]():           {},
	reflect.TypeFor[idempotency.Try]():      {},
	reflect.TypeFor[idempotency.Lease]():    {ordered: true, zero: true, counted: true},
	reflect.TypeFor[idempotency.Payload]():  {},
	reflect.TypeFor[idempotency.Response](): {},
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

// numbers returns the number of each value of each sort in a step.
func (s step) numbers() map[*sort]map[any]uint64 {
	values := map[*sort][]any{} // as they are first met
	s.fields(func(of *sort, v reflect.Value) {
		if (of.zero || !v.IsZero()) && !slices.Contains(values[of], v.Interface()) {
			values[of] = append(values[of], v.Interface())
		}
	})
	numbers := map[*sort]map[any]uint64{}
	for of, all := range values {
		if of.ordered {
			slices.SortFunc(all, func(a, b any) int { return cmp.Compare(reflect.ValueOf(a).Uint(), reflect.ValueOf(b).Uint()) })
		}
		numbers[of] = map[any]uint64{}
		number := uint64(0)
		for i, v := range all {
			number++
			if of.counted && i > 0 && reflect.ValueOf(v).Uint() != reflect.ValueOf(all[i-1]).Uint()+1 {
				number++ // a gap
			}
			numbers[of][v] = number
		}
	}
	return numbers
}

// highest returns the highest number of each sort in a step.
func (s step) highest() map[*sort]uint64 {
	highest := map[*sort]uint64{}
	for of, numbers := range s.numbers() {
		highest[of] = slices.Max(slices.Collect(maps.Values(numbers)))
	}
	return highest
}

// form returns the step with numbers in place of its values.
func (s step) form() step {
	numbers := s.numbers()
	return s.fields(func(of *sort, v reflect.Value) {
		number, is := numbers[of][v.Interface()]
		if !is {
			return // it is 0
		}
		if v.Kind() == reflect.Struct {
			v.SetZero()
			v = v.Field(0)
		}
		v.SetUint(number)
	})
}

// forms returns the text of the state and the event, and that of the whole step.
func (s step) forms() (asked, whole string) {
	begins := step{from: s.from, event: s.event, to: s.from}.form()
	all := s.form()
	asked = coordtest.Text(begins.from) + " + " + coordtest.Text(begins.event)
	whole = coordtest.Text(all.from) + " + " + coordtest.Text(all.event) + " goes to " + coordtest.Text(all.to) + " with" + texts(all.effects)
	return asked, whole
}

// ask looks up a step of the code in the spec. A machine takes the same step for all identifiers.
func (s *Spec) ask(st step) answer {
	asked, whole := st.forms()
	known := s.steps[asked]
	switch {
	case len(known) == 0:
		return answer{beyond: true}
	case known[whole]:
		return answer{}
	}
	for of, n := range st.highest() {
		if of.counted && n > s.most[asked][of] { // the spec has no values so far apart
			return answer{beyond: true}
		}
	}
	return answer{what: "in the spec " + strings.Join(slices.Sorted(maps.Keys(known)), ", or ") + "; in the code " + whole}
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
