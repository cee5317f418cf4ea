package backend

import (
	"fmt"
	"os"
	"testing"

	"github.com/onsi/gomega"
)

// A back-end process, whose engine reads what strangers say, cannot gain privileges.
func TestProcessesGainNoPrivileges(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	say(t, p, "")
	g.Expect(p.idle).To(gomega.HaveLen(1))
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.idle[0].cmd.Process.Pid))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(status)).To(gomega.ContainSubstring("\nNoNewPrivs:\t1\n"))
}
