package telemetry

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/version"
	"github.com/antiphon-rt/antiphon/wire"
)

// The metrics that the sessions feed: counts of turns, interruptions, ends and errors, and the latency of each stage.

// Metrics are the metrics of one server. Its methods are safe for concurrent use and do not block.
type Metrics struct {
	registry *prometheus.Registry
	tracer   trace.Tracer

	ended         *prometheus.CounterVec
	turns         *prometheus.CounterVec
	interruptions *prometheus.CounterVec
	errors        *prometheus.CounterVec
	refused       *prometheus.CounterVec
	drafts        *prometheus.CounterVec
	stages        *prometheus.HistogramVec
	tokens        *prometheus.CounterVec
	talked        *prometheus.CounterVec

	mu    sync.Mutex
	codes map[string]bool // that are labels
	keys  map[string]bool // whose names are labels
}

// maxLabels is how many different error codes, and how many different names of keys, are labels; others count as "other".
const maxLabels = 200

// latencies are the upper bounds of the histogram of stages, in seconds.
var latencies = []float64{.01, .025, .05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 30}

// New returns metrics. tracer gets a trace of each turn; nil traces nothing. source is what the server reads at each scrape.
func New(source Source, tracer trace.Tracer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), tracer: tracer, codes: map[string]bool{}, keys: map[string]bool{},
		ended:         counter("sessions_ended_total", "Calls that have ended, by reason.", "reason"),
		turns:         counter("turns_total", "Turns of users: committed ones, and candidates that were discarded or rejected.", "outcome"),
		interruptions: counter("interruptions_total", "Speech over the agent: confirmed barge-ins, and rejected candidates.", "verdict"),
		errors:        counter("errors_total", "Error events to clients, and failed responses and transcriptions, by code.", "code"),
		drafts:        counter("drafts_total", "Answers that were begun before the end of the user's turn was certain.", "outcome"),
		refused:       counter("requests_refused_total", "HTTP requests that were refused, by code.", "code"),
		tokens:        counter("key_tokens_total", "Tokens of responses, by the name of the API key that began the call, and direction.", "key", "direction"),
		talked:        counter("key_call_seconds_total", "Length of calls, by the name of the API key that began them.", "key"),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "stage_seconds", Buckets: latencies,
			Help: "Time of each stage of a turn: commit (from the end of speech), transcript, first_token, first_audio, first_packet (each from the stage before; the last one over WebRTC), and response (from the end of speech to the first sound).",
		}, []string{"stage"}),
	}
	m.registry.MustRegister(m.ended, m.turns, m.interruptions, m.errors, m.refused, m.drafts, m.stages, m.tokens, m.talked, &scraped{source},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info", Help: "1, with the version of the server."}, []string{"version"})
	build.WithLabelValues(version.Version).Set(1)
	m.registry.MustRegister(build)
	for _, verdict := range []string{confirmed, rejected} {
		m.interruptions.WithLabelValues(verdict)
	}
	return m
}

// Values of labels.
const (
	namespace = "antiphon"

	confirmed, rejected  = "confirmed", "rejected"
	committed, discarded = "committed", "discarded"
	adopted              = "adopted"
)

// Handler returns the HTTP handler of /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Step counts a transition of a session's machines.
func (m *Metrics) Step(st coord.Step) {
	for _, f := range st.Effects {
		switch f := f.(type) {
		case conn.StopChildren:
			m.ended.WithLabelValues(f.Reason.String()).Inc()
		case turn.CommitTurn:
			m.turns.WithLabelValues(committed).Inc()
		case turn.DiscardTurn:
			m.turns.WithLabelValues(discarded).Inc()
		case turn.RejectCandidate:
			m.turns.WithLabelValues(rejected).Inc()
		case draft.Adopt:
			m.drafts.WithLabelValues(adopted).Inc()
		case draft.Stop:
			m.drafts.WithLabelValues(discarded).Inc()
		case turn.BargeIn:
			m.interruptions.WithLabelValues(confirmed).Inc()
		}
	}
	if _, is := st.Event.(playout.Reject); is {
		if _, held := st.From.(playout.Held); held {
			m.interruptions.WithLabelValues(rejected).Inc()
		}
	}
}

// failures are how events begin that report an error, as wire writes them.
var failures = [][]byte{
	[]byte(`{"type":"error"`), []byte(`{"type":"response.done"`), []byte(`{"type":"conversation.item.input_audio_transcription.failed"`),
}

// Event counts an event of the server that reports an error, and the tokens of a response. key is the name of the API key that began the call; "" for none.
func (m *Metrics) Event(key string, text []byte) {
	if !slices.ContainsFunc(failures, func(begins []byte) bool { return bytes.HasPrefix(text, begins) }) {
		return
	}
	e, err := wire.DecodeServer(text)
	if err != nil {
		return
	}
	if code := failureCode(e); code != "" {
		m.errors.WithLabelValues(m.label(m.codes, code)).Inc()
	}
	if done, is := e.(*wire.ResponseDone); is && done.Response.Usage != nil {
		key = m.label(m.keys, key)
		m.tokens.WithLabelValues(key, "input").Add(float64(done.Response.Usage.InputTokens))
		m.tokens.WithLabelValues(key, "output").Add(float64(done.Response.Usage.OutputTokens))
	}
}

// Talked counts how much longer a call is than when it was counted before. key is as for Event.
func (m *Metrics) Talked(key string, d time.Duration) {
	m.talked.WithLabelValues(m.label(m.keys, key)).Add(max(0, d.Seconds()))
}

// failureCode returns the code of the error that an event reports, or "".
func failureCode(e wire.ServerEvent) string {
	switch e := e.(type) {
	case *wire.ErrorEvent:
		return e.Error.Code
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		return e.Error.Code
	case *wire.ResponseDone:
		if d := e.Response.StatusDetails; d != nil && d.Error != nil {
			return d.Error.Code
		}
	}
	return ""
}

// Refused counts an HTTP request that was refused.
func (m *Metrics) Refused(code string) { m.refused.WithLabelValues(m.label(m.codes, code)).Inc() }

// label returns the label of a code or of a key, and adds it to those that are known: they are few, but a stage of the pipeline may make up codes, and keys change.
func (m *Metrics) label(known map[string]bool, name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	name = strings.ToValidUTF8(name, "\uFFFD") // Prometheus panics at other bytes
	if !known[name] {
		if len(known) >= maxLabels || len(name) > 64 {
			return "other"
		}
		known[name] = true
	}
	return name
}

// Turn observes the times of a turn that was answered. spoke is the end of the user's speech.
func (m *Metrics) Turn(session string, t *wire.AntiphonTurnMetrics, spoke time.Time) {
	before := 0
	for _, s := range stagesOf(t) {
		if s.ms < 0 {
			continue
		}
		if s.name != stagePlayback {
			m.stages.WithLabelValues(s.name).Observe(float64(max(0, s.ms-before)) / 1000)
		}
		before = s.ms
	}
	if heard := max(t.FirstPacketMS, t.FirstAudioMS); heard >= 0 {
		m.stages.WithLabelValues("response").Observe(float64(heard) / 1000)
	}
	if m.tracer != nil {
		m.trace(session, t, spoke)
	}
}
