package runs

// The contract: the schemas of the messages, and the check of each message against them.

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// contractText is generated from the machine's contract (internal/coord/run/contract.json) and from the types of message.go: see TestContract.
//
//go:embed contract.json
var contractText []byte

// Contract returns contract.json: the states, the transitions, and the schemas of the messages. Nobody may change it.
func Contract() []byte { return contractText }

// schema is the part of JSON Schema (2020-12) that the contract uses.
type schema struct {
	Type       string             `json:"type,omitempty"`
	Minimum    int                `json:"minimum,omitempty"`
	MinLength  int                `json:"minLength,omitempty"`
	Format     string             `json:"format,omitempty"`
	Const      string             `json:"const,omitempty"`
	Enum       []string           `json:"enum,omitempty"`
	Items      *schema            `json:"items,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Closed     *bool              `json:"additionalProperties,omitempty"`
}

// messageSchemas has the schema of the data of each type of message.
var messageSchemas = func() map[string]*schema {
	var c struct{ Messages map[string]*schema }
	if err := json.Unmarshal(contractText, &c); err != nil {
		panic("contract.json: " + err.Error()) // it is part of this program
	}
	return c.Messages
}()

// checkMessage returns an error if the data of a message do not match the schema of its type.
func checkMessage(kind string, data []byte) error {
	s := messageSchemas[kind]
	if s == nil {
		return errors.New("the contract has no such message")
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	return s.check(kind, value)
}

// check returns an error that names the field of a value that does not match the schema.
func (s *schema) check(path string, value any) error {
	switch s.Type {
	case "object":
		return s.checkObject(path, value)
	case "string":
		return s.checkString(path, value)
	case "array":
		list, is := value.([]any)
		if !is {
			return fmt.Errorf("%s: want a list", path)
		}
		for _, v := range list {
			if err := s.Items.check(path, v); err != nil {
				return err
			}
		}
	case "integer":
		n, is := value.(float64)
		if !is || n != math.Trunc(n) || n < float64(s.Minimum) {
			return fmt.Errorf("%s: want an integer of at least %d", path, s.Minimum)
		}
	}
	return nil
}

func (s *schema) checkObject(path string, value any) error {
	object, is := value.(map[string]any)
	if !is {
		return fmt.Errorf("%s: want an object", path)
	}
	for _, name := range s.Required {
		if _, has := object[name]; !has {
			return fmt.Errorf("%s: %s is missing", path, name)
		}
	}
	for name, v := range object {
		p := s.Properties[name]
		if p == nil {
			return fmt.Errorf("%s: it must not have %s", path, name)
		}
		if err := p.check(path+"."+name, v); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkString(path string, value any) error {
	text, is := value.(string)
	switch {
	case !is:
		return fmt.Errorf("%s: want a string", path)
	case s.Const != "" && text != s.Const:
		return fmt.Errorf("%s: want %q", path, s.Const)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		return fmt.Errorf("%s: %q is none of %q", path, text, s.Enum)
	case len(text) < s.MinLength:
		return fmt.Errorf("%s: want at least %d characters", path, s.MinLength)
	}
	if s.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			return fmt.Errorf("%s: want a time: %w", path, err)
		}
	}
	return nil
}
