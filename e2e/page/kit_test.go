package page_test

// The helpers of these tests: an origin with pages, a browser, and actions on a page.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

const (
	// patience bounds a wait for the page, and glance is how often a wait looks at it.
	patience = 40 * time.Second
	glance   = 50 * time.Millisecond
	// pictures is the folder for screenshots, which git ignores.
	pictures = "../../.cache/screenshots"
)

// TestMain checks at the end that no goroutine runs: no call, no server, no browser.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// author is an origin with pages that include the script of a server.
type author struct {
	t      *testing.T
	g      *gomega.WithT
	site   *rig.Site
	server *rig.Server
	pages  map[string]sent
}

// sent is one page: its text and its Content-Security-Policy.
type sent struct{ html, policy string }

// newAuthor starts a server with the scripted pipeline, and an origin with pages.
func newAuthor(t *testing.T) *author {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(glance)
	a := &author{t: t, g: g, pages: map[string]sent{}}
	a.site = rig.NewSite(t, a.serve)
	a.server = a.site.Server
	return a
}

func (a *author) serve(w http.ResponseWriter, r *http.Request, server string) {
	page, ok := a.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if page.policy != "" {
		w.Header().Set("Content-Security-Policy", strings.ReplaceAll(page.policy, "SERVER", server))
	}
	kind := map[string]string{".js": "text/javascript", ".css": "text/css"}[filepath.Ext(r.URL.Path)]
	if kind == "" {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write([]byte(strings.ReplaceAll(page.html, "SERVER", server))) // writing fails when the browser is gone
}

// file returns the content of a file in testdata.
func (a *author) file(name string) string {
	a.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	return string(content)
}

// launch starts a browser that ends with the test.
func (a *author) launch(o rig.Options) *rig.Browser {
	a.t.Helper()
	return rig.StartBrowser(a.t, o)
}

// visitor is a browser tab with one of the author's pages.
type visitor struct {
	*rig.Tab
	*author
}

// visit opens the author's page.
func (a *author) visit(b *rig.Browser) *visitor {
	a.t.Helper()
	v := &visitor{author: a}
	v.Tab = a.site.Visit(a.t, b, func(tab *rig.Tab) {
		v.Tab = tab
		v.picture("failed-" + strings.ReplaceAll(a.t.Name(), "/", "-"))
	})
	return v
}

// does runs a script in the page, and waits for its promise if it returns one.
func (v *visitor) does(format string, args ...any) {
	v.t.Helper()
	_, err := rig.Await[bool](v.Tab, "(async () => {"+fmt.Sprintf(format, args...)+"; return true; })()")
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// told evaluates an expression in the page and returns its value.
func told[T any](v *visitor, expression string) T {
	v.t.Helper()
	text, err := rig.Await[string](v.Tab, "(async () => JSON.stringify("+expression+"))()")
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	var value T
	v.g.Expect(json.Unmarshal([]byte(text), &value)).To(gomega.Succeed(), text)
	return value
}

// becomes waits until an expression is true.
func (v *visitor) becomes(expression string) {
	v.t.Helper()
	v.g.Eventually(func() bool { return told[bool](v, "Boolean("+expression+")") }).Should(gomega.BeTrue(), expression)
}

// picture saves a screenshot.
func (v *visitor) picture(name string) {
	v.t.Helper()
	png, err := v.Screenshot()
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	v.g.Expect(os.MkdirAll(pictures, 0o755)).To(gomega.Succeed())
	v.g.Expect(os.WriteFile(filepath.Join(pictures, "page-"+name+".png"), png, 0o600)).To(gomega.Succeed())
}

// says speaks into the microphone and returns the time of the first sound, on the page's clock.
func (v *visitor) says(s rig.Sound) (onsetMS float64) {
	v.t.Helper()
	at, err := v.Say(s.WAV())
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	return at + float64(s.Onset().Milliseconds())
}
