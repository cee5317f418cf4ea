package house

// The table of CONTRIBUTING.md that says where to change what.

import (
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestEachChangeHasFourPlacesAtMost follows the table: each place is a file with a word that the file has, and a change has at most four.
func TestEachChangeHasFourPlacesAtMost(t *testing.T) {
	g := gomega.NewWithT(t)
	_, table, found := strings.Cut(string(read(t, "CONTRIBUTING.md")), "\n## Where do I change…\n")
	g.Expect(found).To(gomega.BeTrue())
	table, _, _ = strings.Cut(table, "\n## ")
	row, place := regexp.MustCompile(`(?m)^\| ([^|]+) \| (.+) \|$`), regexp.MustCompile("^`([^`]+)`: `([^`]+)`$")
	rows := row.FindAllStringSubmatch(table, -1)[1:] // without the head
	g.Expect(len(rows)).To(gomega.BeNumerically(">=", 8))
	for _, r := range rows {
		places := strings.Split(r[2], "; ")
		g.Expect(len(places)).To(gomega.BeNumerically("<=", 4), r[1])
		for _, text := range places {
			p := place.FindStringSubmatch(text)
			g.Expect(p).NotTo(gomega.BeEmpty(), "%s: %q: want `file`: `word`", r[1], text)
			g.Expect(regexp.MustCompile(`\b`+regexp.QuoteMeta(strings.Trim(p[2], "-"))+`\b`).Match(read(t, p[1]))).To(gomega.BeTrue(), "%s: %s has no %s", r[1], p[1], p[2])
		}
	}
}
