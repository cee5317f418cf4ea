package strict

// The JSON Schema of a struct.

import (
	"reflect"
	"strconv"
)

// Schemer is a value with a JSON Schema of its own.
type Schemer interface {
	Schema() map[string]any
}

// Schema returns the JSON Schema of the struct to which v points, for encoding/json. It leaves out the keys for which refuse returns a
// reason.
func Schema(v any, refuse func(Field) string) map[string]any {
	return object(reflect.ValueOf(v).Elem(), refuse)
}

// object returns the schema of a struct. null counts as left out.
func object(v reflect.Value, refuse func(Field) string) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range Fields(v.Type()) {
		if refuse != nil && refuse(f) != "" {
			continue
		}
		schema := schemaOf(v.FieldByIndex(f.Index), f, refuse)
		if f.Doc != "" {
			schema["description"] = f.Doc
		}
		if f.Required {
			required = append(required, f.Key)
		}
		properties[f.Key] = schema
	}
	schema := map[string]any{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// schemaOf returns the schema of the value v of a field.
func schemaOf(v reflect.Value, f Field, refuse func(Field) string) map[string]any {
	if v.CanAddr() {
		if own, is := v.Addr().Interface().(Schemer); is {
			return own.Schema()
		}
	}
	t := v.Type()
	zero := func(t reflect.Type) reflect.Value { return reflect.New(t).Elem() }
	switch {
	case t == durationType:
		return orNull("string", map[string]any{"pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`})
	case t.Kind() == reflect.Pointer:
		return schemaOf(zero(t.Elem()), f, refuse)
	case t.Kind() == reflect.Struct:
		return object(v, refuse)
	case t.Kind() == reflect.Slice:
		items := schemaOf(zero(t.Elem()), f, refuse)
		list := orNull("array", map[string]any{"items": items})
		if t.Elem().Kind() == reflect.String {
			return map[string]any{"anyOf": []any{list, items}}
		}
		return list
	case t.Kind() == reflect.Map:
		return orNull("object", map[string]any{"additionalProperties": schemaOf(zero(t.Elem()), Field{}, refuse)})
	case t.Kind() == reflect.Interface:
		return map[string]any{}
	}
	return scalarSchema(t.Kind(), f)
}

// scalarSchema returns the schema of a text, a number, true or false.
func scalarSchema(kind reflect.Kind, f Field) map[string]any {
	switch kind {
	case reflect.Bool:
		return orNull("boolean", map[string]any{})
	case reflect.String:
		if len(f.Enum) == 0 {
			return orNull("string", map[string]any{})
		}
		allowed := []any{nil}
		for _, one := range f.Enum {
			allowed = append(allowed, one)
		}
		return map[string]any{"enum": allowed}
	case reflect.Float64:
		return bounds(orNull("number", map[string]any{}), f)
	default:
		return bounds(orNull("integer", map[string]any{}), f)
	}
}

// orNull returns a schema of a type, or of null, which counts as left out.
func orNull(kind string, schema map[string]any) map[string]any {
	schema["type"] = []string{kind, "null"}
	return schema
}

// bounds adds the bounds of a number.
func bounds(schema map[string]any, f Field) map[string]any {
	for keyword, text := range map[string]string{"minimum": f.Min, "maximum": f.Max} {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			schema[keyword] = n
		}
	}
	return schema
}
