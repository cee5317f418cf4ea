package fit_test

// Arguments that fit a tool's JSON schema.

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/fit"
)

func TestArguments(t *testing.T) {
	src := fit.Source{Text: "weather in Oslo", Numbers: []float64{3, 4.5}}
	for _, row := range []struct{ name, schema, want string }{
		{"first string gets the text", `{"type":"object","properties":{"n":{"type":"integer"},"city":{"type":"string"}}}`, `{"city":"weather in Oslo"}`},
		{
			"order of the schema, not of the alphabet", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`,
			`{"z":"weather in Oslo"}`,
		},
		{
			"required by type", `{"type":"object","required":["s","i","f","b","a","o"],"properties":{"s":{"type":"string"},"i":{"type":"integer"},
			"f":{"type":"number"},"b":{"type":"boolean"},"a":{"type":"array"},"o":{"type":"object","required":["x"],"properties":{"x":{"type":"string"}}}}}`,
			`{"s":"weather in Oslo","i":3,"f":4.5,"b":false,"a":[],"o":{"x":"weather in Oslo"}}`,
		},
		{"enum by the text", `{"properties":{"city":{"type":"string","enum":["Rome","oslo"]}}}`, `{"city":"oslo"}`},
		{"enum without a match", `{"properties":{"unit":{"type":"string","enum":["metric","us"]}}}`, `{"unit":"metric"}`},
		{"const and default", `{"required":["v","d"],"properties":{"v":{"const":7},"d":{"type":"number","default":2}}}`, `{"v":7,"d":2}`},
		{"nullable", `{"properties":{"q":{"type":["string","null"]}}}`, `{"q":"weather in Oslo"}`},
		{"any of", `{"required":["q"],"properties":{"q":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}`, `{"q":3}`},
		{"items", `{"required":["l"],"properties":{"l":{"type":"array","minItems":2,"items":{"type":"string"}}}}`, `{"l":["weather in Oslo","weather in Oslo"]}`},
		{"no parameters", `{"type":"object","properties":{}}`, `{}`},
		{"no schema", ``, `{}`},
		{"broken schema", `{"properties":[1]}`, `{}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(fit.Arguments([]byte(row.schema), src)).To(gomega.Equal(row.want))
		})
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	deep := strings.Repeat(`{"required":["x"],"properties":{"x":`, 500) + `{"type":"string"}` + strings.Repeat(`}}`, 500)
	g.Expect(len(fit.Arguments([]byte(deep), fit.Source{Text: "t"}))).To(gomega.BeNumerically("<", 200))
	many := `{"required":["l"],"properties":{"l":{"type":"array","minItems":1000000,"items":{"type":"boolean"}}}}`
	var v struct{ L []bool }
	g.Expect(json.Unmarshal([]byte(fit.Arguments([]byte(many), fit.Source{})), &v)).To(gomega.Succeed())
	g.Expect(v.L).To(gomega.HaveLen(255))
	nested := `{"required":["l"],"properties":{"l":` + strings.Repeat(`{"type":"array","minItems":64,"items":`, 8) + `{"type":"boolean"}` + strings.Repeat(`}`, 8) + `}}`
	g.Expect(len(fit.Arguments([]byte(nested), fit.Source{}))).To(gomega.BeNumerically("<", 1<<16))
}
