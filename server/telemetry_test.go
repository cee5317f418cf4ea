package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

// value returns the value of a metric, or -1 if there is none.
func value(metrics, name string) float64 {
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(metrics)
	if line == nil {
		return -1
	}
	v, err := strconv.ParseFloat(line[1], 64)
	if err != nil {
		return -1
	}
	return v
}

// Metrics, traces and logs tell of a conversation, and have no word of it.
func TestTelemetry(t *testing.T) {
	story(t, "a conversation with a barge-in and an error", func(t *testing.T) {
		var log bytes.Buffer
		spans := tracetest.NewInMemoryExporter()
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
			c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c.Instructions = "Speak of quinces."
			c.Record = io.Discard
			c.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)).Tracer("antiphon")
		})
		c := h.dial()
		conversation(c)
		wait(time.Minute) // until the answer has been played
		h.get("/v1/nothing")
		metrics := h.get("/metrics").body
		for name, want := range map[string]float64{
			`antiphon_sessions`:                                                     1,
			`antiphon_connections_stuck_total`:                                      0,
			`antiphon_sessions_total`:                                               1,
			`antiphon_interruptions_total{verdict="confirmed"}`:                     1,
			`antiphon_interruptions_total{verdict="rejected"}`:                      0,
			`antiphon_turns_total{outcome="committed"}`:                             1,
			`antiphon_errors_total{code="invalid_json"}`:                            1,
			`antiphon_requests_refused_total{code="unknown_url"}`:                   1,
			`antiphon_stage_seconds_count{stage="response"}`:                        1,
			`antiphon_stage_seconds_count{stage="first_token"}`:                     1,
			`antiphon_draining`:                                                     0,
			`antiphon_message_memory_free_bytes`:                                    256 << 20,
			`antiphon_session_turns_waiting`:                                        0,
			`antiphon_abandoned_calls{stage="model"}`:                               0,
			`antiphon_recording_waiting_bytes{file="record"}`:                       0,
			`antiphon_recording_lines_dropped_total{file="record"}`:                 0,
			`antiphon_session_queue_size`:                                           512,
			`antiphon_component_state{name="scripted",stage="model",state="ready"}`: 1,
		} {
			h.g.Expect(value(metrics, name)).To(gomega.Equal(want), name)
		}
		h.g.Expect(value(metrics, `antiphon_replay_bytes`)).To(gomega.BeNumerically(">", 0))
		board, err := os.ReadFile("../deploy/grafana.json")
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
		h.g.Expect(json.Valid(board)).To(gomega.BeTrue())
		for _, name := range regexp.MustCompile(`(antiphon|process|go)_\w+`).FindAllString(string(board), -1) {
			h.g.Expect(metrics).To(gomega.ContainSubstring(name), "the dashboard shows it")
		}
		h.g.Expect(value(metrics, "go_goroutines")).To(gomega.BeNumerically(">", 0))
		h.close()
		h.g.Expect(value(h.get("/metrics").body, `antiphon_sessions_ended_total{reason="ServerStops"}`)).To(gomega.Equal(1.0))

		traced, err := json.Marshal(spans.GetSpans().Snapshots())
		h.g.Expect(err).NotTo(gomega.HaveOccurred())
		names := []string{}
		for _, s := range spans.GetSpans() {
			names = append(names, s.Name)
			h.g.Expect(s.EndTime).NotTo(gomega.BeTemporally("<", s.StartTime))
		}
		h.g.Expect(names).To(gomega.ContainElements("turn", "commit", "transcript", "first_token", "first_audio"))
		for where, text := range map[string]string{"metrics": metrics, "traces": string(traced), "logs": log.String()} {
			for _, said := range []string{"stop it now", "60 words", "Twenty", "quinces"} {
				h.g.Expect(text).NotTo(gomega.ContainSubstring(said), where)
			}
		}
	})
}
