package bundlers

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// The page in React of docs/browser.md, as it stands there, and one in Vue: the user speaks, the agent calls the page's tool, and the answer is
// shown. When the call is over, everything is as before.
func TestPagesInReactAndVue(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newProject(t, g)
	snippet := reactSnippet(g)
	lines := strings.Count(snippet, "\n")
	g.Expect(lines).To(gomega.BeNumerically("<=", 12))
	browser := rig.StartBrowser(t, rig.Options{})
	for _, name := range []string{"react", "vue"} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			site := rig.NewSite(t, func(w http.ResponseWriter, r *http.Request, _ string) {
				if r.URL.Path == "/favicon.ico" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				http.FileServer(http.Dir(filepath.Join(string(p), "out", name))).ServeHTTP(w, r)
			})
			if name == "react" {
				code := strings.ReplaceAll(snippet, "http://localhost:8080", site.Server.URL)
				g.Expect(os.WriteFile(filepath.Join(string(p), "react/main.jsx"), []byte(code), 0o600)).To(gomega.Succeed())
			}
			p.run(g, "vite", "build", name, "--outDir", "../out/"+name)
			converse(t, g, site, browser)
		})
	}
}

// The hooks and the composables with a server of sdktest, in Node, and their types in a strict compiler.
func TestHooksAndComposables(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newProject(t, g)
	tests, err := filepath.Glob(filepath.Join(string(p), "test/*.test.mjs"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(tests).NotTo(gomega.BeEmpty())
	cmd := p.command("node", append([]string{"--test"}, tests...)...)
	cmd.Env = append(cmd.Env, "NODE_ENV=development") // only then React says what renders
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", out)
	p.run(g, "tsc", "--noEmit", "--strict", "--skipLibCheck", "false", "--jsx", "react-jsx", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022", "--lib", "es2022,dom", "test/types.tsx")
}

// reactSnippet returns the page in React of docs/browser.md.
func reactSnippet(g *gomega.WithT) string {
	docs, err := os.ReadFile("../../docs/browser.md")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, after, found := strings.Cut(string(docs), "```jsx\n")
	g.Expect(found).To(gomega.BeTrue())
	snippet, _, _ := strings.Cut(after, "```")
	return snippet
}

// converse holds a call with the page.
func converse(t *testing.T, g *gomega.WithT, site *rig.Site, browser *rig.Browser) {
	t.Helper()
	tab, err := browser.Open(site.URL + "/?server=" + url.QueryEscape(site.Server.URL))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer tab.Close()
	read := func(expression string) func() (string, error) {
		return func() (string, error) { return rig.Await[string](tab, "(async () => String("+expression+"))()") }
	}
	state := read(`document.querySelector("button[data-state]")?.dataset.state`)
	log := read(`document.querySelector("[role=log]").textContent`)
	g.Eventually(state, patience).Should(gomega.Equal("disconnected"))
	g.Expect(tab.Press("button[data-state]")).To(gomega.Succeed())
	g.Eventually(state, patience).Should(gomega.Equal("listening"))
	words, err := rig.Resampled(scripted.Tones("look at the clock now"), 24000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = tab.Say(rig.Join(rig.Silence(300*time.Millisecond), words, rig.Silence(300*time.Millisecond)).WAV())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(log, patience).Should(gomega.And(gomega.ContainSubstring("look at the clock now"), gomega.ContainSubstring("clock"), gomega.ContainSubstring("Tool said:")))
	g.Expect(tab.Press("button[data-state]")).To(gomega.Succeed())
	g.Eventually(state, patience).Should(gomega.Equal("disconnected"))
	g.Eventually(log, patience).Should(gomega.BeEmpty())
	g.Expect(tab.Complaints()).To(gomega.BeEmpty())
}

// What the packages add to a page beside the script.
func TestThePackagesForFrameworksAreSmall(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, name := range []string{"react", "vue"} {
		var size counter
		packed := gzip.NewWriter(&size)
		for _, file := range []string{"store.js", name + "/index.js"} {
			code, err := os.ReadFile(filepath.Join("../../sdk/npm", file))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, err = packed.Write(code)
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		g.Expect(packed.Close()).To(gomega.Succeed())
		t.Logf("%s: %d bytes with gzip, not minified", name, size)
		g.Expect(int(size)).To(gomega.BeNumerically("<=", 6<<10))
	}
}

// counter counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
