package e2e

// The calls of examples/calls that need a real recogniser, played by the program. examples/calls plays the other ones.

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

func TestCallsOfTheExamples(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	program := buildProgram(t)
	args := []string{"test", "--pipeline=embedded"}
	for _, name := range []string{"acknowledgement", "bad-line", "recording"} {
		args = append(args, filepath.Join("..", "examples", "calls", name+".yaml"))
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "ANTIPHON_MODELS="+filepath.Join("..", ".cache", "models"))
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
}
