package house

// The version comes from one place.

import (
	"regexp"
	"testing"

	"github.com/onsi/gomega"
)

// The constant in internal/version is the version. The newest section of the changelog describes it, with a date; the npm package gets it when it is
// made; the server and the command line read the constant.
func TestTheVersionIsInOnePlace(t *testing.T) {
	g := gomega.NewWithT(t)
	constant := regexp.MustCompile(`(?m)^const Version = "([0-9]+\.[0-9]+\.[0-9]+)"$`).FindStringSubmatch(string(read(t, "internal/version/version.go")))
	g.Expect(constant).To(gomega.HaveLen(2))
	section := regexp.MustCompile(`(?m)^## (\S+) - [0-9]{4}-[0-9]{2}-[0-9]{2}$`).FindStringSubmatch(string(read(t, "CHANGELOG.md")))
	g.Expect(section).To(gomega.HaveLen(2))
	g.Expect(section[1]).To(gomega.Equal(constant[1]))
	g.Expect(string(read(t, "sdk/npm/package.json"))).NotTo(gomega.ContainSubstring(`"version"`))
	for _, name := range []string{"server/server.go", "cmd/antiphon/main.go"} {
		g.Expect(string(read(t, name))).To(gomega.ContainSubstring("version.Version"), name)
	}
}
