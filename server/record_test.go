package server_test

// The recording of events, the trace of the machines, and what logs leave out.

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

// lines reads JSON lines.
func lines[T any](g *gomega.WithT, text string) []T {
	var out []T
	for line := range strings.Lines(text) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var v T
		g.Expect(d.Decode(&v)).To(gomega.Succeed(), line)
		out = append(out, v)
	}
	return out
}

// conversation talks, barges in, and sends a text that is no JSON.
func conversation(c *client) {
	c.settle(transcribed)
	c.ask("say 60 words")
	first(c, "response.output_audio.delta")
	c.say(quiet(300))
	c.say(scripted.Tones("stop it now"))
	c.say(quiet(900))
	first(c, "response.done")
	first(c, "response.done")
	c.sendText(`{"type":`)
	first(c, "error")
}

func TestRecord(t *testing.T) {
	story(t, "every event of both sides is a line", func(t *testing.T) {
		var out bytes.Buffer
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Record = &out })
		c := h.dial()
		conversation(c)
		h.close()
		type line struct {
			T       time.Time
			Session string
			Dir     string
			Event   json.RawMessage
		}
		all := lines[line](h.g, out.String())
		var sent, got []string
		for i, l := range all {
			h.g.Expect(l.Session).To(gomega.And(gomega.HavePrefix("sess_"), gomega.Equal(all[0].Session)))
			h.g.Expect(l.T).NotTo(gomega.BeZero())
			h.g.Expect(i == 0 || !l.T.Before(all[i-1].T)).To(gomega.BeTrue(), "lines are in order")
			var e struct{ Type string }
			_ = json.Unmarshal(l.Event, &e) // a text that is no JSON has no type
			if l.Dir == "server" {
				got = append(got, e.Type)
			} else {
				h.g.Expect(l.Dir).To(gomega.Equal("client"))
				sent = append(sent, e.Type)
			}
		}
		h.g.Expect(got).To(gomega.HaveLen(len(c.All())), "the record has every event that the client received")
		h.g.Expect(got[0]).To(gomega.Equal("session.created"))
		h.g.Expect(sent[0]).To(gomega.Equal("session.update"))
		h.g.Expect(string(all[len(all)-2].Event)).To(gomega.Equal(`"{\"type\":"`), "a text that is no JSON is a string")
	})

	story(t, "a recorder that fails is reported once, and the calls go on", func(t *testing.T) {
		var log bytes.Buffer
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Record, c.Trace, c.Logger = broken{}, broken{}, slog.New(slog.NewTextHandler(&log, nil))
		})
		goesOn(h.dial())
		h.close()
		h.g.Expect(strings.Count(log.String(), "recording stopped")).To(gomega.Equal(2), "once for each")
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestTrace(t *testing.T) {
	story(t, "every transition is a line, and each machine's lines follow from each other", func(t *testing.T) {
		var out bytes.Buffer
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Trace = &out })
		conversation(h.dial())
		h.close()
		type value struct {
			Name string
			Data json.RawMessage
		}
		type line struct {
			T           time.Time
			Session     string
			Machine     string
			From, To    value
			Event       value
			Action, Why string
			Effects     []value
			// of an event that was taken, and of an effect that was performed
			Took, At, Config, Performed json.RawMessage
		}
		last := map[string]value{}
		machines := map[string]int{}
		for _, l := range lines[line](h.g, out.String()) {
			if l.Machine == "" {
				h.g.Expect(l.Took == nil).NotTo(gomega.Equal(l.Performed == nil))
				continue
			}
			if before, known := last[l.Machine]; known {
				h.g.Expect(l.From).To(gomega.Equal(before), l.Machine+": "+l.Event.Name)
			}
			last[l.Machine] = l.To
			machines[l.Machine]++
			h.g.Expect(l.Action == "").NotTo(gomega.Equal(l.Why == ""), "a transition has an action or a reason")
			if l.Why != "" {
				h.g.Expect(l.To).To(gomega.Equal(l.From))
				h.g.Expect(l.Effects).To(gomega.BeEmpty())
			}
		}
		for _, name := range []string{"conn", "turn", "response", "playout", "synthesis", "transcription", "transcription.final"} {
			h.g.Expect(machines[name]).To(gomega.BeNumerically(">", 1), name)
		}
		h.g.Expect(last["conn"].Name).To(gomega.Equal("Closed"))
		h.g.Expect(last["response"].Name).To(gomega.Equal("Terminated"))
	})
}

// TestLogs checks that transcripts and audio never go into logs.
func TestLogs(t *testing.T) {
	story(t, "transcripts stay out of logs", func(t *testing.T) {
		var log bytes.Buffer
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c.Instructions = "Speak of quinces."
		})
		conversation(h.dial())
		h.close()
		h.g.Expect(log.String()).To(gomega.ContainSubstring("machine=turn"))
		for _, said := range []string{"stop it now", "60 words", "Twenty", "quinces"} {
			h.g.Expect(log.String()).NotTo(gomega.ContainSubstring(said))
		}
	})
}

// A step of a machine in the store is a line with the revisions before and after it.
func TestStepWriter(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	w := server.NewStepWriter(&out, slog.New(slog.DiscardHandler))
	w.Write("run_1", coord.Step{Machine: "run", From: run.Queued{}, Event: run.TurnStarted{Attempt: 1}, To: run.Running{Attempt: 1, Seq: 1}, Action: "Start"}, 3, 4)
	w.Write("run_1", coord.Step{Machine: "run", From: run.Queued{}, Event: run.Resume{}, To: run.Queued{}, Why: "no turn runs"}, 3, 0)
	g.Expect(w.Close(t.Context())).To(gomega.Succeed())
	type line struct {
		T                time.Time
		Session, Machine string
		From, Event, To  struct {
			Name string
			Data json.RawMessage
		}
		Action, Why   string
		Effects       []json.RawMessage
		Found, Stored uint64
	}
	all := lines[line](g, out.String())
	g.Expect(all).To(gomega.HaveLen(2))
	first, second := all[0], all[1]
	g.Expect([]string{first.Session, first.Machine, first.From.Name, first.Event.Name, first.To.Name, first.Action}).To(
		gomega.Equal([]string{"run_1", "run", "queued", "turn.started", "running", "Start"}))
	g.Expect([]uint64{first.Found, first.Stored, second.Found, second.Stored}).To(gomega.Equal([]uint64{3, 4, 3, 0}))
	g.Expect(second.Why).To(gomega.Equal("no turn runs"))
}
