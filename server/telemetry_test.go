package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/antiphon-rt/antiphon/internal/apikey"
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

// The metrics say how long the calls of each API key are and how many tokens they take, by the name of the key. The key itself is nowhere.
func TestMetricsOfKeys(t *testing.T) {
	story(t, "calls of two keys", func(t *testing.T) {
		const desk, phone = "the-key-of-the-desk-0123456789", "the-key-of-the-phone-0123456789"
		deskLine, err := apikey.Line(desk, "desk")
		g := gomega.NewWithT(t)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		keys, err := apikey.Read(strings.NewReader(deskLine + "\n" + phone + "\n")) // the second has no name
		g.Expect(err).NotTo(gomega.HaveOccurred())
		nameless, known := keys.Principal(phone)
		g.Expect(known).To(gomega.BeTrue())
		h := serve(t, scripted.New(scripted.Options{}), func(c *server.Config) { c.Keys = keys })
		with := func(key string) *client {
			h.header = http.Header{"Authorization": {"Bearer " + key}}
			return h.dial()
		}
		atDesk, atPhone := with(desk), with(phone)
		conversation(atDesk)
		wait(time.Minute)
		seconds := func(metrics, key string) float64 {
			return value(metrics, `antiphon_key_call_seconds_total{key="`+key+`"}`)
		}
		tokens := func(metrics, key, direction string) float64 {
			return value(metrics, `antiphon_key_tokens_total{direction="`+direction+`",key="`+key+`"}`)
		}
		early := h.get("/metrics").body
		g.Expect(early).To(gomega.ContainSubstring(`antiphon_build_info{version="` + server.Version + `"} 1`))
		g.Expect(seconds(early, "desk")).To(gomega.BeNumerically(">=", 60))
		g.Expect(tokens(early, "desk", "input")).To(gomega.BeNumerically(">", 0))
		g.Expect(tokens(early, "desk", "output")).To(gomega.BeNumerically(">", 0))
		g.Expect(tokens(early, nameless, "output")).To(gomega.BeNumerically("==", -1), "nobody has spoken there")

		wait(time.Minute)
		late := h.get("/metrics").body
		g.Expect(seconds(late, "desk") - seconds(early, "desk")).To(gomega.BeNumerically("~", 60, 1e-6))
		g.Expect(seconds(late, nameless) - seconds(early, nameless)).To(gomega.BeNumerically("~", 60, 1e-6))
		g.Expect(atPhone.ws.Close(websocket.StatusNormalClosure, "")).To(gomega.Succeed())
		wait(time.Minute)
		over := h.get("/metrics").body
		wait(time.Minute)
		g.Expect(seconds(h.get("/metrics").body, nameless)).To(gomega.Equal(seconds(over, nameless)), "its call has ended")
		g.Expect(seconds(over, "desk") - seconds(late, "desk")).To(gomega.BeNumerically("~", 60, 1e-6))
		g.Expect(over).NotTo(gomega.Or(gomega.ContainSubstring(desk), gomega.ContainSubstring(phone)))
	})
}
