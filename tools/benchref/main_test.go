package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestComparePrintsResultsBesideReferenceAndGoal(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		g.Expect(os.WriteFile(path, []byte(text), 0o644)).To(gomega.Succeed())
		return path
	}
	reference := write("reference", "goos: linux\npkg: example.org/voice\nBenchmarkDetector-2 1000 2000 ns/op 0 B/op\nTargetDetector 10000 ns/op\n")
	now := write("now", "pkg: example.org/server\nBenchmarkDetector-8 1 7 ns/op\npkg: example.org/voice\nBenchmarkDetector-8 900 3000 ns/op 0 B/op\nBenchmarkNew/x-y-8 1 5 ns/op\nPASS\n")

	var out strings.Builder
	g.Expect(compare(&out, reference, now)).To(gomega.Succeed())

	var rows [][]string
	for line := range strings.Lines(out.String()) {
		rows = append(rows, strings.Fields(line))
	}
	g.Expect(rows[1:]).To(gomega.Equal([][]string{
		{"server.Detector", "ns/op", "7", "-", "-", "-"},
		{"voice.Detector", "ns/op", "3000", "2000", "1.50", "10000"},
		{"voice.Detector", "B/op", "0", "0", "-", "-"},
		{"voice.New/x-y", "ns/op", "5", "-", "-", "-"},
	}))
}
