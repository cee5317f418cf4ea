package main

// Reads events.table: one row for each event of the protocol, with its fields.

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// event is one row of the table.
type event struct {
	Server bool
	Type   string
	GoName string
	Fields []field
	Doc    string
}

// field is one field of an event.
type field struct {
	Name   string
	GoName string
	Kind   string
	List   bool
	Mark   mark
}

// mark says when a field is written and whether it may be missing.
type mark int

const (
	required mark = iota
	omitEmpty
	lenient
	nullable
)

// parse reads the whole table; its errors name the line.
func parse(r io.Reader) ([]event, error) {
	var events []event
	types := map[string]bool{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, err := parseRow(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if types[e.Type] || types[e.GoName] {
			return nil, fmt.Errorf("line %d: %s stands twice", n, e.Type)
		}
		types[e.Type], types[e.GoName] = true, true
		events = append(events, e)
	}
	return events, lines.Err()
}

// columns splits a row at " | ": a kind may contain a bare bar.
func columns(line string) []string {
	cols := strings.Split(line+" ", "| ")
	for i := range cols {
		cols[i] = strings.TrimSpace(cols[i])
	}
	return cols
}

func parseRow(line string) (event, error) {
	cols := columns(line)
	if len(cols) != 4 {
		return event{}, fmt.Errorf("want 4 columns (direction | type | fields | what it says), got %d", len(cols))
	}
	e := event{Type: cols[1], GoName: eventName(cols[1]), Doc: cols[3]}
	switch cols[0] {
	case "client":
	case "server":
		e.Server = true
	default:
		return event{}, fmt.Errorf("direction %q: want client or server", cols[0])
	}
	id := field{Name: "event_id", GoName: "EventID", Kind: "string", Mark: omitEmpty}
	if e.Server {
		id.Mark = required
	}
	e.Fields = []field{id}
	for _, spec := range strings.Fields(cols[2]) {
		f, err := parseField(spec)
		if err != nil {
			return event{}, err
		}
		if f.Name == id.Name {
			e.Fields[0] = f
			continue
		}
		e.Fields = append(e.Fields, f)
	}
	return e, nil
}

func parseField(spec string) (field, error) {
	name, kind, ok := strings.Cut(spec, ":")
	if !ok || name == "" || kind == "" {
		return field{}, fmt.Errorf("field %q: want name:kind", spec)
	}
	f := field{Mark: required}
	var renamed bool
	f.Name, f.GoName, renamed = strings.Cut(name, "=")
	if !renamed {
		f.GoName = goName(f.Name)
	}
	for suffix, m := range map[string]mark{"?": omitEmpty, "~": lenient, "|null": nullable} {
		if bare, found := strings.CutSuffix(kind, suffix); found {
			kind, f.Mark = bare, m
			break
		}
	}
	f.Kind, f.List = strings.CutSuffix(kind, "[]")
	if f.List && !isObject(f.Kind) {
		return field{}, fmt.Errorf("field %q: only objects come in lists", spec)
	}
	if f.Mark == nullable && f.Kind != "string" {
		return field{}, fmt.Errorf("field %q: only a string may be null here", spec)
	}
	if !isObject(f.Kind) && scalars[f.Kind] == "" {
		return field{}, fmt.Errorf("field %q: unknown kind %q", spec, f.Kind)
	}
	return f, nil
}

// isObject reports whether a kind names an object type of package wire.
func isObject(kind string) bool { return unicode.IsUpper(rune(kind[0])) }

// eventName is the Go name of an event; "error" alone would take the name of its payload's type.
func eventName(typ string) string {
	if typ == "error" {
		return "ErrorEvent"
	}
	return goName(typ)
}

// goName turns a wire name into a Go name.
func goName(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' }) {
		if upper := strings.ToUpper(word); initialisms[upper] {
			b.WriteString(upper)
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

var initialisms = map[string]bool{"ID": true, "MS": true, "MCP": true, "DTMF": true, "RTP": true}
