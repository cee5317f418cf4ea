//go:build !js

package main

// The generated files and the npm package.

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/pagescript"
	"github.com/antiphon-rt/antiphon/internal/version"
)

// empty is a module of WebAssembly with nothing in it.
const empty = "\x00asm\x01\x00\x00\x00"

// made generates the files of programs that do nothing, and the npm package from them.
func made(t *testing.T) (folder, npm string, g *gomega.WithT) {
	t.Helper()
	t.Chdir("../../..")
	g = gomega.NewWithT(t)
	dir := t.TempDir()
	wasm, support := filepath.Join(dir, "some.wasm"), filepath.Join(dir, "support.js")
	g.Expect(os.WriteFile(wasm, []byte(empty), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(support, []byte("globalThis.Go = class { importObject = global.fs ?? {} };"), 0o600)).To(gomega.Succeed())
	folder, npm = filepath.Join(dir, "dist"), filepath.Join(dir, "npm")
	g.Expect(generate(folder, wasm, wasm, support, io.Discard)).To(gomega.Succeed())
	g.Expect(writePackage(folder, npm)).To(gomega.Succeed())
	return folder, npm, g
}

func TestThePackageIsWhole(t *testing.T) {
	folder, npm, g := made(t)
	raw, err := os.ReadFile(filepath.Join(npm, "package.json"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var described struct {
		Version, Main, Types string
		Exports              map[string]json.RawMessage
	}
	g.Expect(json.Unmarshal(raw, &described)).To(gomega.Succeed())
	g.Expect(described.Version).To(gomega.Equal(version.Version))
	names := []string{described.Main, described.Types, "README.md", "LICENSE"}
	for name, export := range described.Exports {
		var files struct{ Types, Default string }
		if json.Unmarshal(export, &files) != nil { // it is the name of a file
			files.Default = name
		}
		names = append(names, files.Types, files.Default)
	}
	for _, name := range names {
		g.Expect(filepath.Join(npm, name)).To(gomega.BeAnExistingFile())
	}
	for _, name := range pagescript.Files {
		g.Expect(filepath.Join(npm, name)).To(gomega.BeAnExistingFile())
	}
	for _, name := range pagescript.All() {
		g.Expect(filepath.Join(folder, name+".br")).To(gomega.BeAnExistingFile())
	}
	g.Expect(os.ReadFile(filepath.Join(npm, "antiphon.wasm"))).To(gomega.BeEquivalentTo(empty))
}

func TestChangedSourcesAreFound(t *testing.T) {
	folder, _, g := made(t)
	g.Expect(check(folder)).To(gomega.Succeed())
	m, err := manifest(folder)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	m.Sources = "other"
	raw, err := json.Marshal(m)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(folder, pagescript.ManifestFile), raw, 0o600)).To(gomega.Succeed())
	g.Expect(check(folder)).To(gomega.MatchError(gomega.ContainSubstring("run make sdk")))
}

// The hash covers what the programs and the scripts are made of: a few of the many files, by their kinds.
func TestTheSourcesAreTheseFiles(t *testing.T) {
	t.Chdir("../../..")
	g := gomega.NewWithT(t)
	packages, err := packageFiles()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(packages).To(gomega.ContainElements("wasm/main_js.go", "web/app/main_js.go", "web/page.go", "web/icons/mic.svg", "sdk/session.go"))
	g.Expect(packages).NotTo(gomega.ContainElement("web/handler.go"))
	scripts, err := filesOf(scriptSources)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(scripts).To(gomega.ContainElements("sdk/npm/antiphon.js", "sdk/npm/talk.css", "web/page/talk-page.js"))
}

// The support script leaves five global names in a page. Our form of it leaves none, and still gives the program the objects that it needs.
func TestTheSupportLeavesNoGlobalName(t *testing.T) {
	_, npm, g := made(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	support, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	scripts, err := bundle("v", support)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	module := filepath.Join(npm, "exec.mjs")
	g.Expect(os.WriteFile(module, scripts["antiphon-exec.js"], 0o600)).To(gomega.Succeed())
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
		const before = new Set(Object.getOwnPropertyNames(globalThis));
		const { Go, shims } = await import(process.argv[1]);
		const more = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
		console.log(typeof new Go().importObject, Object.keys(shims).sort().join(), more.join());`, module)
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	g.Expect(strings.TrimSpace(string(out))).To(gomega.Equal("object Go,fs,path,process"))
}

// A page's author sees the reason that keeps a script from being built.
func TestASourceThatIsBroken(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := bundle("v", []byte("const = 1"))
	g.Expect(err).To(gomega.HaveOccurred())
}
