package house

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// The program behind the page's script is lean: each of these would make it larger by a third, or bring what the browser has.
func TestThePagesProgramIsLean(t *testing.T) {
	g := gomega.NewWithT(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./wasm")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	linked := strings.Fields(string(out))
	g.Expect(linked).To(gomega.ContainElement("github.com/antiphon-rt/antiphon/sdk"))
	for _, heavy := range []string{"fmt", "encoding/json", "reflect", "net/http", "log/slog", "os"} {
		g.Expect(linked).NotTo(gomega.ContainElement(heavy))
	}
	for _, name := range linked {
		g.Expect(name).NotTo(gomega.HavePrefix("github.com/pion/"))
	}
}
