package clients

// The server of these tests: bin/antiphon with a scripted pipeline.

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// house is a running bin/antiphon with a scripted pipeline, and its recording.
type house struct {
	*rig.Program
	t      *testing.T
	g      *gomega.WithT
	url    string
	record string
}

// slowSpeech lets the synthesizer make audio at twice the speed of playback only. So a long response is still being made when a client
// interrupts it late.
const slowSpeech = "synthesizer: {speedup: 2}\n"

// open starts the server. It requires an API key.
func open(t *testing.T, name string, flags ...string) *house {
	t.Helper()
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	h := &house{t: t, g: g, record: filepath.Join(folder, "record.jsonl")}
	keys := filepath.Join(folder, "keys")
	g.Expect(os.WriteFile(keys, []byte(key+"\n"), 0o600)).To(gomega.Succeed())
	trace := filepath.Join(folder, "trace.jsonl")
	kept, err := protocolcheck.Trace(name)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	if kept != nil {
		g.Expect(kept.Close()).To(gomega.Succeed())
		trace, h.record = kept.Name(), protocolcheck.Beside(kept.Name())
	}
	script := filepath.Join(folder, "pipeline.yaml")
	g.Expect(os.WriteFile(script, []byte(slowSpeech), 0o600)).To(gomega.Succeed())
	h.Program, err = rig.Start(root, append([]string{
		"--pipeline", script, "--listen", "127.0.0.1:0", "--api-key-file", keys, "--record", h.record, "--trace", trace,
	}, flags...)...)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		h.Kill() // it has ended, unless the test failed
		if t.Failed() {
			kept := filepath.Join(root, ".cache/clients", "failed-"+name+".jsonl")
			t.Logf("what passed is in %s: %v", kept, os.Rename(h.record, kept))
		}
	})
	h.url = h.URL
	return h
}

// secret returns a client secret, as an application's own server gets it for a page.
func (h *house) secret() string {
	h.t.Helper()
	ask, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.url+"/v1/realtime/client_secrets", strings.NewReader("{}"))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	ask.Header.Set("Authorization", "Bearer "+key)
	ask.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(ask)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { h.g.Expect(answer.Body.Close()).To(gomega.Succeed()) }()
	h.g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK))
	var secret struct{ Value string }
	h.g.Expect(json.NewDecoder(answer.Body).Decode(&secret)).To(gomega.Succeed())
	return secret.Value
}

// certificate returns the path of a file with the server's self-signed certificate.
func (h *house) certificate() string {
	h.t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(h.url, "https://"), &tls.Config{InsecureSkipVerify: true}) // the certificate is what the test wants to read
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	certificate := conn.ConnectionState().PeerCertificates[0]
	h.g.Expect(conn.Close()).To(gomega.Succeed())
	path := filepath.Join(h.t.TempDir(), "certificate.pem")
	h.g.Expect(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}), 0o600)).To(gomega.Succeed())
	return path
}

// stop ends the server and with it the recording.
func (h *house) stop() {
	h.t.Helper()
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}
