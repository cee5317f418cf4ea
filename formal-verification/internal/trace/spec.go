package trace

// Compares a step of a trace with a specification. It first renames the identifiers of the step to those of the specification.

import (
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

// The sorts of values of which a spec has only a few. All values of one sort are renamed together, so that equal values stay equal
// and different values stay different. Sorts with an order keep it.
type sort uint8

const (
	none sort = iota
	responses
	turns
	generations
	clauses
	marks
	reasons
	statuses
	waits
	requests
	records
	attempts
	questions
	handles
	seqs
	results
	times
	tries
	leases
	payloads
	answers
)

// domain has the values to which the values of a sort are renamed. 0 is no identifier and no generation, and stays 0, unless the sort has the value 0.
var domain = map[sort][]any{
	responses:   {machine.Response(1), machine.Response(2), machine.Response(3)},
	turns:       {machine.Turn(1), machine.Turn(2), machine.Turn(3)},
	generations: {uint32(1), uint32(2), uint32(3)},
	clauses:     {uint32(1), uint32(2)},
	marks:       {playout.Position{}, playout.Position{Item: 1, MS: 500}, playout.Position{Item: 2, MS: 40}},
	reasons:     {conn.ByClient, conn.ServerStops, conn.GraceOver},
	statuses:    {response.Completed, response.Failed},
	waits:       {uint32(4000)},
	requests: {
		machine.Request{Client: 1},
		machine.Request{Client: 2},
		machine.Request{Client: 3},
		machine.Request{Turn: 1},
		machine.Request{Turn: 2},
		machine.Request{Turn: 3},
	},
	records:   count[journal.Record](0, 5),
	attempts:  count[run.Attempt](0, 7),
	questions: count[run.Interaction](1, 3),
	handles:   count[run.Session](1, 2),
	seqs:      count[run.Seq](0, 12),
	results:   count[run.Result](1, 1),
	times:     count[run.Millis](7, 7),
	tries:     count[idempotency.Try](1, 3),
	leases:    count[idempotency.Lease](0, 3),
	payloads:  count[idempotency.Payload](1, 2),
	answers:   count[idempotency.Response](1, 3),
}

// count returns the numbers from least to most.
func count[N ~uint64](least, most N) (all []any) {
	for n := least; n <= most; n++ {
		all = append(all, n)
	}
	return all
}

// Properties of sorts.
var (
	zeros     = []sort{marks, clauses, records, attempts, seqs, leases}                                              // 0 is a value
	unordered = []sort{requests, marks, reasons, statuses, waits, handles, results, times, tries, payloads, answers} // only equality counts
	counted   = []sort{records, attempts, seqs, leases}                                                              // whether a value comes right after another one counts
)

// sorts has the sorts of types.
var sorts = map[reflect.Type]sort{
	reflect.TypeFor[machine.Response]():     responses,
	reflect.TypeFor[machine.Turn]():         turns,
	reflect.TypeFor[playout.Position]():     marks,
	reflect.TypeFor[machine.Request]():      requests,
	reflect.TypeFor[journal.Record]():       records,
	reflect.TypeFor[run.Attempt]():          attempts,
	reflect.TypeFor[run.Interaction]():      questions,
	reflect.TypeFor[run.Session]():          handles,
	reflect.TypeFor[run.Seq]():              seqs,
	reflect.TypeFor[run.Result]():           results,
	reflect.TypeFor[run.Millis]():           times,
	reflect.TypeFor[idempotency.Try]():      tries,
	reflect.TypeFor[idempotency.Lease]():    leases,
	reflect.TypeFor[idempotency.Payload]():  payloads,
	reflect.TypeFor[idempotency.Response](): answers,
}

// sortOf returns the sort of a field in a step of event.
func sortOf(f reflect.StructField, event machine.Named) sort {
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
	return none
}

// names has the values of each sort in a step, in order.
type names map[sort][]any

// fields calls visit for every field of a step that has a sort.
func (s step) fields(visit func(sort, reflect.Value)) step {
	copied := func(v machine.Named) machine.Named {
		r := reflect.New(reflect.TypeOf(v)).Elem()
		r.Set(reflect.ValueOf(v))
		for i := range r.NumField() {
			if of := sortOf(r.Type().Field(i), s.event); of != none {
				visit(of, r.Field(i))
			}
		}
		return r.Interface().(machine.Named)
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
	found := names{}
	s.fields(func(of sort, v reflect.Value) {
		if (slices.Contains(zeros, of) || !v.IsZero()) && !slices.Contains(found[of], v.Interface()) {
			found[of] = append(found[of], v.Interface())
		}
	})
	for of := range found {
		if of == waits || ordered(of) {
			slices.SortFunc(found[of], func(a, b any) int {
				x, y := reflect.ValueOf(a).Uint(), reflect.ValueOf(b).Uint()
				if x < y {
					return -1
				}
				return 1
			})
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
	renamings(st.names(), func(to map[sort]map[any]any) bool {
		small := st.fields(func(of sort, v reflect.Value) {
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
func renamings(found names, try func(map[sort]map[any]any) bool) {
	all := make([]sort, 0, len(found))
	for of := range found {
		all = append(all, of)
	}
	slices.Sort(all)
	to := map[sort]map[any]any{}
	var next func(i int) bool
	next = func(i int) bool {
		if i == len(all) {
			return try(to)
		}
		return namings(found[all[i]], domain[all[i]], ordered(all[i]), func(m map[any]any) bool {
			to[all[i]] = m
			return slices.Contains(counted, all[i]) && !keepsNext(found[all[i]], m) || next(i+1)
		})
	}
	next(0)
}

func ordered(of sort) bool { return !slices.Contains(unordered, of) }

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
