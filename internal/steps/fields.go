package steps

// The flat form: states or events as a record has them, in one struct for all of a machine.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Flat turns the states or the events of a machine into a struct with the fields of all of them and the field Name, and back. It is safe for concurrent use.
type Flat[T machine.Named, Fields any] struct {
	of   map[string]layout // by the name of the state or the event
	name int               // the place of Name
}

// layout says where the struct has the fields of one type.
type layout struct {
	kind   reflect.Type
	places []int
}

// NewFlat returns the flat form of all: a value of each state or event. The tag `of` of a field of Fields names the fields that it stands for, if it is not the one of the
// same name. NewFlat panics if a field of a state or an event has no place.
func NewFlat[T machine.Named, Fields any](all ...T) *Flat[T, Fields] {
	fields := reflect.TypeFor[Fields]()
	f := &Flat[T, Fields]{of: map[string]layout{}, name: place(fields, "Name")}
	for _, one := range all {
		l := layout{kind: reflect.TypeOf(one)}
		for i := range l.kind.NumField() {
			l.places = append(l.places, place(fields, l.kind.Field(i).Name))
		}
		f.of[one.Name()] = l
	}
	return f
}

// place returns the number of the field that stands for a field of that name.
func place(fields reflect.Type, name string) int {
	for i := range fields.NumField() {
		if at := fields.Field(i); at.Name == name || slices.Contains(strings.Split(at.Tag.Get("of"), ","), name) {
			return i
		}
	}
	panic(fmt.Sprintf("steps: %s has no place for the field %s", fields, name))
}

// Of returns the flat form of a state or an event. It panics for one that is not of the machine.
func (f *Flat[T, Fields]) Of(v T) (fields Fields) {
	to, from, l := reflect.ValueOf(&fields).Elem(), reflect.ValueOf(v), f.of[v.Name()]
	to.Field(f.name).SetString(v.Name())
	for i := range from.NumField() {
		to.Field(l.places[i]).Set(from.Field(i))
	}
	return fields
}

// Back returns the state or the event of a flat form. ok is false for a name that none of them has.
func (f *Flat[T, Fields]) Back(fields *Fields) (v T, ok bool) {
	from := reflect.ValueOf(fields).Elem()
	l, ok := f.of[from.Field(f.name).String()]
	if !ok {
		return v, false
	}
	to := reflect.New(l.kind).Elem()
	for i, at := range l.places {
		to.Field(i).Set(from.Field(at))
	}
	return to.Interface().(T), true //nolint:forcetypeassert // it is the type of one of all
}
