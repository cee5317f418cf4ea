package bundlers

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// patience bounds each wait for a page. Only a failure takes all of it.
const patience = 10 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a fresh project with the bundlers and with the package as npm packs it.
type project string

func newProject(t *testing.T, g *gomega.WithT) project {
	t.Helper()
	root, err := filepath.Abs("../..")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := project(filepath.Join(root, ".cache/bundlers"))
	g.Expect(string(p)).To(gomega.BeADirectory(), "scripts/bundlers.sh makes it")
	for _, made := range []string{"src", "app", "out", ".next", ".parcel-cache", "node_modules/.vite", "node_modules/antiphon", "node_modules/@antiphon", "react", "vue", "test"} {
		g.Expect(os.RemoveAll(filepath.Join(string(p), made))).To(gomega.Succeed())
	}
	p.run(g, "cp", "-r", filepath.Join(root, "e2e/bundlers/project")+"/.", ".")
	for name, source := range map[string]string{"antiphon": "dist", "@antiphon/react": "react", "@antiphon/vue": "vue"} {
		p.install(g, name, filepath.Join(root, "sdk/npm", source))
	}
	return p
}

// install installs the package in a folder as npm packs it.
func (p project) install(g *gomega.WithT, name, from string) {
	p.run(g, "npm", "pack", "--silent", "--cache", "../npm", from)
	tarballs, err := filepath.Glob(filepath.Join(string(p), "antiphon-*.tgz"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(tarballs).To(gomega.HaveLen(1))
	to := filepath.Join("node_modules", name)
	g.Expect(os.MkdirAll(filepath.Join(string(p), to), 0o755)).To(gomega.Succeed())
	p.run(g, "tar", "-xzf", tarballs[0], "-C", to, "--strip-components=1")
	g.Expect(os.Remove(tarballs[0])).To(gomega.Succeed())
}

// command returns a command of the project. The name of a bundler is that of its program.
func (p project) command(name string, args ...string) *exec.Cmd {
	if programs, _ := filepath.Glob(filepath.Join(string(p), "node_modules/@oven/*/bin", name)); len(programs) == 1 { // bun is no script
		name = programs[0]
	} else if script := filepath.Join(string(p), "node_modules/.bin", name); exists(script) {
		name = script
	}
	cmd := exec.Command(name, args...) //nolint:gosec // commands of this test
	cmd.Dir = string(p)
	cmd.Env = append(os.Environ(), "NEXT_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1", "NODE_ENV=production")
	return cmd
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// run runs a command to its end.
func (p project) run(g *gomega.WithT, name string, args ...string) {
	out, err := p.command(name, args...).CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s %v: %s", name, args, out)
}

// dev starts the development server of Vite, and returns its address.
func (p project) dev(t *testing.T, g *gomega.WithT) *url.URL {
	t.Helper()
	address, err := rig.FreeAddress()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cmd := p.command("vite", "--host", "127.0.0.1", "--port", strings.TrimPrefix(address, "127.0.0.1:"), "--strictPort")
	cmd.Env = append(cmd.Env, "NODE_ENV=development")
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	g.Eventually(func() error {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	}, patience).Should(gomega.Succeed())
	return &url.URL{Scheme: "http", Host: address}
}

// html is a page whose script is the bundle.
const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title><button id="begin">Talk</button><p id="transcript"></p>
<antiphon-talk></antiphon-talk><script type="module" src="main.js"></script></html>`

func TestEachBundlerTakesThePackage(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newProject(t, g)
	browser := rig.StartBrowser(t, rig.Options{})
	for _, row := range []struct {
		name  string
		build []string // empty: the development server of Vite
		page  bool     // the bundler makes the script alone
	}{
		{name: "vite", build: []string{"vite", "build", "--outDir", "out/vite"}},
		{name: "vite, in development"},
		{name: "webpack", build: []string{"webpack", "--mode", "production", "--entry", "./src/main.js", "-o", "out/webpack"}, page: true},
		{name: "rollup", build: []string{"rollup", "src/main.js", "-p", "node-resolve", "-d", "out/rollup", "-f", "es"}, page: true},
		{name: "parcel", build: []string{"parcel", "build", "index.html", "--dist-dir", "out/parcel", "--no-cache"}},
		{name: "bun", build: []string{"bun", "build", "index.html", "--outdir", "out/bun"}},
		{name: "next", build: []string{"next", "build"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var pages http.Handler
			if len(row.build) > 0 {
				p.run(g, row.build[0], row.build[1:]...)
				folder := filepath.Join(string(p), "out", row.name)
				if row.name == "next" {
					folder = filepath.Join(string(p), "out") // Next.js empties it
				}
				if row.page {
					g.Expect(os.WriteFile(filepath.Join(folder, "index.html"), []byte(html), 0o600)).To(gomega.Succeed())
				}
				pages = http.FileServer(http.Dir(folder))
			} else {
				pages = httputil.NewSingleHostReverseProxy(p.dev(t, g))
			}
			site := rig.NewSite(t, func(w http.ResponseWriter, r *http.Request, _ string) {
				if r.URL.Path == "/favicon.ico" {
					w.WriteHeader(http.StatusNoContent)
					return
				}
				pages.ServeHTTP(w, r)
			})
			call(t, g, site, browser)
		})
	}
}

// call places a call from the page of the site, and waits for the answer.
func call(t *testing.T, g *gomega.WithT, site *rig.Site, browser *rig.Browser) {
	t.Helper()
	tab, err := browser.Open(site.URL + "/?server=" + url.QueryEscape(site.Server.URL))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer tab.Close()
	defer func() {
		if t.Failed() {
			text, err := tab.Complaints()
			t.Log("the browser complains of", text, err)
		}
	}()
	read := func(expression string) func() (string, error) {
		return func() (string, error) { return rig.Await[string](tab, "(async () => String("+expression+"))()") }
	}
	g.Eventually(read(`Boolean(document.querySelector("antiphon-talk")?.shadowRoot?.querySelector("button"))`), patience).Should(gomega.Equal("true"), "the element is there")
	g.Eventually(func() error { return tab.Press("#begin") }, patience).Should(gomega.Succeed())
	g.Eventually(read(`document.getElementById("transcript").textContent`), patience).Should(gomega.ContainSubstring("agent: You said: hello there"))
	g.Expect(tab.Complaints()).To(gomega.BeEmpty())
}
