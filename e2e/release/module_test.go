package release

// What a stranger gets of a version: the module as a proxy serves it, in empty folders.

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/pagescript"
	"github.com/antiphon-rt/antiphon/server"
)

// ours is the module, and its tag.
var ours = module.Version{Path: "github.com/antiphon-rt/antiphon", Version: "v" + server.Version}

// proxy writes a module proxy with this version alone, made of the files in git's index, into a folder.
func proxy(t *testing.T, g *gomega.WithT, folder string) {
	t.Helper()
	repository, err := filepath.Abs("../..")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	folder = filepath.Join(folder, ours.Path, "@v")
	g.Expect(os.MkdirAll(folder, 0o755)).To(gomega.Succeed())
	archive, err := os.Create(filepath.Join(folder, ours.Version+".zip"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	tree := filepath.Join(t.TempDir(), "tree")
	cmd := exec.CommandContext(t.Context(), "git", "checkout-index", "--all", "--prefix="+tree+"/")
	cmd.Dir = repository
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	g.Expect(zip.CreateFromDir(archive, ours, tree)).To(gomega.Succeed())
	g.Expect(archive.Close()).To(gomega.Succeed())
	goMod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	info, err := json.Marshal(map[string]any{"Version": ours.Version, "Time": time.Unix(0, 0).UTC()})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for name, content := range map[string][]byte{"list": []byte(ours.Version + "\n"), ours.Version + ".info": info, ours.Version + ".mod": goMod} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(gomega.Succeed())
	}
}

// stranger is somebody with Go and an empty folder. The proxy has this module; every other module comes from this machine's cache, or
// from the proxies that this machine uses.
type stranger struct {
	g      *gomega.WithT
	folder string
	env    []string
}

func newStranger(t *testing.T) stranger {
	t.Helper()
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cache, proxies, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	proxy(t, g, filepath.Join(dir, "proxy"))
	s := stranger{g: g, folder: filepath.Join(dir, "folder")}
	g.Expect(os.Mkdir(s.folder, 0o755)).To(gomega.Succeed())
	s.env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://"+filepath.Join(dir, "proxy")+",file://"+filepath.Join(cache, "cache", "download")+","+proxies,
		"GOMODCACHE="+filepath.Join(dir, "modules"), "GOBIN="+s.folder, "GOFLAGS=-modcacherw -trimpath",
	)
	return s
}

// does runs a command of Go in the folder.
func (s stranger) does(args ...string) {
	cmd := exec.Command("go", args...) //nolint:gosec // commands of these tests
	cmd.Dir, cmd.Env = s.folder, s.env
	out, err := cmd.CombinedOutput()
	s.g.Expect(err).NotTo(gomega.HaveOccurred(), "go %v: %s", args, out)
}

// serves runs a server of the folder, and expects an answer at each of these paths.
func (s stranger) serves(t *testing.T, paths []string, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.folder, program), args...) //nolint:gosec // the program that was made here
	cmd.Dir = s.folder
	running, err := rig.Run(cmd)
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { s.g.Expect(running.Stop()).To(gomega.Succeed()) }()
	defer http.DefaultClient.CloseIdleConnections()
	for _, path := range paths {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, running.URL+path, http.NoBody)
		s.g.Expect(err).NotTo(gomega.HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		s.g.Expect(err).NotTo(gomega.HaveOccurred())
		s.g.Expect(response.Body.Close()).To(gomega.Succeed())
		s.g.Expect(response).To(gomega.HaveHTTPStatus(http.StatusOK), path)
	}
}

// One command installs the whole server: with the page, and with the script for other pages.
func TestGoInstallGivesTheWholeServer(t *testing.T) {
	s := newStranger(t)
	s.does("install", ours.Path+"/cmd/antiphon@"+ours.Version)
	said, err := exec.CommandContext(t.Context(), filepath.Join(s.folder, "antiphon"), "version").Output() //nolint:gosec // the program that was made here
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	s.g.Expect(string(said)).To(gomega.Equal("antiphon " + server.Version + "\n"))
	paths := []string{"/", "/healthz"}
	for _, name := range pagescript.All() {
		paths = append(paths, "/"+name)
	}
	s.serves(t, paths, "antiphon", "serve", "--listen", "127.0.0.1:0", "--pipeline", "scripted")
}

// The example that embeds the server builds and runs outside of this repository.
func TestGoGetGivesTheServerToAProgram(t *testing.T) {
	s := newStranger(t)
	example, err := os.ReadFile("../../examples/embed-server/main.go")
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	s.g.Expect(os.WriteFile(filepath.Join(s.folder, "main.go"), example, 0o600)).To(gomega.Succeed())
	s.does("mod", "init", "example.com/outside")
	s.does("get", ours.Path+"@"+ours.Version)
	s.does("mod", "tidy")
	s.does("build", "-o", "outside", ".")
	s.serves(t, []string{"/", "/v1/antiphon/pipeline"}, "outside", "-listen", "127.0.0.1:0")
}
