package strict

// Decoding a file into a Go value, with all of its mistakes.

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
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
	UnmarshalNode(d *Decoder, n ast.Node)
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
func (d *Decoder) Fail(n ast.Node, format string, args ...any) {
	e := &Error{File: d.name, Msg: fmt.Sprintf(format, args...)}
	for {
		m, is := n.(*ast.MappingNode) // its own token is the first colon, or the bracket
		if !is || len(m.Values) == 0 || m.IsFlowStyle {
			break
		}
		n = m.Values[0].Key
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		e.Line, e.Column = t.Position.Line, max(t.Position.Column, 1)
	}
	d.errs = append(d.errs, e)
}

// Into decodes a node into the value to which v points.
func (d *Decoder) Into(n ast.Node, v any) { d.value(n, reflect.ValueOf(v).Elem(), Field{}) }

// Entry is one key of a mapping with its value.
type Entry struct {
	Key   string
	At    ast.Node // the key
	Value ast.Node
}

// Mapping returns the entries of a mapping. For any other node it reports a mistake.
func (d *Decoder) Mapping(n ast.Node) (entries []Entry, ok bool) {
	m, is := n.(*ast.MappingNode)
	if !is {
		if !d.refused(n) {
			hint := ""
			if key, value, is := strings.Cut(n.GetToken().Value, ":"); is && key != "" && value != "" && n.Type() == ast.StringType {
				hint = ": put a space behind the colon"
			}
			d.Fail(n, "want keys with values here, not %s%s", describe(n), hint)
		}
		return nil, false
	}
	if len(m.Values) > maxList {
		d.Fail(n, "more than %d keys", maxList)
		return nil, false
	}
	for _, one := range m.Values {
		key, is := one.Key.(ast.ScalarNode)
		if !is || one.Key.IsMergeKey() || one.Key.Type() == ast.AnchorType || one.Key.Type() == ast.TagType {
			d.Fail(one.Key, "want a plain key, without anchor, tag or merge")
			continue
		}
		entries = append(entries, Entry{Key: one.Key.GetToken().Value, At: key, Value: one.Value})
	}
	return entries, true
}

// value decodes a node into v. f describes v; it is zero for what no field holds.
func (d *Decoder) value(n ast.Node, v reflect.Value, f Field) {
	if u, is := v.Addr().Interface().(Unmarshaler); is {
		if !d.refused(n) {
			u.UnmarshalNode(d, n)
		}
		return
	}
	if n.Type() == ast.NullType || d.refused(n) {
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
		if found := d.any(n, 0); found != nil {
			v.Set(reflect.ValueOf(found))
		}
	default:
		d.scalar(n, v, f)
	}
}

// refused reports a mistake for a node that has an anchor, an alias or a tag: a file without them cannot grow while it is read.
func (d *Decoder) refused(n ast.Node) bool {
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.TagType, ast.MergeKeyType:
		d.Fail(n, "anchors, aliases and tags are not read: write the value itself")
		return true
	default:
		return false
	}
}

