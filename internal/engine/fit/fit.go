// Package fit makes arguments for a tool from a text, with the JSON schema of the tool. Pipelines without a language model use it for
// their tool calls.
package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	maxDepth  = 8   // the depth of objects and arrays in the arguments
	maxValues = 256 // the number of values of all kinds in the arguments
)

// Source has the values from which arguments are made.
type Source struct {
	Text    string    // what the user said; an enum property gets the value that the text contains
	Subject string    // the value of string properties; empty: Text
	Numbers []float64 // the values of number properties, in their order; if there are too few, the minimum of the schema or 0
}

// Arguments returns a JSON object that fits the schema. The first string property, required or not, gets the subject. Each required
// property gets a value by its type, default, const or enum. No other property is set. An enum property gets the value that the text
// contains, and otherwise its first value. For a schema that cannot be read Arguments returns "{}".
func Arguments(schema []byte, s Source) string {
	if s.Subject == "" {
		s.Subject = s.Text
	}
	f := fitter{Source: s, left: maxValues}
	var root node
	if err := json.Unmarshal(schema, &root); err != nil {
		return "{}"
	}
	b, err := json.Marshal(f.object(&root, 0))
	if err != nil {
		return "{}"
	}
	return string(b)
}

type fitter struct {
	Source
	spoken bool // a property has the text already
	left   int  // values that may still be made
}

// node has the keywords of a JSON schema that are used.
type node struct {
	Type       typeNames       `json:"type"`
	Properties properties      `json:"properties"`
	Required   []string        `json:"required"`
	Items      *node           `json:"items"`
	Enum       []any           `json:"enum"`
	Const      json.RawMessage `json:"const"`
	Default    json.RawMessage `json:"default"`
	Minimum    *float64        `json:"minimum"`
	MinItems   int             `json:"minItems"`
	AnyOf      []node          `json:"anyOf"`
	OneOf      []node          `json:"oneOf"`
}

// typeNames is the keyword "type": a name or a list of names.
type typeNames []string

func (t *typeNames) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = typeNames{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return fmt.Errorf("type is neither a name nor a list of names: %w", err)
	}
	*t = many
	return nil
}

// properties keeps the order in which the schema names them.
type properties []property

type property struct {
	name string
	node node
}

func (p *properties) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("properties is not an object: %w", err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var n node
		if err := dec.Decode(&n); err != nil {
			return err
		}
		name, _ := key.(string)
		*p = append(*p, property{name, n})
	}
	return nil
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		k, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, k...), ':'), v...)
	}
	return append(b, '}'), nil
}

func (f *fitter) object(n *node, depth int) object {
	out := object{}
	if depth > maxDepth {
		return out
	}
	required := make(map[string]bool, len(n.Required))
	for _, r := range n.Required {
		required[r] = true
	}
	for _, p := range n.Properties {
		first := !f.spoken && p.node.kind() == "string"
		if first || required[p.name] {
			out = append(out, member{p.name, f.value(&p.node, depth+1)})
		}
	}
	return out
}

func (n *node) kind() string {
	switch {
	case len(n.Type) > 0:
		return n.Type[0]
	case n.Properties != nil:
		return "object"
	case n.Items != nil:
		return "array"
	case len(n.AnyOf) > 0:
		return n.AnyOf[0].kind()
	case len(n.OneOf) > 0:
		return n.OneOf[0].kind()
	}
	return "string"
}

func (f *fitter) value(n *node, depth int) any {
	kind := n.kind()
	f.left--
	switch {
	case n.Const != nil:
		return n.Const
	case len(n.Enum) > 0:
		f.spoken = f.spoken || kind == "string"
		return f.choose(n.Enum)
	case kind == "string" && !f.spoken:
		f.spoken = true
		return f.Subject
	case n.Default != nil:
		return n.Default
	case len(n.Type) == 0 && len(n.AnyOf) > 0:
		return f.value(&n.AnyOf[0], depth)
	case len(n.Type) == 0 && len(n.OneOf) > 0:
		return f.value(&n.OneOf[0], depth)
	}
	switch kind {
	case "string":
		return f.Subject
	case "number", "integer":
		return f.number(n, kind == "integer")
	case "boolean":
		return false
	case "array":
		return f.array(n, depth)
	case "object":
		return f.object(n, depth)
	}
	return nil
}

func (f *fitter) choose(enum []any) any {
	text := strings.ToLower(f.Text)
	for _, e := range enum {
		if s, ok := e.(string); ok && s != "" && strings.Contains(text, strings.ToLower(s)) {
			return e
		}
	}
	return enum[0]
}

func (f *fitter) number(n *node, integer bool) any {
	v := 0.0
	switch {
	case len(f.Numbers) > 0:
		v, f.Numbers = f.Numbers[0], f.Numbers[1:]
	case n.Minimum != nil:
		v = *n.Minimum
	}
	if integer {
		return int64(v)
	}
	return v
}

func (f *fitter) array(n *node, depth int) []any {
	out := []any{}
	if n.Items == nil || depth > maxDepth {
		return out
	}
	for i := 0; i < n.MinItems && f.left > 0; i++ {
		out = append(out, f.value(n.Items, depth+1))
	}
	return out
}
