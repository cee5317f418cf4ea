package session

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

func TestMachines(t *testing.T) {
	g := gomega.NewWithT(t)
	all := Machines()
	g.Expect(slices.IsSortedFunc(all, func(a, b machine.Version) int { return strings.Compare(a.Name, b.Name) })).To(gomega.BeTrue())
	for _, m := range all {
		g.Expect(m.Fingerprint).To(gomega.MatchRegexp(`^[0-9a-f]{16}$`), m.Name)
	}
}
