//go:build !js

package wire

// The codec must not import large packages.

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestNoHeavyDependencies: the codec is in the browser's wasm, where these cost more than all the rest.
func TestNoHeavyDependencies(t *testing.T) {
	g := gomega.NewWithT(t)
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	deps := strings.Fields(string(out))
	g.Expect(deps).To(gomega.ContainElement("github.com/antiphon-rt/antiphon/wire"))
	for _, heavy := range []string{"fmt", "encoding/json", "reflect", "strconv", "encoding/base64", "io", "sync", "time", "os", "errors", "unicode"} {
		g.Expect(deps).NotTo(gomega.ContainElement(heavy))
	}
	for _, dep := range deps {
		if strings.Contains(dep, ".") {
			g.Expect(dep).To(gomega.Equal("github.com/antiphon-rt/antiphon/wire"))
		}
	}
}
