package clients

// The check of the recording of all clients.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// holds checks the whole recording: the protocol's rules, required fields among them, and the client's own parser.
func (h *house) holds(sessions int) {
	h.t.Helper()
	record, err := os.ReadFile(h.record)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	report, err := protocolcheck.Record(bytes.NewReader(record))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, p := range report.Problems {
		h.t.Errorf("the record: %v", p)
	}
	h.g.Expect(report.Sessions).To(gomega.Equal(sessions))
	h.accepted(record)
}

// unknown are the events of the protocol that the parser of agents-realtime does not know.
var unknown = map[string]bool{
	"input_audio_buffer.timeout_triggered":                true,
	"conversation.item.input_audio_transcription.segment": true,
}

// accepted asks the parser of @openai/agents-realtime about every event.
func (h *house) accepted(record []byte) {
	h.t.Helper()
	cmd := exec.Command("node", "programs/accept.mjs")
	var said bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = installed, bytes.NewReader(record), &said
	out, err := cmd.Output()
	h.g.Expect(err).NotTo(gomega.HaveOccurred(), said.String)
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); n++ {
		var verdict struct {
			Type, Why       string
			Known, Accepted bool
		}
		h.g.Expect(json.Unmarshal(lines.Bytes(), &verdict)).To(gomega.Succeed())
		h.g.Expect(verdict.Accepted || !verdict.Known && unknown[verdict.Type]).To(gomega.BeTrue(), "the client does not take %s: %s", verdict.Type, verdict.Why)
	}
	h.g.Expect(n).To(gomega.BeNumerically(">", 0))
}
