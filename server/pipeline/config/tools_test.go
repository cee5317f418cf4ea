package config

// The section `tools`: the tools that the server runs.

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestServerTools(t *testing.T) {
	g := gomega.NewWithT(t)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path == "/broken" {
			http.Error(w, "no such town", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+" "+string(body))
	}))
	defer server.Close()
	f, err := Parse("antiphon.yaml", []byte(`
tools:
  announcement: One moment.
  after: 2s
  functions:
    - {name: wind, description: The wind., url: "`+server.URL+`/wind?unit=m", key_env: WIND, timeout: 5s, parameters: {type: object}}
    - {name: broken, url: "`+server.URL+`/broken"}
`), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	set, err := f.ServerTools(Env{Getenv: func(string) string { return "sk-1" }})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]any{set.Announcement, set.Patience(), set.Tools[0].Limit(), string(set.Tools[0].Parameters)}).To(
		gomega.Equal([]any{"One moment.", 2 * time.Second, 5 * time.Second, `{"type":"object"}`}))
	output, err := set.Find("wind").Run(t.Context(), `{"town":"Oslo"}`)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(output).To(gomega.Equal(`POST /wind?unit=m Bearer sk-1 {"town":"Oslo"}`))
	_, err = set.Find("broken").Run(t.Context(), "{}")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("503")))
	g.Expect(asked).To(gomega.Equal(2), "a call is sent once")
}

func TestServerToolMistakes(t *testing.T) {
	for src, says := range map[string]string{
		"{name: a b, url: http://x}":                                   "want a name",
		"{name: a, url: ftp://x}":                                      "no address of HTTP",
		"{name: a, url: http://x, key_env: NONE}":                      "NONE",
		"{name: a, url: http://x}, {name: a, url: http://x}":           "two tools of this name",
		"{name: a, url: http://x, approval: required}":                 "for tools with background: true",
		"{name: a, url: http://x, headers: {'a b': c}}":                "no valid header field",
		"{name: a, url: http://x, key_env: A, key_file: antiphon.yml}": "both set",
	} {
		g := gomega.NewWithT(t)
		f, err := Parse("antiphon.yaml", []byte("tools: {functions: ["+src+"]}"), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = f.ServerTools(Env{Getenv: func(string) string { return "" }})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), src)
	}
}

// A tool that works in the background is none of a response.
func TestBackgroundTools(t *testing.T) {
	g := gomega.NewWithT(t)
	f, err := Parse("antiphon.yaml", []byte("tools: {functions: [{name: a, url: http://x, repeatable: true}, {name: b, url: http://x, background: true, approval: required}, {name: c, url: http://x, background: true, repeatable: true}]}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	set, err := f.ServerTools(Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(set.Tools).To(gomega.HaveExactElements(gomega.HaveField("Repeatable", true)))
	background, err := f.BackgroundTools(Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got []any
	for _, b := range background {
		got = append(got, b.Name, b.Approval, b.Repeatable)
	}
	g.Expect(got).To(gomega.Equal([]any{"b", true, false, "c", false, true}))
}
