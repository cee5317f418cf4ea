//go:build !js

package main

// The compilation of the program behind the page's script.

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// Debian's Go downloads the toolchain of go.mod into the module cache, where go build refuses to replace a file of the library.
func TestTheToolchainMayBeInTheModuleCache(t *testing.T) {
	g := gomega.NewWithT(t)
	root, err := goroot()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ours, err := filepath.Abs(filepath.Join("..", "..", "..", "tools", "tinygo", "library", "godebug", "godebug.go"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Setenv("GOMODCACHE", filepath.Dir(root))
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module empty\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		g.Expect(os.WriteFile(name, []byte(text), 0o600)).To(gomega.Succeed())
	}
	tools, overlay, err := withoutSettings(t.TempDir(), ours)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	program, err := tools.compile(".", append([]string{"-overlay", overlay}, inlining...)...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(program)).To(gomega.HavePrefix(empty[:4]))
}
