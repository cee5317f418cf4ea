package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// noise does not get smaller by packing, but for what frames it.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func lay(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	gomega.NewWithT(t).Expect(os.WriteFile(file, content, 0o600)).To(gomega.Succeed())
	return file
}

func TestAFileIsHeldToItsBudget(t *testing.T) {
	file := lay(t, "program", noise(10000))
	for name, row := range map[string]struct{ budget, refused string }{
		"fits":             {"program brotli 10000 11000 10500\n", ""},
		"grew a little":    {"program brotli 9800 11000 10500\n", ""},
		"grew too much":    {"program gzip 9700 11000 10500\n", "grown from 9700"},
		"is too large":     {"program brotli 10000 10001 10500\n", "may have 10001"},
		"is not in it":     {"# nothing\n\n", ""},
		"both, one of two": {"program gzip 10000 11000 10500\nprogram brotli 10000 9999 10500\n", "may have 9999"},
		"half a line":      {"program brotli 10\n", "a line is"},
		"another packing":  {"program zip 1 2 10500\n", "a line is"},
		"no number":        {"program gzip 1 b 10500\n", "no number"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var out bytes.Buffer
			err := run(&out, lay(t, "budget", []byte(row.budget)), []string{"program=" + file}, false)
			if row.refused == "" {
				g.Expect(out.String()).NotTo(gomega.ContainSubstring("missed"))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(out.String()).To(gomega.MatchRegexp(`program +10000 +100\d\d +100\d\d`))
				return
			}
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.refused)))
		})
	}
}

func TestAMissedGoalIsSaid(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	budget := lay(t, "budget", []byte("program brotli 10000 11000 5000\n"))
	g.Expect(run(&out, budget, []string{"program=" + lay(t, "program", noise(10000))}, false)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.ContainSubstring("5000, missed by 100 %"))
}

func TestWriteTakesThePresentSizes(t *testing.T) {
	g := gomega.NewWithT(t)
	file, budget := lay(t, "program", noise(1000)), lay(t, "budget", []byte("# why\nother gzip 1 2 3\nprogram  gzip 7 8000 9\n"))
	g.Expect(run(&bytes.Buffer{}, budget, []string{"program=" + file}, true)).To(gomega.Succeed())
	text, err := os.ReadFile(budget)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.MatchRegexp("^# why\nother gzip 1 2 3\nprogram gzip 10\\d\\d 8000 9\n$"))
	g.Expect(run(&bytes.Buffer{}, budget, []string{"program=" + file}, false)).To(gomega.Succeed())
}

func TestTheBudgetItselfIsOne(t *testing.T) {
	g := gomega.NewWithT(t)
	text, err := os.ReadFile("budget.txt")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lines, err := parse(string(text))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(lines).NotTo(gomega.BeEmpty())
	for _, l := range lines {
		g.Expect(l.was).To(gomega.BeNumerically("<=", l.most), strings.TrimSpace(l.text))
	}
}
