package phones

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// installed is where scripts/clients.sh puts the packages of others.
const installed = root + "/.cache/clients"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// said is what both applications print.
var said = []string{
	"realtime.call.incoming true", "session Be short.", "again 409 decision_already_made", "refer 403 target_not_allowed", "hung up",
	"realtime.call.incoming true", "rejected",
}

// Applications written for OpenAI's SIP interface decide on calls: only the base URL is another one.
func TestApplicationsOfOpenAI(t *testing.T) {
	for name, command := range map[string][]string{
		"decides.mjs": {"node", "--input-type=module", "-"},
		"decides.py":  {"python3", "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := rig.FreeAddress()
			g := gomega.NewWithT(t)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			hook := filepath.Join(t.TempDir(), "hook")
			g.Expect(os.WriteFile(hook, []byte(secret), 0o600)).To(gomega.Succeed())
			h := open(t, "phones: {webhook: {url: http://"+at+"/, key_file: "+hook+"}, trunks: [{name: here, addresses: [127.0.0.1]}]}\n")
			lines := application(t, h, name, at, command)
			g.Eventually(lines, patience).Should(gomega.Receive(gomega.Equal("ready")))
			h.sipp(t, "server-hangs-up")
			h.sipp(t, "busy")
			for _, want := range said {
				g.Eventually(lines, patience).Should(gomega.Receive(gomega.Equal(want)))
			}
			g.Eventually(lines, patience).Should(gomega.BeClosed())
			g.Expect(h.Stop()).To(gomega.Succeed())
		})
	}
}

// application runs a program of testdata, and returns the lines that it prints.
func application(t *testing.T, h *house, name, at string, command []string) <-chan string {
	t.Helper()
	script, err := os.Open("testdata/" + name)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	packages, err := filepath.Abs(installed + "/python")
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	cmd := exec.Command(command[0], command[1:]...)
	_, port, _ := strings.Cut(at, ":")
	cmd.Dir, cmd.Stdin, cmd.Stderr = installed, script, os.Stderr
	cmd.Env = append(os.Environ(), "SERVER="+h.URL, "PORT="+port, "SECRET="+secret, "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.StdoutPipe()
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	h.g.Expect(cmd.Start()).To(gomega.Succeed())
	lines := make(chan string, 64)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, unless the test failed
		_ = cmd.Wait()
		_ = script.Close()
	})
	return lines
}
