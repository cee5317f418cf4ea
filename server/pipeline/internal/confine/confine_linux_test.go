package confine

// The confinement of engine processes on Linux.

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// An engine gets no memory beyond its limit, writes no file, and does not run for ever.
func TestEnginesAreConfined(t *testing.T) {
	if os.Getenv("CONFINE_MEMORY") != "" {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the limits are there
		_ = bytes.Repeat([]byte("x"), 1<<30)
		return
	}
	g := gomega.NewWithT(t)
	again := exec.Command("/proc/self/exe", "-test.run=TestEnginesAreConfined")
	again.Env = append(again.Environ(), "CONFINE_MEMORY=1")
	in, err := again.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again.Start()).To(gomega.Succeed())
	g.Expect(apply(again.Process.Pid, Limits{Memory: 256 << 20})).To(gomega.Succeed())
	g.Expect(in.Close()).To(gomega.Succeed())
	g.Expect(again.Wait()).To(gomega.HaveOccurred(), "there is no memory for it")

	victim := filepath.Join(t.TempDir(), "victim")
	writes := exec.Command("sh", "-c", "read x; echo text > "+victim)
	writes.Stdin = bytes.NewBufferString("\n")
	g.Expect(Run(writes, Limits{Memory: 64 << 20})).To(gomega.HaveOccurred())
	text, err := os.ReadFile(victim)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(text).To(gomega.BeEmpty())

	spins := exec.Command("sh", "-c", "while :; do :; done")
	g.Expect(Run(spins, Limits{Memory: 64 << 20, CPU: time.Millisecond})).To(gomega.MatchError(gomega.ContainSubstring("killed")))
	g.Expect(Run(exec.Command("true"), Limits{Memory: 64 << 20})).To(gomega.Succeed())
}
