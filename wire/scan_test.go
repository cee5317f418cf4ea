package wire

// Tests of the JSON scanner against encoding/json.

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, text := range []string{
		``, ` `, `0`, `-0`, `00`, `1.`, `.5`, `+1`, `1e`, `1e+`, `1E-07`, `-`, `--1`, `1.5.2`, `0x10`, `NaN`, `Infinity`,
		`null`, `nul`, `nulll`, `true`, `True`, `false `, "\ufefftrue", "\x00", `{}`, `{ }`, `[ ]`, `[`, `]`, `{`, `}`, `[1,]`, `[,1]`, `[1 2]`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a":1}}`, `{1:2}`, `{"a":1}`, `{"":{}}`, `[[[]]]`, `[{"a":[null,{}]}]`,
		`"`, `"a`, `"a"b`, `""`, `"\"`, `"\""`, `"\u00"`, `"\u00e9"`, `"\uZZZZ"`, `"\x"`, `"\/"`, "\"\t\"", "\"\x7f\"", "\"\xff\"",
		`"0123456789012345"`, "\"01234567890123\n5\"", `"0123456789\u12345"`, "\t{\r\n}\n", "{}\v", `// c`, `'a'`,
	} {
		g.Expect(Raw(text).Valid()).To(gomega.Equal(json.Valid([]byte(text))), "%q", text)
	}
}

// Every place in a string of every length is looked at, however the eight bytes of a step fall.
func TestStringsEndWhereTheyEnd(t *testing.T) {
	g := gomega.NewWithT(t)
	for n := range 40 {
		for _, special := range []string{`"`, `\"`, "\x1f", "\xe9", "é", `\u0041`} {
			text := `"` + strings.Repeat("x", n) + special + strings.Repeat("y", 11) + `"`
			g.Expect(Raw(text).Valid()).To(gomega.Equal(json.Valid([]byte(text))), "%q", text)
			var want string
			if json.Unmarshal([]byte(text), &want) == nil {
				got, ok := Raw(text).Text()
				g.Expect(ok).To(gomega.BeTrue())
				g.Expect(got).To(gomega.Equal(want))
			}
		}
	}
}

func TestPlainStopsAtTheFirstSpecialByte(t *testing.T) {
	g := gomega.NewWithT(t)
	for ch := range 256 {
		for at := range 17 {
			b := bytes.Repeat([]byte("~"), 20)
			b[at], b[at+2] = byte(ch), '"'
			want := at + 2
			if ch < ' ' || ch == '"' || ch == '\\' {
				want = at
			}
			g.Expect(plain(b, 0)).To(gomega.Equal(want), "%q", b)
		}
	}
}

func TestDepthIsLimited(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	t.Run("as deep as may be", func(t *testing.T) {
		g := gomega.NewWithT(t)
		g.Expect(Raw(nest(MaxDepth)).Valid()).To(gomega.BeTrue())
		_, err := DecodeClient([]byte(`{"type":"session.update","session":{"x":` + nest(MaxDepth-2) + `}}`))
		g.Expect(err).NotTo(gomega.HaveOccurred())
	})
	t.Run("one deeper", func(t *testing.T) {
		g := gomega.NewWithT(t)
		g.Expect(Raw(nest(MaxDepth + 1)).Valid()).To(gomega.BeFalse())
		_, err := DecodeClient([]byte(`{"event_id":"e","type":"session.update","session":{"x":` + nest(MaxDepth-1) + `}}`))
		g.Expect(err).To(gomega.HaveField("Code", CodeInvalidJSON))
		g.Expect(err).To(gomega.HaveField("EventID", "e"))
		g.Expect(err).To(gomega.HaveField("Pos", 55+MaxDepth-2))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("at most 64 levels")))
	})
	t.Run("a million deep", func(t *testing.T) {
		g := gomega.NewWithT(t)
		_, err := DecodeServer([]byte(strings.Repeat(`{"type":`, 1_000_000)))
		g.Expect(err).To(gomega.HaveField("Code", CodeInvalidJSON))
	})
}

func TestListsAreLimited(t *testing.T) {
	g := gomega.NewWithT(t)
	list := func(n int) []byte {
		return []byte(`{"type":"rate_limits.updated","event_id":"e","rate_limits":[{}` + strings.Repeat(`,{}`, n-1) + `]}`)
	}
	e, err := DecodeServer(list(maxElements))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(e.(*RateLimitsUpdated).RateLimits).To(gomega.HaveLen(maxElements))
	_, err = DecodeServer(list(maxElements + 1))
	g.Expect(err).To(gomega.HaveField("Code", CodeInvalidValue))
	g.Expect(err).To(gomega.HaveField("Param", "rate_limits"))

	s := DefaultSession()
	tool := `{"type":"function","name":"f"}`
	g.Expect(s.Merge(Raw(`{"tools":[` + tool + strings.Repeat(","+tool, MaxTools-1) + `]}`))).To(gomega.Succeed())
	g.Expect(s.Tools).To(gomega.HaveLen(MaxTools))
	err = s.Merge(Raw(`{"tools":[` + tool + strings.Repeat(","+tool, MaxTools) + `]}`))
	g.Expect(err).To(gomega.HaveField("Param", "session.tools"))
}
