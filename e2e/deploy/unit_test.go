package deploy

// The systemd unit: systemd accepts it, finds it confined, and its command starts a server that reloads at SIGHUP.

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// mostExposure is the highest exposure level that systemd-analyze may find, in tenths: 0 is best, 100 is worst.
const mostExposure = "16"

// TestUnit checks deploy/antiphon.service with systemd-analyze, and runs its command.
func TestUnit(t *testing.T) {
	program, err := filepath.Abs("../../bin/antiphon")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	unit := filepath.Join(t.TempDir(), "antiphon.service")
	text := example(t, "antiphon.service", "/usr/local/bin/antiphon", program)
	gomega.NewWithT(t).Expect(os.WriteFile(unit, []byte(text), 0o600)).To(gomega.Succeed())

	t.Run("systemd has nothing to say about it", func(t *testing.T) {
		g := gomega.NewWithT(t)
		said, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", unit).CombinedOutput()
		g.Expect(err).NotTo(gomega.HaveOccurred(), string(said))
		g.Expect(string(said)).To(gomega.BeEmpty())
	})
	t.Run("systemd finds it confined", func(t *testing.T) {
		said, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold="+mostExposure, unit).CombinedOutput()
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), string(said))
	})
	t.Run("its command serves, and its reload ends nothing", func(t *testing.T) {
		g := gomega.NewWithT(t)
		keys, err := exec.CommandContext(t.Context(), program, "key", "test").Output()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		credentials := t.TempDir()
		line := regexp.MustCompile(`(?m)^sha256:.*$`).FindString(string(keys))
		g.Expect(line).NotTo(gomega.BeEmpty(), string(keys))
		g.Expect(os.WriteFile(filepath.Join(credentials, "keys"), []byte(line+"\n"), 0o600)).To(gomega.Succeed())
		command := regexp.MustCompile(`(?m)^ExecStart=(.+)$`).FindStringSubmatch(text)
		g.Expect(command).NotTo(gomega.BeNil())
		words := strings.Fields(strings.NewReplacer(
			"${CREDENTIALS_DIRECTORY}", credentials, "${STATE_DIRECTORY}", t.TempDir(), "127.0.0.1:8080", "127.0.0.1:0", "--udp-port 3478", "--udp-port 0").Replace(command[1]))
		server, err := rig.Run(exec.Command(words[0], append(words[1:], "--pipeline", "scripted", "--log-level", "warn")...)) //nolint:noctx // SIGTERM ends it
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Cleanup(func() { g.Expect(server.Stop()).To(gomega.Succeed()) })
		g.Expect(text).To(gomega.ContainSubstring("\nExecReload=/bin/kill -HUP $MAINPID\n"))
		g.Expect(server.Reload()).To(gomega.Succeed())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/readyz", nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		answer, err := http.DefaultClient.Do(r)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(answer.Body.Close()).To(gomega.Succeed())
		g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK))
	})
}
