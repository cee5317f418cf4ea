package house

// The WebAssembly program of the page's script: what it may import, and that the linter checks its files.

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// The program behind the page's script is lean: each of these would make it larger by a third, or bring what the browser has.
func TestThePagesProgramIsLean(t *testing.T) {
	g := gomega.NewWithT(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./wasm")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	linked := strings.Fields(string(out))
	g.Expect(linked).To(gomega.ContainElement("github.com/antiphon-rt/antiphon/sdk"))
	for _, heavy := range []string{"fmt", "encoding/json", "reflect", "net/http", "log/slog", "os"} {
		g.Expect(linked).NotTo(gomega.ContainElement(heavy))
	}
	for _, name := range linked {
		g.Expect(name).NotTo(gomega.HavePrefix("github.com/pion/"))
	}
}

// TestFilesForTheBrowserAreLinted: a file for the browser alone lies in a folder that scripts/lint.sh looks at for js/wasm.
func TestFilesForTheBrowserAreLinted(t *testing.T) {
	folders := regexp.MustCompile(`(?m)^browser='(.*)'$`).FindSubmatch(read(t, "scripts/lint.sh"))
	if folders == nil {
		t.Fatal("scripts/lint.sh does not say browser")
	}
	linted := strings.Fields(string(folders[1]))
	for _, name := range tracked(t, "*_js.go", "*_js_test.go", "*_wasm.go") {
		if !slices.ContainsFunc(linted, func(folder string) bool { return strings.HasPrefix(name, folder+"/") }) {
			t.Errorf("%s is for the browser: move it to sdk/browser, wasm or web, or add its folder to scripts/lint.sh", name)
		}
	}
}
