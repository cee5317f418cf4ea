package safeyaml_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/safeyaml"
)

func TestDecode(t *testing.T) {
	for src, says := range map[string]string{
		"":                "",
		"list: [a, b]":    "",
		"other: a":        "unknown field",
		"list: {":         "list: {",
		"list:\n !x name": "remove tags",
	} {
		g := gomega.NewWithT(t)
		var v struct {
			List []string `yaml:"list"`
		}
		err := safeyaml.Decode([]byte(src), &v)
		if says == "" {
			g.Expect(err).NotTo(gomega.HaveOccurred(), src)
			continue
		}
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), src)
	}
}
