package strict

// The keys of a struct: their names, and what the tags say about them.

import (
	"reflect"
	"strings"
	"time"
	"unicode"
)

// Field is one key of a struct.
type Field struct {
	Key      string
	Doc      string
	Enum     []string // the values that are allowed; nil: every one
	Min, Max string   // bounds, both included; "": none
	Default  string   // what the key means when it is left out; for the schema
	Path     bool     // the value is a path
	Exists   bool     // the value is a path of a file that must be there
	Required bool
	Index    []int // of reflect.Value.FieldByIndex
	Type     reflect.Type
	Tag      reflect.StructTag
}

// Fields returns the keys of a struct in their order.
func Fields(t reflect.Type) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				all = append(all, inner)
			}
			continue
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Tag.Get("name")
		}
		if name == "" {
			name = kebab(f.Name)
		}
		kind := f.Tag.Get("type")
		_, required := f.Tag.Lookup("required")
		field := Field{
			Key: name, Doc: f.Tag.Get("doc") + f.Tag.Get("help"), Min: f.Tag.Get("min"), Max: f.Tag.Get("max"), Default: f.Tag.Get("default"),
			Path: kind == "path" || kind == "existingfile", Exists: kind == "existingfile", Required: required, Index: []int{i}, Type: f.Type, Tag: f.Tag,
		}
		if values := f.Tag.Get("enum"); values != "" {
			field.Enum = strings.Split(values, ",")
		}
		field.Doc = strings.ReplaceAll(field.Doc, "${enum}", strings.Join(field.Enum, ", "))
		all = append(all, field)
	}
	return all
}

// kebab returns the name of a flag for the name of a field: "max-sessions" for "MaxSessions". It takes capitals that follow each other
// as one word.
func kebab(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

var durationType = reflect.TypeFor[time.Duration]()

// longest is the longest name that can be near another one, in bytes.
const longest = 64

// nearest returns the one of names that text was probably meant to be; "" if none is near.
func nearest(text string, names []string) string {
	best, least := "", max(2, min(len(text), longest)/3)+1
	for _, name := range names {
		if d := distance(strings.ToLower(text), name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance returns how many letters must be added, removed, replaced or swapped with their neighbour to make b from a. A name above longest
// is far from everything.
func distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			other := 1
			if a[i] == b[j] {
				other = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+other)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// FieldsOf returns the keys of the struct to which v points.
func FieldsOf(v any) []Field { return Fields(reflect.TypeOf(v).Elem()) }
