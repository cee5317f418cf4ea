package examples

// antiphon test, as a user runs it: it starts a server, plays the calls of files, writes reports and says by its exit code whether all passed.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestCallsOfAFile(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	program, err := filepath.Abs(filepath.Join(root, "bin", "antiphon"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(folder, "right.yaml"), []byte("call: [{write: say 3 words}, {answer: {says: one two three}}]"), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "wrong.yaml"), []byte("call: [{write: say 3 words}, {answer: {says: four}}]"), 0o600)).To(gomega.Succeed())
	play := func(args ...string) (out string, code int) {
		cmd := exec.CommandContext(t.Context(), program, append([]string{"test", "--pipeline=scripted"}, args...)...)
		cmd.Dir = folder
		text, _ := cmd.CombinedOutput() // the exit code says how it ended
		return string(text), cmd.ProcessState.ExitCode()
	}
	out, code := play("right.yaml", "wrong.yaml", "--junit=report.xml", "--json=report.json", "--keep=kept", "--websocket")
	g.Expect(code).To(gomega.Equal(1), out)
	g.Expect(out).To(gomega.MatchRegexp(`(?m)^ok     right \(`))
	g.Expect(out).To(gomega.ContainSubstring("  step 2: the agent was to say four, and said \"One two three.\"\n    user: say 3 words\n    agent: One two three.\nantiphon: calls have failed: wrong\n"))
	report, err := os.ReadFile(filepath.Join(folder, "report.xml"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(report)).To(gomega.ContainSubstring(`tests="2" failures="1"`))
	kept, err := os.ReadDir(filepath.Join(folder, "kept"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(kept).To(gomega.HaveLen(2), "what both sides of the call that failed have said")

	out, code = play("right.yaml", "--repeat=2", "--least=1")
	g.Expect(code).To(gomega.BeZero(), out)
	g.Expect(strings.Count(out, "ok     right")).To(gomega.Equal(2))
	g.Expect(out).To(gomega.HaveSuffix("right: 2 of 2 passed\n"))
}
