package wire

// Tests of the limits of the protocol, for example on metadata.

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestMetadata(t *testing.T) {
	pairs := func(n int, value string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf("%q:%s", fmt.Sprint("k", i), value)
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	long := func(n int) string { return `"` + strings.Repeat("ü", n) + `"` }
	for _, row := range []struct {
		name, metadata string
		ok             bool
	}{
		{"none", `null`, true},
		{"no pairs", `{}`, true},
		{"16 pairs", pairs(16, `"v"`), true},
		{"17 pairs", pairs(17, `"v"`), false},
		{"the longest value", pairs(1, long(512)), true},
		{"a longer value", pairs(1, long(513)), false},
		{"the longest key", `{` + long(64) + `:"v"}`, true},
		{"a longer key", `{` + long(65) + `:"v"}`, false},
		{"a number", pairs(1, `7`), false},
		{"an object", pairs(1, `{}`), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := DecodeClient([]byte(`{"type":"response.create","response":{"metadata":` + row.metadata + `}}`))
			if row.ok {
				g.Expect(err).NotTo(gomega.HaveOccurred())
				return
			}
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("response.metadata")))
		})
	}
}

func TestTruncate(t *testing.T) {
	for text, want := range map[string]Truncation{
		`"auto"`:     {Retain: 1},
		`"disabled"`: {Disabled: true, Retain: 1},
		`{"type":"retention_ratio","retention_ratio":0.5}`:                                                  {Retain: 0.5},
		`{"type":"retention_ratio","retention_ratio":0}`:                                                    {},
		`{"type":"retention_ratio","retention_ratio":1,"token_limits":{"post_instructions":500}}`:           {Retain: 1, PostInstructions: 500},
		`{"type":"retention_ratio","retention_ratio":1,"token_limits":{"post_instructions":null,"x":true}}`: {Retain: 1},
	} {
		g := gomega.NewWithT(t)
		s := DefaultSession()
		g.Expect(s.Merge(Raw(`{"truncation":`+text+`}`))).To(gomega.Succeed(), text)
		g.Expect(s.Truncate()).To(gomega.Equal(want), text)
	}
}

func TestRawMembers(t *testing.T) {
	g := gomega.NewWithT(t)
	var all []string
	see := func(name string, value Raw) bool {
		all = append(all, name+"="+string(value))
		return name != "stop"
	}
	g.Expect(Raw(` {"a" : 1, "b\u0031": [2,3] , "c":{}}`).Members(see)).To(gomega.BeTrue())
	g.Expect(all).To(gomega.Equal([]string{"a=1", "b1=[2,3]", "c={}"}))
	g.Expect(Raw(`{"stop":1,"b":2}`).Members(see)).To(gomega.BeFalse())
	for _, no := range []string{"", "7", "[1]", `{"a":}`, `"x"`} {
		g.Expect(Raw(no).Members(see)).To(gomega.BeFalse(), no)
	}
	for _, no := range []string{"", `"1"`, "[1]", "-", "1e99"} {
		_, ok := Raw(no).Float()
		g.Expect(ok).To(gomega.BeFalse(), no)
	}
	v, ok := Raw(" -2.5e1 ").Float()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(v).To(gomega.Equal(-25.0))
}

func TestPromptAndStatus(t *testing.T) {
	for text, param := range map[string]string{
		`{"type":"response.create","response":{"prompt":{"id":"p","version":null,"variables":null}}}`:                                          "",
		`{"type":"response.create","response":{"prompt":{"id":"p","version":"2","variables":{"a":"b","c":{"type":"input_text","text":"d"}}}}}`: "",
		`{"type":"response.create","response":{"prompt":{"version":"2"}}}`:                                                                     "response.prompt",
		`{"type":"response.create","response":{"prompt":{"id":"p","version":2}}}`:                                                              "response.prompt.version",
		`{"type":"response.create","response":{"prompt":{"id":"p","variables":[]}}}`:                                                           "response.prompt.variables",
		`{"type":"response.create","response":{"prompt":{"id":"p","variables":{"a":7}}}}`:                                                      "response.prompt.variables",
		`{"type":"response.create","response":{"prompt":{"id":"p","variables":{"a":{"type":"input_image"}}}}}`:                                 "response.prompt.variables",
		`{"type":"conversation.item.create","item":{"type":"message","status":"done","role":"user","content":[]}}`:                             "item.status",
	} {
		t.Run(text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := DecodeClient([]byte(text))
			if param == "" {
				g.Expect(err).NotTo(gomega.HaveOccurred())
				return
			}
			var bad *DecodeError
			g.Expect(errors.As(err, &bad)).To(gomega.BeTrue())
			g.Expect([]string{bad.Code, bad.Param}).To(gomega.Equal([]string{CodeInvalidValue, param}))
		})
	}
}
