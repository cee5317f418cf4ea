package coordtest

// Mutants that change one value of a row's result: a field of the next state or of an effect.

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// field is one value that an effect carries: its name, and where it is.
type field struct {
	name string
	path []int
}

// fieldsOf lists the values in a struct, those of the structs in it one by one.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type.Kind() != reflect.Struct {
			out = append(out, field{Snake(f.Name), []int{i}})
			continue
		}
		for _, inner := range fieldsOf(f.Type) {
			out = append(out, field{Snake(f.Name) + "." + inner.name, append([]int{i}, inner.path...)})
		}
	}
	return out
}

// edit changes a value in place.
type edit struct {
	name  string
	apply func(reflect.Value)
}

const leftOut = "left out"

// edits are the ways in which a value may be wrong: another one, and none at all.
var edits = []edit{
	{"changed", func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
		case v.CanUint():
			v.SetUint(v.Uint() + 1)
		case v.CanInt():
			v.SetInt(v.Int() + 1)
		case v.Kind() == reflect.String:
			v.SetString(v.String() + "'")
		default:
			panic(fmt.Sprintf("a %s in an effect: the mutants do not know how to change it", v.Type()))
		}
	}},
	{leftOut, func(v reflect.Value) { v.SetZero() }},
}

// edited is f with one of its values edited.
func edited[F Value](f F, at field, by edit) F {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	by.apply(v.FieldByIndex(at.path))
	return v.Interface().(F)
}

// payload is an effect's place in a row, and its type: a row may choose between types.
type payload struct {
	row, nth int
	of       reflect.Type
}

// payloads makes a mutant for each value that an effect of the row carries, changed and left out. What would change
// nothing in the whole graph, because the value is never there, is no mutant.
func (sub Subject[S, E, F, G]) payloads(row int, g Graph[S, E, F]) []mutation[S, F] {
	var out []mutation[S, F]
	seen := map[payload]bool{}
	for _, e := range g.Edges {
		if e.Row != row {
			continue
		}
		for k, f := range e.Effects {
			at := payload{row, k, reflect.TypeOf(f)}
			if seen[at] {
				continue
			}
			seen[at] = true
			for _, field := range fieldsOf(at.of) {
				for _, by := range edits {
					if !changes(g, at, field, by) {
						continue
					}
					out = append(out, mutation[S, F]{
						fmt.Sprintf("effect %d, %s's %s %s", k+1, f.Name(), field.name, by.name),
						onEffect[S](k, func(f []F) []F {
							if reflect.TypeOf(f[k]) == at.of {
								f[k] = edited(f[k], field, by)
							}
							return f
						}),
					})
				}
			}
		}
	}
	return out
}

// changes says whether the edit makes any edge of the graph another one. A flag that is left out is one that is changed.
func changes[S, E, F Value](g Graph[S, E, F], at payload, field field, by edit) bool {
	if at.of.FieldByIndex(field.path).Type.Kind() == reflect.Bool && by.name == leftOut {
		return false
	}
	return slices.ContainsFunc(g.Edges, func(e machine.Edge[S, E, F]) bool {
		return e.Row == at.row && at.nth < len(e.Effects) && reflect.TypeOf(e.Effects[at.nth]) == at.of &&
			edited(e.Effects[at.nth], field, by) != e.Effects[at.nth]
	})
}
