package strict

// Decoding a file into a Go value, with all of its mistakes.

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Options of Decode.
type Options struct {
	// Dir is the folder to which relative paths are relative; "" leaves them as they are.
	Dir string
	// Refuse returns why a key that the struct has may not stand in this file; "" for every key that may. nil refuses none.
	Refuse func(Field) string
	// Unknown returns what an error says about a key that the struct does not have; "" for "unknown key". nil means always "".
	Unknown func(key string, known []string) string
}

// Unmarshaler is a value that reads itself from a node.
type Unmarshaler interface {
	// UnmarshalNode reads the value, and reports mistakes to d.
	UnmarshalNode(d *Decoder, n *yaml.Node)
}

// Checker is a struct with rules that the tags of its fields cannot say.
type Checker interface {
	// Check reports each mistake by fail: at the value of that key, or at the struct if the file does not have the key.
	Check(fail func(key, format string, args ...any))
}

// Placed is a struct that wants to know where it stands in its file, and which keys it has there. It learns that before Check.
type Placed interface {
	Place(line int, keys []string)
}

// Decoder decodes the nodes of one file and keeps the mistakes.
type Decoder struct {
	Options
	name string
	errs []*Error
}

// Decode reads src, the content of the file name, into the struct to which v points. Fields without a key keep their values. The error is
// an *Error or *Errors.
func Decode(name string, src []byte, v any, o Options) error {
	root, err := parse(name, src)
	if err != nil || root == nil {
		return err
	}
	d := &Decoder{Options: o, name: name}
	d.Into(root, v)
	return errorsOf(d.errs)
}

// Fail reports a mistake at a node.
func (d *Decoder) Fail(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, &Error{File: d.name, Line: n.Line, Column: n.Column, Msg: fmt.Sprintf(format, args...)})
}

// Into decodes a node into the value to which v points.
func (d *Decoder) Into(n *yaml.Node, v any) { d.value(n, reflect.ValueOf(v).Elem(), Field{}) }

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	At    *yaml.Node // the key
	Value *yaml.Node
}

// Mapping returns the entries of a mapping. For any other node it reports a mistake.
func (d *Decoder) Mapping(n *yaml.Node) (entries []Entry, ok bool) {
	if n.Kind != yaml.MappingNode {
		if !d.refused(n) {
			hint := ""
			if key, value, is := strings.Cut(n.Value, ":"); is && key != "" && value != "" && n.Style == 0 {
				hint = ": put a space behind the colon"
			}
			d.Fail(n, "want keys with values here, not %s%s", describe(n), hint)
		}
		return nil, false
	}
	if len(n.Content) > 2*maxList {
		d.Fail(n, "more than %d keys", maxList)
		return nil, false
	}
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			d.Fail(key, "want a plain key, without anchor, tag or merge")
		case seen[key.Value]:
			d.Fail(key, "the key %s stands twice", quoted(key.Value))
		default:
			entries = append(entries, Entry{Key: key.Value, At: key, Value: n.Content[i+1]})
		}
		seen[key.Value] = true
	}
	return entries, true
}

// value decodes a node into v. f describes v; it is zero for what no field holds.
func (d *Decoder) value(n *yaml.Node, v reflect.Value, f Field) {
	if u, is := v.Addr().Interface().(Unmarshaler); is {
		if !d.refused(n) {
			u.UnmarshalNode(d, n)
		}
		return
	}
	if IsNull(n) || d.refused(n) {
		return
	}
	switch {
	case v.Type() == durationType:
		d.duration(n, v, f)
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		d.value(n, fresh.Elem(), f)
		v.Set(fresh)
	case v.Kind() == reflect.Struct:
		d.structure(n, v)
	case v.Kind() == reflect.Slice:
		d.list(n, v, f)
	case v.Kind() == reflect.Map:
		d.mapping(n, v)
	case v.Kind() == reflect.Interface:
		if found := d.any(n); found != nil {
			v.Set(reflect.ValueOf(found))
		}
	default:
		d.scalar(n, v, f)
	}
}

// refused reports a mistake for a node that has an anchor, an alias or a tag: a file without them cannot grow while it is read.
func (d *Decoder) refused(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		d.Fail(n, noAliases)
		return true
	}
	return false
}

// noAliases says that a file has what the decoder does not read.
const noAliases = "anchors, aliases and tags are not read: write the value itself"

// IsNull reports whether a node is null, which counts as left out.
func IsNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Anchor == "" && n.Style&yaml.TaggedStyle == 0
}

// Rest decodes the entries of a mapping into the structs to which the values of into point, all but the one with the key taken. n is the
// mapping. A key belongs to the first struct that has it.
func (d *Decoder) Rest(n *yaml.Node, entries []Entry, taken string, into ...any) {
	var known []target
	for _, v := range into {
		known = append(known, targets(reflect.ValueOf(v).Elem())...)
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Key == taken })
	d.entries(n, entries, known)
}

