package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// TestFaultsOfAFile: each kind of fault is planted where it belongs, and calls that only log, count or lock have none.
func TestFaultsOfAFile(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "a.go"), []byte(`package a

func (s *session) perform(e effect) {
	s.mu.Lock()
	s.cut(e)
	s.send(e)
	s.log.Info("sent")
	if e.n < s.n {
		return
	}
	s.env.AfterFunc(wait, s.late)
}
`), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "a_test.go"), []byte("package a"), 0o600)).To(gomega.Succeed())
	all, err := faultsOf(folder, 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got []string
	for _, f := range all {
		got = append(got, fmt.Sprintf("%d %s", f.number, f.kind))
	}
	g.Expect(got).To(gomega.ConsistOf("5 drop", "5 double", "5 swap", "6 drop", "6 double", "8 never", "8 negate", "8 boundary", "11 drop", "11 double", "11 late"))
	for _, f := range all {
		if f.kind == "swap" {
			g.Expect(string(f.text)).To(gomega.ContainSubstring("s.send(e); s.cut(e)"))
			g.Expect(f.line).To(gomega.Equal("s.cut(e)"))
		}
	}
}
