package coordtest

// The text of states, events and effects in stories: Text writes it, and Parse reads an event from it.

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

// Text returns a state, event or effect as stories write it: its name, then its fields
// that are not zero. A field that is true is written as its name alone, a struct as a list of its values.
func Text(v machine.Named) string {
	out := v.Name()
	r := reflect.ValueOf(v)
	for i := range r.NumField() {
		key, field := Snake(r.Type().Field(i).Name), r.Field(i)
		switch {
		case field.Kind() == reflect.Struct:
			out += " " + key + "=" + list(field)
		case field.IsZero():
		case field.Kind() == reflect.Bool:
			out += " " + key
		default:
			out += " " + key + "=" + fmt.Sprint(field.Interface())
		}
	}
	return out
}

func list(r reflect.Value) string {
	values := make([]string, r.NumField())
	for i := range values {
		values[i] = fmt.Sprint(r.Field(i).Interface())
	}
	return "(" + strings.Join(values, ", ") + ")"
}

// Arg is one field of an event in a story. A flag has no value, and a struct has several.
type Arg struct {
	Key  string
	Vals []string
}

// Parse makes an event from its name and fields. known has one event of each type.
func Parse[E machine.Named](known []E, name string, args []Arg) (E, error) {
	var none E
	for _, e := range known {
		if e.Name() != name {
			continue
		}
		v := reflect.New(reflect.TypeOf(e)).Elem()
		for _, a := range args {
			if err := set(v, a); err != nil {
				return none, fmt.Errorf("%s: %w", name, err)
			}
		}
		return v.Interface().(E), nil
	}
	return none, fmt.Errorf("%s: not an event of this machine", name)
}

func set(event reflect.Value, a Arg) error {
	for i := range event.NumField() {
		if Snake(event.Type().Field(i).Name) != a.Key {
			continue
		}
		field := event.Field(i)
		if field.Kind() == reflect.Bool && len(a.Vals) == 0 {
			field.SetBool(true)
			return nil
		}
		if field.Kind() != reflect.Struct {
			return setAll(a, field)
		}
		parts := make([]reflect.Value, field.NumField())
		for k := range parts {
			parts[k] = field.Field(k)
		}
		return setAll(a, parts...)
	}
	return fmt.Errorf("it has no field %q", a.Key)
}

func setAll(a Arg, fields ...reflect.Value) error {
	if len(a.Vals) != len(fields) {
		return fmt.Errorf("%s wants %d values, not %d", a.Key, len(fields), len(a.Vals))
	}
	for i, field := range fields {
		n, err := number(field, a.Vals[i])
		if err != nil {
			return fmt.Errorf("%s: %w", a.Key, err)
		}
		field.SetUint(n)
	}
	return nil
}

// number reads the value of a field. If the field's type has a String method, the story has the name that String returns; otherwise it
// has the number.
func number(field reflect.Value, s string) (uint64, error) {
	if !field.CanUint() {
		return 0, fmt.Errorf("a %s cannot be written in a story", field.Type())
	}
	if _, named := field.Interface().(fmt.Stringer); !named {
		return strconv.ParseUint(s, 10, field.Type().Bits())
	}
	for n := uint64(1); n < 256; n++ {
		v := reflect.New(field.Type()).Elem()
		v.SetUint(n)
		if v.Interface().(fmt.Stringer).String() == s {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s has no %q", field.Type(), s)
}

// Snake writes a field's name as stories and specs do: FallbackMS as fallback_ms.
func Snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		afterLower := i > 0 && unicode.IsLower(runes[i-1])
		beforeLower := i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (afterLower || beforeLower) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
