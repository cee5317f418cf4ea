package e2e

// The server of these tests, and the check of everything that it records.

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
	"github.com/antiphon-rt/antiphon/server"
)

// house is a server on loopback, with the record and the trace of all its sessions.
type house struct {
	url    string
	server *server.Server
	record rig.Lines
	trace  rig.Lines
}

// open runs a server with the scripted pipeline until the test ends.
func open(t *testing.T, script *scripted.Script, change func(*server.Config)) *house {
	t.Helper()
	g := gomega.NewWithT(t)
	h := &house{}
	p := scripted.New(scripted.Options{Script: script})
	trace, err := protocolcheck.Trace("e2e")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	record, err := protocolcheck.RecordOf(trace)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cfg := server.Config{
		Pipeline: p, Loopback: true, AnswerAhead: true,
		Watch: server.Watch{
			CheckInvariants: true, Record: protocolcheck.Both(&h.record, record), Trace: protocolcheck.Both(&h.trace, trace),
			Logbooks: t.TempDir(), LogbookSound: len(t.Name())%2 == 0,
		},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h.server = s
	web := httptest.NewServer(s)
	h.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.Succeed())
		web.Close()
		g.Expect(cfg.Pipeline.Close()).To(gomega.Succeed())
		now, _ := s.Calls()
		g.Expect(now).To(gomega.BeZero())
		if trace != nil {
			g.Expect(trace.Close()).To(gomega.Succeed())
			g.Expect(record.Close()).To(gomega.Succeed())
		}
		h.check(t)
		g.Expect(rig.Replay(cfg.Logbooks)).To(gomega.Succeed(), "every session plays again from its logbook")
	})
	return h
}

// check compares all recorded events with the protocol's rules.
func (h *house) check(t *testing.T) {
	t.Helper()
	report, err := protocolcheck.Record(h.record.Reader())
	if err != nil {
		t.Errorf("the record: %v", err)
	}
	for _, p := range report.Problems {
		t.Errorf("the record: %v", p)
	}
}

// recorded returns when the server sent its first event of this type.
func (h *house) recorded(t *testing.T, name string) time.Time {
	t.Helper()
	for _, line := range h.record.All() {
		var e struct {
			T     time.Time
			Dir   string
			Event struct{ Type string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("the record: %v", err)
		}
		if e.Dir == "server" && e.Event.Type == name {
			return e.T
		}
	}
	t.Fatalf("the record has no %s", name)
	return time.Time{}
}

// actions returns the action names of one machine's steps in all sessions, without the events that it ignored.
func (h *house) actions(t *testing.T, machine string) []string {
	t.Helper()
	var out []string
	for _, line := range h.trace.All() {
		var step struct{ Machine, Action string }
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Errorf("the trace: %v", err)
		}
		if step.Machine == machine && step.Action != "" {
			out = append(out, step.Action)
		}
	}
	return out
}
