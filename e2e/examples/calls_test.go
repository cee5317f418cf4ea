package examples

// antiphon test, as a user runs it: it starts a server, plays the calls of files, writes reports and says by its exit code whether all passed.

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
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
	g.Expect(out).To(gomega.ContainSubstring("  wrong.yaml:1: the agent was to say four, and said \"One two three.\"\n    user: say 3 words\n    agent: One two three.\n  kept: "))
	g.Expect(out).To(gomega.HaveSuffix("antiphon: calls have failed: wrong\n"))
	report, err := os.ReadFile(filepath.Join(folder, "report.xml"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(report)).To(gomega.ContainSubstring(`tests="2" failures="1"`))
	kept, err := os.ReadDir(filepath.Join(folder, "kept"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(kept).To(gomega.HaveLen(3), "a picture of the call that failed, and what both sides have said")
	for _, file := range kept {
		g.Expect(out).To(gomega.ContainSubstring("kept: " + filepath.Join(folder, "kept", file.Name()) + "\n"))
	}

	out, code = play("right.yaml", "--repeat=2", "--least=1")
	g.Expect(code).To(gomega.BeZero(), out)
	g.Expect(strings.Count(out, "ok     right")).To(gomega.Equal(2))
	g.Expect(out).To(gomega.HaveSuffix("right: 2 of 2 passed\n"))
}

// TestATestIsInterrupted: an interrupted test has not passed, and its server ends. A server that cannot become ready says why.
func TestATestIsInterrupted(t *testing.T) {
	program, err := filepath.Abs(filepath.Join(root, "bin", "antiphon"))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for name, row := range map[string]struct {
		args, until string
		by          os.Signal
	}{
		"in a call":                {"--pipeline=scripted", "ok     first (", os.Interrupt},
		"while a model is awaited": {"--config=antiphon.yaml", "connection refused", os.Interrupt},
		"by a kill":                {"--pipeline=scripted", "ok     first (", os.Kill},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			folder := t.TempDir()
			for file, text := range map[string]string{
				"first.yaml": "call: [{wait: 20ms}]", "long.yaml": "call: [{wait: 5m}]",
				"antiphon.yaml": "stt: {kind: scripted}\nllm: {kind: openai, url: http://127.0.0.1:9/v1, model: m}\ntts: {kind: scripted}\n",
			} {
				g.Expect(os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600)).To(gomega.Succeed())
			}
			out := gbytes.NewBuffer()
			cmd := exec.CommandContext(t.Context(), program, "test", "first.yaml", "long.yaml", row.args)
			cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
			g.Expect(cmd.Start()).To(gomega.Succeed())
			g.Eventually(out, "60s").Should(gbytes.Say(regexp.QuoteMeta(row.until)))
			g.Expect(cmd.Process.Signal(row.by)).To(gomega.Succeed())
			_ = cmd.Wait() // the exit code says how it ended. It also waits for the server, which has the same output
			if row.by == os.Kill {
				return
			}
			g.Expect(cmd.ProcessState.ExitCode()).To(gomega.Equal(1), string(out.Contents()))
			g.Expect(string(out.Contents())).To(gomega.HaveSuffix("antiphon: interrupted: not all calls were played\n"))
		})
	}
}
