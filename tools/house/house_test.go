package house

// Helpers: the files of the repository.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// root is the repository, seen from this package.
const root = "../.."

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

// tracked returns the repository's files that match the patterns, among
// those that git knows or would add.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	args := append([]string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}, patterns...)
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" && exists(name) {
			files = append(files, name)
		}
	}
	return files
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return data
}

// eachGoFile parses every Go file that was written by hand.
func eachGoFile(t *testing.T, visit func(name string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	for _, name := range tracked(t, "*.go") {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, read(t, name), parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if !ast.IsGenerated(file) {
			visit(name, fset, file)
		}
	}
}
