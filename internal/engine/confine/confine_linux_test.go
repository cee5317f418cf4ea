package confine

// The confinement of engine processes on Linux.

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// An engine gets no memory beyond its limit, writes no file, and does not run for ever.
func TestEnginesAreConfined(t *testing.T) {
	g := gomega.NewWithT(t)
	// It waits for its input until the limits are there. Then it keeps a text of 400 MB.
	hoards := exec.Command("sh", "-c", `read x; text=$(head -c 400000000 /dev/zero | tr '\0' x)`)
	in, err := hoards.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(hoards.Start()).To(gomega.Succeed())
	g.Expect(apply(hoards.Process.Pid, Limits{Memory: 256 << 20})).To(gomega.Succeed())
	g.Expect(in.Close()).To(gomega.Succeed())
	g.Expect(hoards.Wait()).To(gomega.HaveOccurred(), "there is no memory for it")

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

// A process that is started here cannot gain privileges, and neither can the programs that it runs. A process that is started
// otherwise is as before.
func TestProcessesGainNoPrivileges(t *testing.T) {
	g := gomega.NewWithT(t)
	as := func(run func(*exec.Cmd) error) string {
		var said bytes.Buffer
		reads := exec.Command("sh", "-c", "grep NoNewPrivs /proc/self/status")
		reads.Stdout = &said
		g.Expect(run(reads)).To(gomega.Succeed())
		return said.String()
	}
	before := as((*exec.Cmd).Run)
	for _, run := range []func(*exec.Cmd) error{
		func(cmd *exec.Cmd) error { return Run(cmd, Limits{Memory: 64 << 20}) },
		func(cmd *exec.Cmd) error { return errors.Join(Start(cmd), cmd.Wait()) },
	} {
		g.Expect(as(run)).To(gomega.Equal("NoNewPrivs:\t1\n"))
	}
	g.Expect(as((*exec.Cmd).Run)).To(gomega.Equal(before))
	g.Expect(Start(exec.Command("/no/such/program"))).To(gomega.MatchError(os.ErrNotExist))
}
