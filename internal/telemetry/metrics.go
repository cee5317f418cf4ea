package telemetry

import (
	"bytes"
	"net/http"
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

	mu    sync.Mutex
	codes map[string]bool // that are labels
}

// maxCodes is how many different error codes are labels; others count as "other".
const maxCodes = 200

// latencies are the upper bounds of the histogram of stages, in seconds.
var latencies = []float64{.01, .025, .05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 30}

// New returns metrics. tracer gets a trace of each turn; nil traces nothing. source is what the server reads at each scrape.
func New(source Source, tracer trace.Tracer) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(), tracer: tracer, codes: map[string]bool{},
		ended:         counter("sessions_ended_total", "Calls that have ended, by reason.", "reason"),
		turns:         counter("turns_total", "Turns of users: committed ones, and candidates that were discarded or rejected.", "outcome"),
		interruptions: counter("interruptions_total", "Speech over the agent: confirmed barge-ins, and rejected candidates.", "verdict"),
		errors:        counter("errors_total", "Error events to clients, and failed responses and transcriptions, by code.", "code"),
		drafts:        counter("drafts_total", "Answers that were begun before the end of the user's turn was certain.", "outcome"),
		refused:       counter("requests_refused_total", "HTTP requests that were refused, by code.", "code"),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "stage_seconds", Buckets: latencies,
			Help: "Time of each stage of a turn: commit (from the end of speech), transcript, first_token, first_audio, first_packet (each from the stage before; the last one over WebRTC), and response (from the end of speech to the first sound).",
		}, []string{"stage"}),
	}
	m.registry.MustRegister(m.ended, m.turns, m.interruptions, m.errors, m.refused, m.drafts, m.stages, &scraped{source},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
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

// Event counts an event of the server that reports an error.
func (m *Metrics) Event(text []byte) {
	for _, begins := range failures {
		if !bytes.HasPrefix(text, begins) {
			continue
		}
		if code := failureCode(text); code != "" {
			m.errors.WithLabelValues(m.known(code)).Inc()
		}
		return
	}
}

// failureCode returns the code of the error that an event reports, or "".
func failureCode(text []byte) string {
	e, err := wire.DecodeServer(text)
	if err != nil {
		return ""
	}
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
func (m *Metrics) Refused(code string) { m.refused.WithLabelValues(m.known(code)).Inc() }

// known returns the label of a code: codes are few, but a stage of the pipeline may make up its own.
func (m *Metrics) known(code string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.codes[code] {
		if len(m.codes) >= maxCodes || len(code) > 64 {
			return "other"
		}
		m.codes[code] = true
	}
	return code
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
