package clients

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/check"
)

// holds checks the whole recording: the protocol's rules, its required fields, and the client's own parser.
func (h *house) holds(sessions int) {
	h.t.Helper()
	record, err := os.ReadFile(h.record)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	report, err := check.Record(bytes.NewReader(record))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, p := range report.Problems {
		h.t.Errorf("the record: %v", p)
	}
	h.g.Expect(report.Sessions).To(gomega.Equal(sessions))
	h.required(record)
	h.accepted(record)
}

// required.txt has the fields that the protocol requires of the server's events.
//
//go:embed testdata/required.txt
var requiredText string

// required looks for fields that are missing.
func (h *house) required(record []byte) {
	h.t.Helper()
	fields := map[string][]string{}
	for line := range strings.Lines(requiredText) {
		if name, list, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = strings.Fields(list)
		}
	}
	lines := json.NewDecoder(bytes.NewReader(record))
	for lines.More() {
		var l struct {
			Dir   string
			Event json.RawMessage
		}
		h.g.Expect(lines.Decode(&l)).To(gomega.Succeed())
		if l.Dir == "client" {
			continue
		}
		var event map[string]json.RawMessage
		h.g.Expect(json.Unmarshal(l.Event, &event)).To(gomega.Succeed())
		var name string
		h.g.Expect(json.Unmarshal(event["type"], &name)).To(gomega.Succeed())
		h.g.Expect(fields).To(gomega.HaveKey(name), "no event of the protocol")
		for _, path := range fields[name] {
			h.g.Expect(has(event, path)).To(gomega.BeTrue(), "%s lacks %s: %s", name, path, l.Event)
		}
	}
}

// has reports whether the key of a path a.b is there, whatever its value; below what is not an object there is nothing to ask for.
func has(object map[string]json.RawMessage, path string) bool {
	first, rest, deeper := strings.Cut(path, ".")
	value, ok := object[first]
	if !ok || !deeper {
		return ok
	}
	var inner map[string]json.RawMessage
	if json.Unmarshal(value, &inner) != nil || inner == nil {
		return true
	}
	return has(inner, rest)
}

// unknown are events of the protocol that the parser of agents-realtime does not know.
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
