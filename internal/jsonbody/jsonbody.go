// Package jsonbody decodes the JSON bodies of requests, with errors that a client can use.
package jsonbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Error says what is wrong with a body.
type Error struct {
	Param   string // the path of the field; "" for the whole body
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Param == "" {
		return "the body: " + e.Message
	}
	return e.Param + ": " + e.Message
}

// Decode decodes the JSON object of a request into a struct. Its errors are of type *Error.
func Decode(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		given, _, _ := strings.Cut(wrong.Value, " ") // "number 1.5"
		return &Error{wrong.Field, fmt.Sprintf("want %s, got %s", named(wrong.Type.Kind()), kinds[given])}
	case err != nil:
		return &Error{"", "want a JSON object; this is no JSON"}
	}
	return nil
}

// kinds are the names of JSON's types, by those of package json.
var kinds = map[string]string{"object": "an object", "array": "an array", "string": "a string", "bool": "a boolean", "number": "a number"}

// named returns the name of the JSON type that a Go type is decoded from.
func named(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return kinds["bool"]
	case reflect.String:
		return kinds["string"]
	case reflect.Struct, reflect.Map:
		return "a JSON object"
	case reflect.Slice, reflect.Array:
		return kinds["array"]
	case reflect.Float32, reflect.Float64:
		return kinds["number"]
	default:
		return "a whole number"
	}
}
