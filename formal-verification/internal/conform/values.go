package conform

// Writes states of the code as the specifications write them: the values of the variables in JSON.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// JSON returns a value as the nodes of the graph write it.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("conform: %v is no value of a spec: %v", v, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// canon brings JSON texts into one spelling, so that spaces and escapes do not matter. It remembers the results.
type canon map[string]string

func (c canon) text(raw string) string {
	if out, known := c[raw]; known {
		return out
	}
	out := raw
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err == nil && !dec.More() {
		out = JSON(v)
	}
	c[raw] = out
	return out
}

// FieldsOf is Fields for all states of a machine: values is the function Values of its package.
func FieldsOf[S, E, F machine.Named](values func() ([]S, []E, []F)) func(S) map[string]string {
	states, _, _ := values()
	return Fields(states...)
}

// Fields returns the function Vars for a spec with one variable for each field of any state. "state" is the name of the state, and
// the other variables are the fields in snake case. A field that a state does not have is 0, false or "". A value with a String
// method is written by its name, a position by its place in playoutPositions.
func Fields[S machine.Named](states ...S) func(S) map[string]string {
	lacking := map[string]string{}
	for _, s := range states {
		eachField(s, func(name string, field reflect.Value) { lacking[name] = fieldText(reflect.Zero(field.Type())) })
	}
	return func(s S) map[string]string {
		out := map[string]string{"state": JSON(s.Name())}
		for name, zero := range lacking {
			out[name] = zero
		}
		eachField(s, func(name string, field reflect.Value) { out[name] = fieldText(field) })
		return out
	}
}

func eachField(s any, visit func(string, reflect.Value)) {
	r := reflect.ValueOf(s)
	for i := range r.NumField() {
		visit(coordtest.Snake(r.Type().Field(i).Name), r.Field(i))
	}
}

func fieldText(field reflect.Value) string {
	switch v := field.Interface().(type) {
	case playout.Position:
		return JSON(slices.Index(playoutPositions, v))
	case fmt.Stringer:
		if field.IsZero() {
			return JSON("")
		}
		return JSON(v.String())
	}
	return JSON(field.Interface())
}

// record returns variables as one record. Their values are in JSON.
func record(fields map[string]string) string {
	out := map[string]json.RawMessage{}
	for name, v := range fields {
		out[name] = json.RawMessage(v)
	}
	return JSON(out)
}

// genOf returns the field Gen of a machine's state, or 0 if the state has none.
func genOf(state machine.Named) uint32 {
	if gen := reflect.ValueOf(state).FieldByName("Gen"); gen.IsValid() {
		return uint32(gen.Uint())
	}
	return 0
}

// Alter returns a copy of a state, an event or an effect. change may set the fields of the copy.
func Alter[V machine.Named](v V, change func(reflect.StructField, reflect.Value)) V {
	t := reflect.TypeOf(v)
	if t.NumField() == 0 {
		return v
	}
	known, is := fieldsOf.Load(t)
	if !is {
		known, _ = fieldsOf.LoadOrStore(t, reflect.VisibleFields(t))
	}
	altered := reflect.New(t).Elem()
	altered.Set(reflect.ValueOf(v))
	for i, field := range known.([]reflect.StructField) {
		change(field, altered.Field(i))
	}
	return altered.Interface().(V)
}

// fieldsOf has the fields of each type that was altered. Alter is called millions of times.
var fieldsOf sync.Map
