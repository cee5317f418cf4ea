//go:build !js

package main

// The build of the Talk page.

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/web/internal/dist"
)

func TestTheFolderHoldsTheProgram(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := filepath.Join(t.TempDir(), "dist")
	p := page{folder: folder, level: 1, log: io.Discard}
	m := dist.Manifest{SHA256: "sum", Size: 7, Go: "go1.26", Level: 1}
	g.Expect(p.current(m)).To(gomega.BeFalse(), "there is nothing yet")

	g.Expect(p.write(m, []byte("program"), []byte("support"))).To(gomega.Succeed())
	g.Expect(p.current(m)).To(gomega.BeTrue())
	read := func(name string) []byte {
		content, err := os.ReadFile(filepath.Join(folder, name))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return content
	}
	g.Expect(io.ReadAll(brotli.NewReader(bytes.NewReader(read(dist.WasmBrotliFile))))).To(gomega.BeEquivalentTo("program"))
	gz, err := gzip.NewReader(bytes.NewReader(read(dist.WasmGzipFile)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(io.ReadAll(gz)).To(gomega.BeEquivalentTo("program"))
	g.Expect(read(dist.WasmExecFile)).To(gomega.BeEquivalentTo("support"))
}

func TestAnotherProgramIsNotCurrent(t *testing.T) {
	g := gomega.NewWithT(t)
	p := page{folder: t.TempDir(), level: 1, log: io.Discard}
	m := dist.Manifest{SHA256: "sum", Size: 7, Go: "go1.26", Level: 1}
	g.Expect(p.write(m, []byte("program"), []byte("support"))).To(gomega.Succeed())
	for name, other := range map[string]dist.Manifest{
		"another program":   {SHA256: "other", Size: 7, Go: "go1.26", Level: 1},
		"another toolchain": {SHA256: "sum", Size: 7, Go: "go1.27", Level: 1},
		"a better packing":  {SHA256: "sum", Size: 7, Go: "go1.26", Level: 11},
	} {
		g.Expect(p.current(other)).To(gomega.BeFalse(), name)
	}
	g.Expect(os.Remove(filepath.Join(p.folder, dist.ManifestFile))).To(gomega.Succeed())
	g.Expect(p.current(m)).To(gomega.BeFalse(), "a build that did not end")
}
