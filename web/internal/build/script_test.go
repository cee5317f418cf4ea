//go:build !js

package main

// The build of the page's script.

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
)

// empty is a module of WebAssembly with nothing in it.
const empty = "\x00asm\x01\x00\x00\x00"

// made builds the page's script with a program that does nothing.
func made(t *testing.T) (p pageScript, g *gomega.WithT) {
	t.Helper()
	t.Chdir("../../..")
	g = gomega.NewWithT(t)
	dir := t.TempDir()
	wasm := filepath.Join(dir, "some.wasm")
	g.Expect(os.WriteFile(wasm, []byte(empty), 0o600)).To(gomega.Succeed())
	p = pageScript{
		source: filepath.Join("sdk", "npm"), pkg: filepath.Join(dir, "npm"), embed: filepath.Join(dir, "embed"), wasm: wasm, log: io.Discard,
	}
	g.Expect(p.build()).To(gomega.Succeed())
	return p, g
}

func TestThePackageIsWhole(t *testing.T) {
	p, g := made(t)
	raw, err := os.ReadFile(filepath.Join(p.pkg, "package.json"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var npm struct {
		Main, Types string
		Exports     map[string]json.RawMessage
	}
	g.Expect(json.Unmarshal(raw, &npm)).To(gomega.Succeed())
	names := []string{npm.Main, npm.Types, "README.md", "LICENSE"}
	for name := range npm.Exports {
		if name != "." {
			names = append(names, name)
		}
	}
	for _, name := range names {
		g.Expect(filepath.Join(p.pkg, name)).To(gomega.BeAnExistingFile())
	}
	var tests struct{ Types, Default string }
	g.Expect(json.Unmarshal(npm.Exports["./sdktest"], &tests)).To(gomega.Succeed())
	for _, name := range append([]string{tests.Types, tests.Default}, script.Files...) {
		g.Expect(filepath.Join(p.pkg, name)).To(gomega.BeAnExistingFile())
	}
	for _, name := range script.Files {
		g.Expect(filepath.Join(p.embed, name+".br")).To(gomega.BeAnExistingFile())
	}
}

func TestAnUnchangedBuildLeavesTheFolders(t *testing.T) {
	p, g := made(t)
	program, support, err := p.program()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	version, err := p.version(program, support)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.current(version)).To(gomega.BeTrue())
	other, err := p.version([]byte("another program"), support)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.current(other)).To(gomega.BeFalse())
}

// Go's support script leaves five global names in a page. Our form of it leaves none, and still gives Go the objects that it needs.
func TestTheSupportLeavesNoGlobalName(t *testing.T) {
	p, g := made(t)
	module := filepath.Join(t.TempDir(), "exec.mjs")
	content, err := os.ReadFile(filepath.Join(p.pkg, "antiphon-exec.js"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.WriteFile(module, content, 0o600)).To(gomega.Succeed())
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
		const before = new Set(Object.getOwnPropertyNames(globalThis));
		const { Go, shims } = await import(process.argv[1]);
		const more = Object.getOwnPropertyNames(globalThis).filter((name) => !before.has(name));
		console.log(typeof new Go().importObject, Object.keys(shims).sort().join(), more.join());`, module)
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	g.Expect(strings.TrimSpace(string(out))).To(gomega.Equal("object Go,fs,path,process"))
}

// A page's author sees every reason that keeps the script from being built.
func TestASourceThatIsBroken(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "antiphon.js"), []byte("const = 1"), 0o600)).To(gomega.Succeed())
	_, err := pageScript{source: dir}.bundle("v", nil)
	g.Expect(err).To(gomega.HaveOccurred())
}
