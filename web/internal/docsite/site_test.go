//go:build !js

package docsite

// The pages of the documents: their links, the search, caching, and addresses without a page.

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/asset"
)

var (
	all, fault = build(nil)

	linked = regexp.MustCompile(`(?:href|src|data-index)="([^"]*)"`)
)

func get(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	all.serve(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	return w
}

// Every page that is linked from the first one is there, with the anchor, and every file of the repository that a page names.
func TestEveryLinkResolves(t *testing.T) {
	if fault != nil {
		t.Fatal(fault)
	}
	seen := map[string]string{Prefix: get(Prefix).Body.String()}
	for todo := []string{Prefix}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		for _, m := range linked.FindAllStringSubmatch(seen[at], -1) {
			if file, ok := strings.CutPrefix(m[1], source); ok {
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat("../../../" + file); err != nil {
					t.Errorf("%s links to %s, which the repository does not have", at, file)
				}
				continue
			}
			to, anchor, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = at
			}
			if !strings.HasPrefix(to, Prefix) {
				continue
			}
			if _, ok := seen[to]; !ok {
				w := get(to)
				if seen[to] = w.Body.String(); w.Code != http.StatusOK {
					t.Errorf("%s links to %s, which answers %d", at, to, w.Code)
				}
				if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
					todo = append(todo, to)
				}
			}
			if anchor != "" && !strings.Contains(seen[to], `id="`+anchor+`"`) {
				t.Errorf("%s links to %s, which has no such heading (HTML in a document is left out)", at, m[1])
			}
		}
	}
	for name := range all.files {
		if _, ok := seen[name]; !ok && all.files[name].ContentType == "text/html; charset=utf-8" {
			t.Errorf("no page leads to %s: name it in docs/README.md", name)
		}
	}
}

func TestThePagesAreOfTheDocuments(t *testing.T) {
	g := gomega.NewWithT(t)
	w := get("/docs/once")
	g.Expect(w.Header().Get("Content-Security-Policy")).To(gomega.And(gomega.ContainSubstring("default-src 'none'"), gomega.Not(gomega.ContainSubstring("unsafe"))))
	g.Expect(w.Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck))
	html := w.Body.String()
	g.Expect(html).To(gomega.ContainSubstring(`<a href="/docs/once" aria-current="page">`), "the list of pages shows where the reader is")
	g.Expect(html).To(gomega.ContainSubstring(`<a href="/docs/once#how-it-runs">How it runs</a>`))
	g.Expect(get("/docs/models").Body.String()).To(gomega.MatchRegexp(`<a href="/docs/[a-z]+"><code>docs/[a-z]+\.md</code></a>`), "a document that is named is a link")
	g.Expect(html).NotTo(gomega.MatchRegexp(`style=|<script[^>]*>[^<]`))
	for _, path := range regexp.MustCompile(`/docs/[a-z.]+\?v=[0-9a-f]{12}`).FindAllString(html, -1) {
		g.Expect(get(path).Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheForever), path)
	}
	g.Expect(get("/docs/docs.js?v=0").Header().Get("Cache-Control")).To(gomega.Equal(asset.CacheCheck))
}

func TestTheIndexHasATerm(t *testing.T) {
	g := gomega.NewWithT(t)
	var sections []section
	g.Expect(json.Unmarshal(get("/docs/search.json").Body.Bytes(), &sections)).To(gomega.Succeed())
	g.Expect(sections).To(gomega.ContainElement(gomega.And(
		gomega.HaveField("Page", "Glossary"), gomega.HaveField("Text", gomega.ContainSubstring("barge-in")))))
	g.Expect(len(get("/docs/search.json").Body.Bytes())).To(gomega.BeNumerically("<", 1<<20), "what the browser loads for a search")
}

func TestAnAddressWithoutAPageHelps(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, path := range []string{"/docs/nothing", "/docs/nothing/", "/docs/../go.mod", "/docs/embed.go", "/docs/<script>"} {
		w := get(strings.ReplaceAll(path, "<", "%3C"))
		g.Expect(w.Code).To(gomega.Equal(http.StatusNotFound), path)
		g.Expect(w.Body.String()).To(gomega.And(gomega.ContainSubstring(`id="missing"`), gomega.ContainSubstring(`href="/docs/models"`)))
	}
	for path, to := range map[string]string{
		"/docs": "/docs/", "/docs/models.md": "/docs/models", "/docs/README.md": "/docs/", "/docs/decisions": "/docs/decisions/", "/docs/decisions/README": "/docs/decisions/",
	} {
		g.Expect(get(path).Header().Get("Location")).To(gomega.Equal(to), path)
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	g := gomega.NewWithT(t)
	a := anchors{}
	for _, row := range [][2]string{{"`response.create`", "responsecreate"}, {"Runs: work", "runs-work"}, {"A_b Ü", "a_b-ü"}, {"Runs: work", "runs-work-1"}} {
		g.Expect(string(a.Generate([]byte(row[0]), 0))).To(gomega.Equal(row[1]))
	}
}
