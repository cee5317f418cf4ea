package examples

// The helpers of these tests: an example's page in a browser, with a server.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// root is the repository's folder.
const root = "../.."

// written is the server's address in the files of the examples.
const written = "http://localhost:8080"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// page is an example in a browser, with a server of its own.
type page struct {
	*rig.Tab
	*gomega.WithT
	t *testing.T
}

// shown returns the first block of code of a document in a language.
func shown(document, language string) string {
	text, _ := os.ReadFile(filepath.Join(root, document)) // the caller finds that there is none
	_, after, _ := strings.Cut(string(text), "```"+language+"\n")
	block, _, _ := strings.Cut(after, "```")
	return block
}

// show opens the page of an example, or the page that a document shows. It replaces the server's address in the files, and nothing else.
func show(t *testing.T, folder string) *page {
	t.Helper()
	p := &page{WithT: gomega.NewWithT(t), t: t}
	p.patient()
	site := rig.NewSite(t, func(w http.ResponseWriter, r *http.Request, server string) {
		name := path.Clean(r.URL.Path)
		if name == "/" {
			name = "/index.html"
		}
		content, err := os.ReadFile(filepath.Join(root, "examples", folder, filepath.FromSlash(name)))
		if block := shown(folder, "html"); block != "" && name == "/index.html" {
			content, err = []byte(block), nil
		}
		if err != nil && name != "/favicon.ico" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
		_, _ = w.Write(bytes.ReplaceAll(content, []byte(written), []byte(server))) // writing fails when the browser is gone
	})
	p.Tab = site.Visit(t, rig.StartBrowser(t, rig.Options{}), nil)
	return p
}

// patient sets how long the checks wait.
func (p *page) patient() {
	p.SetDefaultEventuallyTimeout(40 * time.Second)
	p.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
}

// does runs a script in the page, and waits for its promise if it returns one.
func (p *page) does(format string, args ...any) {
	p.t.Helper()
	_, err := rig.Await[bool](p.Tab, "(async () => {"+fmt.Sprintf(format, args...)+"; return true; })()")
	p.Expect(err).NotTo(gomega.HaveOccurred())
}

// text returns the text of an element in the page.
func (p *page) text(expression string) string {
	p.t.Helper()
	told, err := rig.Await[string](p.Tab, "(async () => JSON.stringify(String("+expression+")))()")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	var text string
	p.Expect(json.Unmarshal([]byte(told), &text)).To(gomega.Succeed(), told)
	return text
}

// becomes waits until the text of an element matches.
func (p *page) becomes(expression string, fits any) {
	p.t.Helper()
	p.Eventually(func() string { return p.text(expression) }).Should(gomega.MatchRegexp(fmt.Sprint(fits)), expression)
}

// quiet checks that the browser has no complaints.
func (p *page) quiet() {
	p.t.Helper()
	p.Expect(p.Complaints()).To(gomega.BeEmpty())
}
