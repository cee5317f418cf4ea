package examples

// The example of a back end in Python, which a server reaches over gRPC.

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// TestBackendPython: the back end recognises a live utterance and a whole one. It runs with Debian's Python, whose packages have gRPC.
func TestBackendPython(t *testing.T) {
	g := gomega.NewWithT(t)
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "backend-python/backend.py", "127.0.0.1:0")
	var complaints strings.Builder
	cmd.Stderr, cmd.WaitDelay = &complaints, 5*time.Second
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	defer func() { _ = cmd.Wait() }() // it is killed below
	defer func() { _ = cmd.Process.Kill() }()
	greeting, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", &complaints)
	_, port, found := strings.Cut(strings.TrimSpace(greeting), "port ")
	g.Expect(found).To(gomega.BeTrue(), greeting)

	f, err := config.Parse("antiphon.yaml", []byte("stt: {kind: grpc, url: 'grpc://127.0.0.1:"+port+"'}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(p.Close()).To(gomega.Succeed()) }()
	for _, live := range []bool{true, false} {
		u, err := p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{Live: live})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Write(make([]float32, 2.5*pipeline.InputRate))).To(gomega.Succeed())
		if live {
			g.Expect((<-u.Results()).Partial).To(gomega.HavePrefix("second"))
		}
		g.Expect(u.CloseInput()).To(gomega.Succeed())
		var end pipeline.TranscriptResult
		for end = range u.Results() {
		}
		g.Expect(end).To(gomega.Equal(pipeline.TranscriptResult{Final: true, Text: "2.5 seconds", Partial: "2.5 seconds", EOU: true}))
		g.Expect(u.Close()).To(gomega.Succeed())
	}
}