// Rest decodes the entries of a mapping into the structs to which the values of into point, all but the one with the key taken. n is the
// mapping. A key belongs to the first struct that has it.
func (d *Decoder) Rest(n ast.Node, entries []Entry, taken string, into ...any) {
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

// targets returns the fields of a struct.
func targets(v reflect.Value) []target {
	var all []target
	for _, f := range Fields(v.Type()) {
		all = append(all, target{f, v.FieldByIndex(f.Index)})
	}
	return all
}

// structure decodes a mapping into a struct.
func (d *Decoder) structure(n ast.Node, v reflect.Value) {
	if entries, ok := d.Mapping(n); ok {
		d.entries(n, entries, targets(v))
	}
}

// entries decodes the entries of the mapping n into fields.
func (d *Decoder) entries(n ast.Node, entries []Entry, fields []target) {
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
		if f.Required && !slices.ContainsFunc(entries, func(e Entry) bool { return e.Key == f.Key && e.Value.Type() != ast.NullType }) {
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

// UnknownValue reports a text that is not one of known.
func (d *Decoder) UnknownValue(n ast.Node, text string, known []string) {
	if near := nearest(text, known); near != "" {
		d.Fail(n, "%s is not known; did you mean %q?", quoted(text), near)
	} else {
		d.Fail(n, "%s is not known; want one of %s", quoted(text), strings.Join(known, ", "))
	}
}

// list decodes a sequence, or one value in place of a sequence of texts.
func (d *Decoder) list(n ast.Node, v reflect.Value, f Field) {
	s, is := n.(*ast.SequenceNode)
	if !is {
		if v.Type().Elem().Kind() != reflect.String || n.Type() == ast.MappingType {
			d.Fail(n, "want a list here, not %s", describe(n))
			return
		}
		one := reflect.New(v.Type().Elem()).Elem()
		d.value(n, one, f)
		v.Set(reflect.Append(reflect.Zero(v.Type()), one))
		return
	}
	if len(s.Values) > maxList {
		d.Fail(n, "more than %d entries", maxList)
		return
	}
	all := reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values))
	for i, one := range s.Values {
		d.value(one, all.Index(i), f)
	}
	v.Set(all)
}

// mapping decodes a mapping into a Go map with texts as keys.
func (d *Decoder) mapping(n ast.Node, v reflect.Value) {
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

// any returns the Go value of a node of any kind: nil, bool, int64, uint64, float64, string, []any or map[string]any.
func (d *Decoder) any(n ast.Node, depth int) any {
	if depth > maxDepth {
		d.Fail(n, "more than %d levels", maxDepth)
		return nil
	}
	if d.refused(n) {
		return nil
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		entries, _ := d.Mapping(n)
		all := make(map[string]any, len(entries))
		for _, e := range entries {
			all[e.Key] = d.any(e.Value, depth+1)
		}
		return all
	case *ast.SequenceNode:
		all := make([]any, 0, min(len(n.Values), maxList))
		for _, one := range n.Values {
			all = append(all, d.any(one, depth+1))
		}
		return all
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.NanNode, *ast.InfinityNode:
		d.Fail(n, "want a number, not %s", describe(n))
		return nil
	case ast.ScalarNode:
		return n.GetValue()
	default:
		d.Fail(n, "this cannot be read: want a text, a number, a list or keys with values")
		return nil
	}
}

// Text returns the text of a scalar. For a number, true or false it reports a mistake, because a text is wanted.
func (d *Decoder) Text(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NanNode, *ast.InfinityNode:
		d.Fail(n, "want a text, not %s: put it in quotes, as \"%s\"", describe(n), n.GetToken().Value)
	default:
		d.Fail(n, "want a text, not %s", describe(n))
	}
	return "", false
}

// duration decodes a duration such as 1.5s.
func (d *Decoder) duration(n ast.Node, v reflect.Value, f Field) {
	text := n.GetToken().Value
	found, err := time.ParseDuration(text)
	if err != nil || n.Type() == ast.MappingType || n.Type() == ast.SequenceType {
		d.Fail(n, "want a duration such as 250ms, 1.5s or 2m, not %s", describe(n))
		return
	}
	bound := func(text string) (time.Duration, bool) { b, err := time.ParseDuration(text); return b, err == nil }
	if outside(found, f, bound) {
		d.Fail(n, "%v is out of range: want %s", found, between(f))
		return
	}
	v.SetInt(int64(found))
}

// scalar decodes a text, a number, true or false.
func (d *Decoder) scalar(n ast.Node, v reflect.Value, f Field) {
	text := ""
	if _, is := n.(ast.ScalarNode); is {
		text = n.GetToken().Value
	}
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, f)
	case reflect.Bool:
		if n.Type() != ast.BoolType {
			d.Fail(n, "want true or false, not %s", describe(n))
			return
		}
		v.SetBool(text == "true" || text == "True" || text == "TRUE")
	case reflect.Int, reflect.Int64, reflect.Int32:
		found, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n.Type() != ast.IntegerType {
			d.Fail(n, "want a whole number, not %s", describe(n))
			return
		}
		bound := func(text string) (int64, bool) { b, err := strconv.ParseInt(text, 10, 64); return b, err == nil }
		if outside(found, f, bound) {
			d.Fail(n, "%d is out of range: want %s", found, between(f))
			return
		}
		v.SetInt(found)
	case reflect.Float64:
		found, err := strconv.ParseFloat(text, 64)
		if err != nil || n.Type() != ast.IntegerType && n.Type() != ast.FloatType {
			d.Fail(n, "want a number, not %s", describe(n))
			return
		}
		bound := func(text string) (float64, bool) { b, err := strconv.ParseFloat(text, 64); return b, err == nil }
		if outside(found, f, bound) {
			d.Fail(n, "%v is out of range: want %s", found, between(f))
			return
		}
		v.SetFloat(found)
	default:
		d.Fail(n, "%s cannot stand in a file", v.Type())
	}
}

// text decodes a text, which may be a path or one of several values.
func (d *Decoder) text(n ast.Node, v reflect.Value, f Field) {
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

// outside reports whether a value is outside of the bounds of a field.
func outside[T int64 | float64 | time.Duration](v T, f Field, bound func(string) (T, bool)) bool {
	least, isMin := bound(f.Min)
	most, isMax := bound(f.Max)
	return isMin && v < least || isMax && v > most
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

// describe returns what a node is, for an error.
func describe(n ast.Node) string {
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "keys with values"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "nothing"
	case ast.IntegerType, ast.FloatType, ast.BoolType:
		return quoted(n.GetToken().Value)
	default:
		return "the text " + quoted(n.GetToken().Value)
	}
}

// quoted returns a text of the file in quotes and cut at 60 characters: it may be long.
func quoted(text string) string {
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:60]) + "…"
	}
	return strconv.Quote(text)
}
