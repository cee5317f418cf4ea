package conform

// Plants every fault of one place into every machine's table, and checks that the comparison with its specification finds it.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

func TestMain(m *testing.M) {
	check.Main() // the checker is this program in a process of its own
	os.Exit(m.Run())
}

// planter is a Comparer that can be given faults: every Machine.
type planter interface {
	Comparer
	plant(*testing.T, *graph.Graph)
}

// TestEveryFaultOfEveryTable plants each one-place fault into a copy of each machine's
// table and sees that its spec differs from it.
func TestEveryFaultOfEveryTable(t *testing.T) {
	machines := 0
	for _, c := range All() {
		if p, is := c.(planter); is {
			machines++
			t.Run(c.Name(), func(t *testing.T) { p.plant(t, explored(t, c.Name())) })
		}
	}
	gomega.NewWithT(t).Expect(machines).To(gomega.BeNumerically(">", 0))
}

func explored(t *testing.T, name string) *graph.Graph {
	t.Helper()
	g := gomega.NewWithT(t)
	path := filepath.Join("..", "..", "specs", name+".fizz")
	src, err := os.ReadFile(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	file, err := parse.File(path, src)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	found, err := check.Spec(context.Background(), file, check.Options{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(found.Graph).NotTo(gomega.BeNil(), "explored in part: %s %s", found.Verdict, found.Assertion)
	return found.Graph
}

// fault is a change of what one row does.
type fault[S, F any] struct {
	what   string
	change func(from, next S, effects []F) (S, []F)
}

func (m Machine[S, E, F, D]) plant(t *testing.T, g *graph.Graph) {
	planted := 0
	expect := func(row int, what string, faulty machine.Table[S, E, F]) {
		r := m.Table[row]
		_, err := m.with(faulty).Compare(g)
		gomega.NewWithT(t).Expect(err).To(gomega.BeAssignableToTypeOf(&Difference{}),
			"%s + %s, %s%s: %s is not seen", r.From, r.Event, r.Action, r.Why, what)
		planted++
	}
	for i, row := range m.Table {
		expect(i, "deleted", m.Table.Mutate(i, nil))
		if row.Guard != "" {
			expect(i, "guard negated", m.Table.Negate(i))
		}
		for _, f := range m.faults(t, g, i) {
			expect(i, f.what, m.Table.Mutate(i, f.change))
		}
	}
	t.Logf("%d faults planted, all seen", planted)
}

func (m Machine[S, E, F, D]) with(table machine.Table[S, E, F]) Machine[S, E, F, D] {
	m.Table = table
	return m
}

// faults are the changes of a row that change what it does somewhere.
func (m Machine[S, E, F, D]) faults(t *testing.T, g *graph.Graph, row int) []fault[S, F] {
	t.Helper()
	type result struct {
		from, next S
		effects    []F
	}
	var taken []result
	var fields []int // of each effect, at the most
	_, err := m.with(m.Table.Mutate(row, func(from, next S, fx []F) (S, []F) {
		taken = append(taken, result{from, next, fx})
		for k, f := range fx {
			if k == len(fields) {
				fields = append(fields, 0)
			}
			fields[k] = max(fields[k], reflect.TypeOf(f).NumField())
		}
		return next, fx
	})).Compare(g)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())

	out := []fault[S, F]{{"next state held back", func(from, _ S, fx []F) (S, []F) { return from, fx }}}
	for k := range fields {
		out = append(out, effectFaults[S, F](k, fields[k])...)
	}
	return slices.DeleteFunc(out, func(f fault[S, F]) bool {
		return !slices.ContainsFunc(taken, func(r result) bool {
			next, effects := f.change(r.from, r.next, slices.Clone(r.effects))
			return next != r.next || !slices.Equal(effects, r.effects)
		})
	})
}

// effectFaults are what may be wrong with the effect at k, which has so many fields.
func effectFaults[S, F any](k, fields int) []fault[S, F] {
	var out []fault[S, F]
	add := func(what string, change func([]F) []F) {
		out = append(out, fault[S, F]{fmt.Sprintf("effect %d %s", k+1, what), func(_, next S, fx []F) (S, []F) {
			if k < len(fx) {
				fx = change(fx)
			}
			return next, fx
		}})
	}
	add("dropped", func(fx []F) []F { return slices.Delete(fx, k, k+1) })
	add("doubled", func(fx []F) []F { return slices.Insert(fx, k, fx[k]) })
	if k > 0 {
		add("swapped", func(fx []F) []F { fx[k-1], fx[k] = fx[k], fx[k-1]; return fx })
	}
	for field := range fields {
		add(fmt.Sprintf("field %d emptied", field+1), func(fx []F) []F {
			v := reflect.New(reflect.TypeOf(fx[k])).Elem()
			v.Set(reflect.ValueOf(fx[k]))
			if field < v.NumField() {
				v.Field(field).SetZero()
			}
			fx[k] = v.Interface().(F)
			return fx
		})
	}
	return out
}
