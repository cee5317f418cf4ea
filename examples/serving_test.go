package examples

// The examples that are servers: they take a call and answer.

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
)

// patience bounds a wait for an event that must come. Only a failing test waits for all of it.
const patience = 30 * time.Second

// start runs a program that prints "listening on URL", and interrupts it when the test ends. Its exit status must be 0 then.
func start(t *testing.T, program string, args ...string) (address string) {
	t.Helper()
	g := gomega.NewWithT(t)
	cmd := exec.Command(program, args...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	hurry := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		defer hurry.Stop()
		g.Expect(cmd.Process.Signal(os.Interrupt)).To(gomega.Succeed())
		_, _ = io.Copy(io.Discard, lines)
		g.Expect(cmd.Wait()).To(gomega.Succeed())
	})
	line, err := lines.ReadString('\n')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	g.Expect(found).To(gomega.BeTrue(), line)
	return address
}

func get(t *testing.T, url string) string {
	t.Helper()
	g := gomega.NewWithT(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	answer, err := http.DefaultClient.Do(request)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK), string(body))
	return string(body)
}

// ask places a call, sends a question as text, and returns the text of the answer.
func ask(t *testing.T, address, question string) string {
	t.Helper()
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, strings.Replace(address, "http", "ws", 1)+"/v1/realtime", nil) //nolint:bodyclose // a WebSocket has none
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = ws.CloseNow() }() // the call has ended
	for _, event := range []string{
		`{"type": "conversation.item.create", "item":
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "` + question + `"}]}}`,
		`{"type": "response.create", "response": {"output_modalities": ["text"]}}`,
	} {
		g.Expect(ws.Write(ctx, websocket.MessageText, []byte(event))).To(gomega.Succeed())
	}
	said := ""
	for {
		_, text, err := ws.Read(ctx)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		var event struct{ Type, Delta string }
		g.Expect(json.Unmarshal(text, &event)).To(gomega.Succeed())
		switch event.Type {
		case "error":
			t.Fatalf("%s", text)
		case "response.output_text.delta":
			said += event.Delta
		case "response.done":
			return said
		}
	}
}

func TestEmbedServer(t *testing.T) {
	g := gomega.NewWithT(t)
	address := start(t, build(t, "embed-server"), "-listen", "127.0.0.1:0")
	g.Expect(get(t, address+"/")).To(gomega.Equal("my own page\n"))
	g.Expect(get(t, address+"/v1/antiphon/pipeline")).To(gomega.ContainSubstring(`"pipeline":"embedded"`))
	g.Expect(ask(t, address, "What is two plus two?")).To(gomega.ContainSubstring("four"))
}

func TestOwnModel(t *testing.T) {
	g := gomega.NewWithT(t)
	address := start(t, build(t, "own-model"), "-listen", "127.0.0.1:0")
	g.Expect(ask(t, address, "Pretty Polly")).To(gomega.Equal("Pretty Polly "))
}

func TestServerTools(t *testing.T) {
	g := gomega.NewWithT(t)
	address := start(t, build(t, "server-tools"), "-listen", "127.0.0.1:0")
	g.Expect(ask(t, address, "Get weather in Oslo")).To(gomega.ContainSubstring("sunny in Oslo"))
}
