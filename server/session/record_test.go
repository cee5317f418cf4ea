package session

import (
	"bytes"
	"encoding/json"
	"sync"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/check"
)

// record keeps what a session and its client say to each other, as `antiphon serve --record` writes it.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// event is a Config.Record.
func (r *record) event(session, dir string, text []byte) {
	raw := json.RawMessage(text)
	if !json.Valid(text) {
		raw, _ = json.Marshal(string(text)) // a string always marshals
	}
	line, _ := json.Marshal(struct { // so does this
		T       time.Time       `json:"t"`
		Session string          `json:"session"`
		Dir     string          `json:"dir"`
		Event   json.RawMessage `json:"event"`
	}{time.Now(), session, dir, raw})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(append(line, '\n'))
}

// read is what the rules of the protocol have to say of it.
func (r *record) read() (check.Report, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return check.Record(bytes.NewReader(r.text.Bytes()))
}

// checkRecord holds what went to and fro to the rules that clients live by.
func (c *caller) checkRecord() {
	c.t.Helper()
	report, err := c.record.read()
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(report.Problems).To(gomega.BeEmpty())
}

// transport is how the protocol's table names the caller's.
func (c *caller) transport() string {
	if c.pacer != nil {
		return check.OnWebRTC
	}
	return check.OnWebSocket
}
