package session

// The record of all events of a test, and its check by the rules of e2e/check.

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// record keeps all events between a session and its client, in the form of `antiphon serve --record`.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// event records one event. It is used as Config.Record.
func (r *record) event(session, dir string, text []byte) {
	raw := json.RawMessage(text)
	if !json.Valid(text) {
		raw, _ = json.Marshal(string(text)) // marshalling a string never fails
	}
	line, _ := json.Marshal(struct { // this never fails either
		T       time.Time       `json:"t"`
		Session string          `json:"session"`
		Dir     string          `json:"dir"`
		Event   json.RawMessage `json:"event"`
	}{time.Now(), session, dir, raw})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(append(line, '\n'))
}

// read checks the record by the rules of e2e/check, and returns the report.
func (r *record) read() (protocolcheck.Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return protocolcheck.Record(bytes.NewReader(r.text.Bytes()))
}

// checkRecord checks all events of both directions by the rules of e2e/check.
func (c *caller) checkRecord() {
	c.t.Helper()
	report, err := c.record.read()
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(report.Problems).To(gomega.BeEmpty())
}

// transport returns the name of the caller's transport in the protocol's table.
func (c *caller) transport() string {
	if c.pacer != nil {
		return protocolcheck.OnWebRTC
	}
	return protocolcheck.OnWebSocket
}
