package jsonbody

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestErrorsNameTheField(t *testing.T) {
	for text, want := range map[string]string{
		`{"tool":1}`:             "tool: want a string, got a number",
		`{"tool":["a"]}`:         "tool: want a string, got an array",
		`{"yes":"true"}`:         "yes: want a boolean, got a string",
		`{"seconds":true}`:       "seconds: want a number, got a boolean",
		`{"whole":1.5}`:          "whole: want a whole number, got a number",
		`{"inner":{"names":{}}}`: "inner.names: want an array, got an object",
		`{"inner":"x"}`:          "inner: want a JSON object, got a string",
		`[]`:                     "the body: want a JSON object, got an array",
		`{`:                      "the body: want a JSON object; this is no JSON",
		`{"tool":"a"} x`:         "the body: want a JSON object; this is no JSON",
	} {
		var into struct {
			Tool    string  `json:"tool"`
			Yes     *bool   `json:"yes"`
			Seconds float64 `json:"seconds"`
			Whole   int     `json:"whole"`
			Inner   struct {
				Names []string `json:"names"`
			} `json:"inner"`
		}
		gomega.NewWithT(t).Expect(Decode([]byte(text), &into)).To(gomega.MatchError(want), text)
	}
}
