package protocolcheck

// Reads protocol.table: the events of the protocol and their fields.

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// protocolTable lists the fields of every event on which a client may rely.
//
//go:embed protocol.table
var protocolTable string

// Transports, as the table names them.
const (
	OnAll       = "all"
	OnWebRTC    = "webrtc"
	OnWebSocket = "websocket"
	OnNone      = "none"
)

// Event is one event of the protocol as its clients know it.
type Event struct {
	Server bool
	Type   string
	// On says over which transports the event is sent: one of the constants.
	On     string
	Fields []Field
}

// Field is one field of an event or of an object.
type Field struct {
	Name string
	// Object names the object, or the objects of the list, that it holds; "" for a plain value.
	Object string
	List   bool
	// Optional: the field may be missing. Nullable: it may be null.
	Optional, Nullable bool
}

// table is the content of protocol.table.
type table struct {
	events  map[string]Event // by key
	order   []string         // the keys in the order of the table
	objects map[string][]Field
	typed   map[string]bool // objects whose field "type" says which fields they have
}

// rules is the table that all checks share; it is not written after init.
var rules = mustParse(protocolTable)

// mustParse panics on a table that cannot be read: it is part of the program.
func mustParse(text string) *table {
	t, err := parse(text)
	if err != nil {
		panic("internal/protocolcheck: protocol.table: " + err.Error())
	}
	return t
}

func parse(text string) (*table, error) {
	t := &table{events: map[string]Event{}, objects: map[string][]Field{}, typed: map[string]bool{}}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		cols := strings.Split(line, "|")
		for i := range cols {
			cols[i] = strings.TrimSpace(cols[i])
		}
		switch kind := cols[0]; {
		case kind == "object" && len(cols) == 3:
			t.objects[cols[1]] = parseFields(cols[2])
			if name, _, typed := strings.Cut(cols[1], "."); typed {
				t.typed[name] = true
			}
		case (kind == "client" || kind == "server") && len(cols) == 4:
			e := Event{kind == "server", cols[1], cols[2], parseFields(cols[3])}
			t.events[key(e.Server, e.Type)] = e
			t.order = append(t.order, key(e.Server, e.Type))
		default:
			return nil, fmt.Errorf("line %d is no row: %s", n+1, line)
		}
	}
	return t, nil
}

func parseFields(text string) []Field {
	var out []Field
	for _, word := range strings.Fields(text) {
		var f Field
		word, f.Optional = strings.CutSuffix(word, "?")
		word, f.Nullable = strings.CutSuffix(word, "~")
		word, f.List = strings.CutSuffix(word, "[]")
		f.Name, f.Object, _ = strings.Cut(word, ":")
		out = append(out, f)
	}
	return out
}

// key names an event: a type may exist in both directions.
func key(server bool, typ string) string {
	if server {
		return "server " + typ
	}
	return "client " + typ
}

// Events returns all events of the protocol, client events first, without the extensions of this server.
func Events() []Event {
	out := make([]Event, 0, len(rules.order))
	for _, k := range rules.order {
		out = append(out, rules.events[k])
	}
	return out
}

// fieldsOf returns the fields of an object whose type is kind; ok is false when the table has no such object.
func (t *table) fieldsOf(object, kind string) (name string, fields []Field, ok bool) {
	name = object
	if t.typed[object] {
		name += "." + kind
	}
	fields, ok = t.objects[name]
	return name, fields, ok
}

// walk goes through the fields of one event: it reports each field, and each fault.
type walk struct {
	t     *table
	saw   func(field string) // called with each field that is there, such as "server error: error" or "Error: code"
	wrong func(format string, args ...any)
	// lax: a missing field is no fault. Clients leave out fields that the server fills in.
	lax bool
}

// object checks one object under its name in the table.
func (w *walk) object(name string, fields []Field, text json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		w.wrong("%s is no object: %.80s", name, text)
		return
	}
	for _, f := range fields {
		value, there := members[f.Name]
		isNull := string(value) == "null"
		switch {
		case !there && !f.Optional && !w.lax:
			w.wrong("%s lacks %s", name, f.Name)
		case there && isNull && !f.Nullable && !f.Optional && !w.lax:
			w.wrong("%s of %s is null", f.Name, name)
		}
		if !there {
			continue
		}
		w.saw(name + ": " + f.Name)
		if f.Object != "" && !isNull {
			w.inner(name, f, value)
		}
	}
}

// inner checks the object, or the list of objects, in a field.
func (w *walk) inner(name string, f Field, value json.RawMessage) {
	all := []json.RawMessage{value}
	if f.List {
		all = nil
		if json.Unmarshal(value, &all) != nil {
			w.wrong("%s of %s is no list", f.Name, name)
			return
		}
	}
	for _, text := range all {
		var kind struct{ Type string }
		_ = json.Unmarshal(text, &kind) // a value that is no object is reported below
		object, fields, ok := w.t.fieldsOf(f.Object, kind.Type)
		if !ok {
			w.wrong("%s of %s has the type %q, which the protocol does not have", f.Name, name, kind.Type)
			continue
		}
		w.object(object, fields, text)
	}
}

// reach collects into all the fields that can be seen from a list of fields.
func (t *table) reach(name string, fields []Field, all map[string]bool) {
	for _, f := range fields {
		field := name + ": " + f.Name
		if all[field] {
			continue
		}
		all[field] = true
		for _, object := range slices.Sorted(maps.Keys(t.objects)) {
			if object == f.Object || f.Object != "" && strings.HasPrefix(object, f.Object+".") {
				t.reach(object, t.objects[object], all)
			}
		}
	}
}
