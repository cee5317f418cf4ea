package clients

// The programs of docs/openai-clients.md, as they stand there.

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// runsAsItStands runs a program of the document until it writes the answer. Only the server's address and the key are replaced.
func runsAsItStands(t *testing.T, program string, cmd *exec.Cmd, file string, h *house, env ...string) {
	t.Helper()
	g := gomega.NewWithT(t)
	address := regexp.MustCompile(`(http|ws)(s?)://localhost:8080`)
	program = address.ReplaceAllString(program, "${1}${2}://"+strings.Replace(h.url[strings.Index(h.url, "//")+2:], "127.0.0.1", "localhost", 1))
	g.Expect(os.WriteFile(file, []byte(strings.ReplaceAll(program, `"any"`, `"`+key+`"`)), 0o600)).To(gomega.Succeed())
	t.Cleanup(func() { g.Expect(os.Remove(file)).To(gomega.Succeed()) })
	cmd.Env = append(os.Environ(), env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	found := false
	for lines := bufio.NewScanner(out); !found && lines.Scan(); {
		found = strings.Contains(lines.Text(), "You said: What is two plus two?")
	}
	_ = cmd.Process.Kill() // a program of agents goes on with its conversation
	_ = cmd.Wait()
	g.Expect(found).To(gomega.BeTrue(), complaints.String())
	h.stop()
}

// command returns a command that ends after a minute.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, name, args...)
}

func TestTheProgramsOfTheDocument(t *testing.T) {
	g := gomega.NewWithT(t)
	document, err := os.ReadFile("../../docs/openai-clients.md")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	blocks := func(language string) (all []string) {
		for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(string(document), -1) {
			all = append(all, m[1])
		}
		return all
	}
	packages, err := filepath.Abs(python)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	node := func(t *testing.T, name, program string, h *house, env ...string) {
		t.Helper()
		cmd := command(t, "node", name)
		cmd.Dir = installed
		runsAsItStands(t, program, cmd, filepath.Join(installed, name), h, env...)
	}
	t.Run("Python", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "talk.py")
		runsAsItStands(t, blocks("python")[0], command(t, "python3", file), file, open(t, "document-python"), "PYTHONPATH="+packages)
	})
	t.Run("Node", func(t *testing.T) {
		certificate := command(t, "sh", "-ec", blocks("sh")[0])
		certificate.Dir = t.TempDir()
		out, err := certificate.CombinedOutput() // it ends where there is no antiphon
		gomega.NewWithT(t).Expect(filepath.Join(certificate.Dir, "cert.pem")).To(gomega.BeAnExistingFile(), "%s %v", out, err)
		cert, keyFile := filepath.Join(certificate.Dir, "cert.pem"), filepath.Join(certificate.Dir, "key.pem")
		node(t, "document-talk.mjs", blocks("js")[0], open(t, "document-node", "--tls-cert", cert, "--tls-key", keyFile), "NODE_EXTRA_CA_CERTS="+cert)
	})
	t.Run("agents", func(t *testing.T) { node(t, "document-agents.mjs", blocks("js")[1], open(t, "document-agents")) })
}
