package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/web/script"
)

const (
	// patience is for what a person waits for, glance how often it is looked for.
	patience = 40 * time.Second
	glance   = 50 * time.Millisecond
	// pictures is where screenshots go, ignored by git.
	pictures = "../../.cache/screenshots"
)

// TestMain checks in the end that nothing runs on: no call, no server, no browser.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// author is a page's author: an origin with pages that include the script of a server.
type author struct {
	t      *testing.T
	g      *gomega.WithT
	server *rig.Server
	site   *httptest.Server
	pages  map[string]sent
	close  func() error // of the server, once
}

// sent is one page: its text and its Content-Security-Policy.
type sent struct{ html, policy string }

// newAuthor starts a server with the scripted pipeline and an origin beside it.
func newAuthor(t *testing.T) *author {
	t.Helper()
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(patience)
	g.SetDefaultEventuallyPollingInterval(glance)
	g.Expect(script.Check()).To(gomega.Succeed())
	p := scripted.New(scripted.Options{})
	a := &author{t: t, g: g, pages: map[string]sent{}}
	// The site is there first: the server is told of its origin.
	a.site = httptest.NewServer(http.HandlerFunc(a.serve))
	var err error
	a.server, err = rig.Serve(p, slog.New(slog.DiscardHandler), a.site.URL)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	a.close = sync.OnceValue(a.server.Close)
	t.Cleanup(func() {
		a.site.Close()
		g.Expect(a.close()).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return a
}

func (a *author) serve(w http.ResponseWriter, r *http.Request) {
	page, ok := a.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if page.policy != "" {
		w.Header().Set("Content-Security-Policy", strings.ReplaceAll(page.policy, "SERVER", a.server.URL))
	}
	kind := map[string]string{".js": "text/javascript", ".css": "text/css"}[filepath.Ext(r.URL.Path)]
	if kind == "" {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write([]byte(strings.ReplaceAll(page.html, "SERVER", a.server.URL))) // the browser may be gone
}

// file reads a file of testdata.
func (a *author) file(name string) string {
	a.t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	return string(content)
}

// launch starts a browser that ends with the test.
func (a *author) launch(o rig.Options) *rig.Browser {
	a.t.Helper()
	b, err := rig.Launch(context.WithoutCancel(a.t.Context()), o)
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	a.t.Cleanup(b.Close)
	return b
}

// visitor is a person with one of the author's pages.
type visitor struct {
	*rig.Tab
	*author
}

// visit opens the author's page.
func (a *author) visit(b *rig.Browser) *visitor {
	a.t.Helper()
	tab, err := b.Open(a.site.URL + "/")
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	v := &visitor{Tab: tab, author: a}
	a.t.Cleanup(func() {
		if a.t.Failed() {
			v.picture("failed-" + strings.ReplaceAll(a.t.Name(), "/", "-"))
			said, err := tab.Complaints()
			a.t.Log("the browser complains of", said, err)
		}
		tab.Close()
	})
	return v
}

// does runs a script; a promise is waited for.
func (v *visitor) does(format string, args ...any) {
	v.t.Helper()
	_, err := rig.Await[bool](v.Tab, "(async () => {"+fmt.Sprintf(format, args...)+"; return true; })()")
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// told asks for something, as JSON.
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

// picture keeps a screenshot.
func (v *visitor) picture(name string) {
	v.t.Helper()
	png, err := v.Screenshot()
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	v.g.Expect(os.MkdirAll(pictures, 0o755)).To(gomega.Succeed())
	v.g.Expect(os.WriteFile(filepath.Join(pictures, "page-"+name+".png"), png, 0o600)).To(gomega.Succeed())
}

// says speaks into the microphone and gives the moment of the first sound of it, on the page's clock.
func (v *visitor) says(s rig.Sound) (onsetMS float64) {
	v.t.Helper()
	at, err := v.Say(s.WAV())
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	return at + float64(s.Onset().Milliseconds())
}
