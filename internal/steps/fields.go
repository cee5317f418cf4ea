package steps

// Fields: states and events as a record has them, in one struct for all of a machine.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Flatten copies the name and the fields of a state or an event into a struct that has the fields of all of them, and the field Name. The tag `of` of a field
// names the fields that it stands for, if it is not the one of the same name. All fields of v have their place in it, see Restore.
func Flatten[Fields any](v machine.Named) (into Fields) {
	to, from := reflect.ValueOf(&into).Elem(), reflect.ValueOf(v)
	to.FieldByName("Name").SetString(v.Name())
	for i := range from.NumField() {
		place(to, from.Type().Field(i).Name).Set(from.Field(i))
	}
	return into
}

// Restore returns the state or the event of which fields are the flat form. all has a value of each. ok is false for a name that none of them has.
func Restore[T machine.Named, Fields any](fields Fields, all ...T) (v T, ok bool) {
	from := reflect.ValueOf(fields)
	name := from.FieldByName("Name").String()
	for _, one := range all {
		if one.Name() != name {
			continue
		}
		to := reflect.New(reflect.TypeOf(one)).Elem()
		for i := range to.NumField() {
			to.Field(i).Set(place(from, to.Type().Field(i).Name))
		}
		return to.Interface().(T), true //nolint:forcetypeassert // it has the type of one
	}
	return v, false
}

// place returns the field of a flat struct that stands for a field of that name. It panics if there is none, which a test of the struct finds.
func place(flat reflect.Value, name string) reflect.Value {
	if f := flat.FieldByName(name); f.IsValid() {
		return f
	}
	for i := range flat.NumField() {
		if slices.Contains(strings.Split(flat.Type().Field(i).Tag.Get("of"), ","), name) {
			return flat.Field(i)
		}
	}
	panic(fmt.Sprintf("steps: %s has no place for the field %s", flat.Type(), name))
}