// target is a field with the value that it describes.
type target struct {
	Field
	value reflect.Value
}

func targets(v reflect.Value) []target {
	var all []target
	for _, f := range Fields(v.Type()) {
		all = append(all, target{f, v.FieldByIndex(f.Index)})
	}
	return all
}

func (d *Decoder) structure(n *yaml.Node, v reflect.Value) {
	entries, ok := d.Mapping(n)
	if !ok {
		return
	}
	d.entries(n, entries, targets(v))
	if p, is := v.Addr().Interface().(Placed); is {
		var keys []string
		for _, e := range entries {
			keys = append(keys, e.Key)
		}
		p.Place(n.Line, keys)
	}
	if c, is := v.Addr().Interface().(Checker); is {
		c.Check(func(key, format string, args ...any) {
			at := n
			for _, e := range entries {
				if e.Key == key {
					at = e.Value
				}
			}
			d.Fail(at, format, args...)
		})
	}
}

// entries decodes the entries of the mapping n into fields.
func (d *Decoder) entries(n *yaml.Node, entries []Entry, fields []target) {
	for _, e := range entries {
		i := slices.IndexFunc(fields, func(f target) bool { return f.Key == e.Key })
		if i < 0 {
			var known []string
			for _, f := range fields {
				known = append(known, f.Key)
			}
			d.unknownKey(e, known)
			continue
		}
		f := fields[i]
		if d.Refuse != nil {
			if why := d.Refuse(f.Field); why != "" {
				d.Fail(e.At, "%s: %s", f.Key, why)
				continue
			}
		}
		d.value(e.Value, f.value, f.Field)
	}
	for _, f := range fields {
		if f.Required && !slices.ContainsFunc(entries, func(e Entry) bool { return e.Key == f.Key && !isEmpty(e.Value) }) {
			d.Fail(n, "%s is missing", f.Key)
		}
	}
}

// unknownKey reports a key that is not one of known.
func (d *Decoder) unknownKey(e Entry, known []string) {
	if d.Unknown != nil {
		if why := d.Unknown(e.Key, known); why != "" {
			d.Fail(e.At, "%s", why)
			return
		}
	}
	if near := nearest(e.Key, known); near != "" {
		d.Fail(e.At, "unknown key %s; did you mean %q?", quoted(e.Key), near)
	} else if len(known) == 0 {
		d.Fail(e.At, "unknown key %s; no further key can stand here", quoted(e.Key))
	} else {
		d.Fail(e.At, "unknown key %s; known here: %s", quoted(e.Key), strings.Join(known, ", "))
	}
}

// isEmpty reports whether a node is null or an empty text.
func isEmpty(n *yaml.Node) bool {
	return IsNull(n) || n.Kind == yaml.ScalarNode && n.Value == ""
}

// UnknownValue reports a text that is not one of known.
func (d *Decoder) UnknownValue(n *yaml.Node, text string, known []string) {
	if near := nearest(text, known); near != "" {
		d.Fail(n, "%s is not known; did you mean %q?", quoted(text), near)
	} else {
		d.Fail(n, "%s is not known; want one of %s", quoted(text), strings.Join(known, ", "))
	}
}

// list decodes a sequence, or one value in place of a sequence of texts.
func (d *Decoder) list(n *yaml.Node, v reflect.Value, f Field) {
	if n.Kind != yaml.SequenceNode {
		if v.Type().Elem().Kind() != reflect.String || n.Kind == yaml.MappingNode {
			d.Fail(n, "want a list here, not %s", describe(n))
			return
		}
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(n, one, f)
		v.Set(reflect.Append(reflect.Zero(v.Type()), one))
		return
	}
	limit := maxList
	if most, err := strconv.Atoi(f.Max); err == nil {
		limit = most
	}
	if len(n.Content) > limit {
		d.Fail(n, "%d entries, the limit is %d", len(n.Content), limit)
		return
	}
	all := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, one := range n.Content {
		d.value(one, all.Index(i), f)
	}
	v.Set(all)
}

// mapping decodes a mapping into a Go map with texts as keys.
func (d *Decoder) mapping(n *yaml.Node, v reflect.Value) {
	entries, ok := d.Mapping(n)
	if !ok {
		return
	}
	all := reflect.MakeMapWithSize(v.Type(), len(entries))
	for _, e := range entries {
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(e.Value, one, Field{})
		all.SetMapIndex(reflect.ValueOf(e.Key), one)
	}
	v.Set(all)
}

