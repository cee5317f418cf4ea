package clients

// Tools of a real MCP server: @modelcontextprotocol/server-everything, which the MCP project publishes for tests of clients.

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

// everything starts the MCP server, and returns its address. It ends with the test.
func everything(t *testing.T) string {
	t.Helper()
	g := gomega.NewWithT(t)
	free, err := servertest.FreePort()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	port := strconv.Itoa(free)
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp")
	cmd.Dir = installed
	cmd.Env = append(os.Environ(), "PORT="+port)
	said, err := cmd.StderrPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() { _ = cmd.Wait() }) // the context of the test kills it
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if strings.Contains(lines.Text(), "listening") {
			return "http://127.0.0.1:" + port + "/mcp"
		}
	}
	t.Fatal("the MCP server has ended")
	return ""
}

// TestAgentsUseAnMCPServer: the server lists the tools, asks for approval, calls the tool, and the agent answers with its output when the client asks for it.
func TestAgentsUseAnMCPServer(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "antiphon.yaml")
	gomega.NewWithT(t).Expect(os.WriteFile(config, []byte("mcp: {allow: [127.0.0.1]}\n"), 0o600)).To(gomega.Succeed())
	h := open(t, "agents-mcp", "--config", config)
	s := agentsOnSocket(newSuite(t, "@openai/agents-realtime, tools by MCP", runNode(t, "agents", args{"url": h.url, "key": key, "mcp": everything(t)})))
	s.step("load the tools", func() {
		s.tell("connect", nil)
		s.Eventually(s.report).Should(gomega.HaveField("Server", gomega.ContainElement("mcp_list_tools.completed")))
	})
	s.step("approve a call, and hear of its output", func() {
		s.tell("write", args{"text": "please echo this"})
		s.line("assistant", "Tool said: Echo: please echo this")
		s.Expect(s.see().RemoteCalls).To(gomega.HaveExactElements(gomega.And(
			gomega.HaveField("Name", "echo"), gomega.HaveField("Output", "Echo: please echo this"))))
	})
	s.step("close", s.closes)
	h.stop()
	h.holds(1)
}