// any returns the Go value of a node of any kind: nil, bool, int, int64, uint64, float64, string, []any or map[string]any.
func (d *Decoder) any(n *yaml.Node) any {
	if d.refused(n) {
		return nil
	}
	switch n.Kind {
	case yaml.MappingNode:
		entries, _ := d.Mapping(n)
		all := make(map[string]any, len(entries))
		for _, e := range entries {
			all[e.Key] = d.any(e.Value)
		}
		return all
	case yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for _, one := range n.Content {
			all = append(all, d.any(one))
		}
		return all
	default: // one value
	}
	var found any
	if err := n.Decode(&found); err != nil {
		d.Fail(n, "this cannot be read: want a text, a number, a list or keys with values")
		return nil
	}
	switch v := found.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			d.Fail(n, "want a number, not %s", describe(n))
			return nil
		}
	case time.Time:
		return n.Value
	}
	return found
}

// Text returns the text of a scalar. For a number, true or false it reports a mistake, because a text is wanted.
func (d *Decoder) Text(n *yaml.Node) (text string, ok bool) {
	switch kindOf(n) {
	case "!!str":
		return n.Value, true
	case "!!int", "!!float", "!!bool":
		d.Fail(n, "want a text, not %s: put it in quotes, as \"%s\"", describe(n), n.Value)
	default:
		d.Fail(n, "want a text, not %s", describe(n))
	}
	return "", false
}

// kindOf returns the short tag of the kind of a node. Dates and other values that YAML knows are texts.
func kindOf(n *yaml.Node) string {
	switch tag := n.ShortTag(); tag {
	case "!!timestamp", "!!binary", "!!merge":
		return "!!str"
	default:
		return tag
	}
}

// duration decodes a duration such as 1.5s.
func (d *Decoder) duration(n *yaml.Node, v reflect.Value, f Field) {
	found, err := time.ParseDuration(n.Value)
	if err != nil {
		d.Fail(n, "want a duration such as 250ms, 1.5s or 2m, not %s", describe(n))
		return
	}
	if within(d, n, found, f, time.ParseDuration) {
		v.SetInt(int64(found))
	}
}

// scalar decodes a text, a number, true or false.
func (d *Decoder) scalar(n *yaml.Node, v reflect.Value, f Field) {
	kind := kindOf(n)
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, f)
	case reflect.Bool:
		if kind != "!!bool" {
			d.Fail(n, "want true or false, not %s", describe(n))
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int, reflect.Int64, reflect.Int32:
		found, err := strconv.ParseInt(n.Value, 10, v.Type().Bits())
		if err != nil || kind != "!!int" {
			d.Fail(n, "want a whole number, not %s", describe(n))
		} else if within(d, n, found, f, func(bound string) (int64, error) { return strconv.ParseInt(bound, 10, 64) }) {
			v.SetInt(found)
		}
	case reflect.Float64:
		number := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
		found, err := number(n.Value)
		if err != nil || kind != "!!int" && kind != "!!float" {
			d.Fail(n, "want a number, not %s", describe(n))
		} else if within(d, n, found, f, number) {
			v.SetFloat(found)
		}
	default:
		d.Fail(n, "%s cannot stand in a file", v.Type())
	}
}

// text decodes a text, which may be a path or one of several values.
func (d *Decoder) text(n *yaml.Node, v reflect.Value, f Field) {
	text, ok := d.Text(n)
	if !ok {
		return
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
		d.UnknownValue(n, text, f.Enum)
		return
	}
	if f.Path && text != "" {
		text = d.path(text)
		if info, err := os.Stat(text); f.Exists && (err != nil || info.IsDir()) {
			d.Fail(n, "there is no file %s", text)
		}
	}
	v.SetString(text)
}

// path returns the place of a path in the file system.
func (d *Decoder) path(text string) string {
	if rest, is := strings.CutPrefix(text, "~/"); is {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if d.Dir != "" && !filepath.IsAbs(text) {
		return filepath.Join(d.Dir, text)
	}
	return text
}

// within reports whether a value is within the bounds of a field. If not, it reports a mistake. read reads a bound.
func within[T int64 | float64 | time.Duration](d *Decoder, n *yaml.Node, v T, f Field, read func(string) (T, error)) bool {
	least, noMin := read(f.Min)
	most, noMax := read(f.Max)
	if noMin == nil && v < least || noMax == nil && v > most {
		d.Fail(n, "%v is out of range: want %s", v, between(f))
		return false
	}
	return true
}

// between returns the bounds of a field in words.
func between(f Field) string {
	switch {
	case f.Max == "":
		return f.Min + " or more"
	case f.Min == "":
		return f.Max + " or less"
	}
	return f.Min + " to " + f.Max
}

func describe(n *yaml.Node) string {
	switch kindOf(n) {
	case "!!map":
		return "keys with values"
	case "!!seq":
		return "a list"
	case "!!null":
		return "nothing"
	case "!!int", "!!float", "!!bool":
		return quoted(n.Value)
	default:
		return "the text " + quoted(n.Value)
	}
}

// quoted returns a text of the file in quotes and cut at 60 characters: it may be long.
func quoted(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "…"
	}
	return strconv.Quote(text)
}
