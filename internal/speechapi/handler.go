package speechapi

// The handler: its configuration, its limits, and the list of models.

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of the requests.
const (
	maxRecording = 25 << 20        // bytes of a file
	maxLength    = 5 * time.Minute // of a recording
	maxField     = 4 << 10         // bytes of a form's field
	maxInput     = 4096            // characters of a text to speak
	maxBody      = 64 << 10        // bytes of the JSON with such a text

	maxParallel = 8 // requests at a time; a principal has at most as many as it leaves for others
	busyRetry   = 2 * time.Second
)

// Config configures a Handler. Pipeline and Guard are required.
type Config struct {
	Pipeline *pipeline.Pipeline
	Guard    *watchdog.Guard // bounds the calls into the stages
	Voice    string          // the synthesis voice where a request names none
	Logger   *slog.Logger    // nil discards all
}

// Handler serves the endpoints. Its methods may be called by several goroutines at a time.
type Handler struct {
	cfg    Config
	places *account.Budget
}

// New returns a Handler.
func New(cfg Config) *Handler {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Handler{cfg: cfg, places: account.New(maxParallel)}
}

func bad(param, format string, values ...any) *answer.Problem {
	return &answer.Problem{Status: http.StatusBadRequest, Code: "invalid_value", Param: param, Message: param + ": " + fmt.Sprintf(format, values...)}
}

// enter counts a request of a principal. done must be called at its end. It returns a Problem when there are too many.
func (h *Handler) enter(principal string) (done func(), p *answer.Problem) {
	if h.places.Take(principal, 1) != nil {
		return nil, (&answer.Problem{
			Status: http.StatusTooManyRequests, Code: "too_many_requests",
			Message: fmt.Sprintf("the server transcribes and speaks for %d requests at a time, in shares of their keys: wait until one of them is answered", maxParallel),
		}).After(busyRetry)
	}
	return func() { h.places.Give(principal, 1) }, nil
}

// stageProblem is the response to a request in which a stage failed.
func stageProblem(err error) *answer.Problem {
	p := answer.Failed(http.StatusBadGateway, "stage_failed", room.Public(err.Error()))
	switch {
	case errors.Is(err, pipeline.ErrUnavailable):
		p.Status, p.Code = http.StatusServiceUnavailable, "stage_unavailable"
	case errors.Is(err, pipeline.ErrBusy):
		p.Status, p.Code = http.StatusServiceUnavailable, "stage_busy"
		p.After(busyRetry)
	}
	return p
}

// model is an entry of the list of models.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// Models answers GET /v1/models: the pipeline, by whose name a session asks for it, and its stages' engines.
func (h *Handler) Models(w http.ResponseWriter, _ *http.Request, _ string) *answer.Problem {
	list := []model{{ID: h.cfg.Pipeline.Name, Object: "model", OwnedBy: "antiphon"}}
	for _, c := range h.cfg.Pipeline.Components() {
		known := slices.ContainsFunc(list, func(m model) bool { return m.ID == c.Name })
		if c.State == pipeline.StateReady && !known {
			list = append(list, model{ID: c.Name, Object: "model", OwnedBy: c.Stage})
		}
	}
	answer.JSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	return nil
}

// events writes server-sent events.
type events struct {
	w     http.ResponseWriter
	flush func()
}

// stream begins a response of server-sent events.
func stream(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	return events{w, func() { _ = control.Flush() }}
}

// send writes one event. The error says that the client is gone.
func (e events) send(event any) error {
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "data: %s\n\n", text); err != nil {
		return err
	}
	e.flush()
	return nil
}

// fail ends the stream with an error event.
func (e events) fail(p *answer.Problem) {
	_ = e.send(map[string]any{"type": "error", "error": map[string]any{"type": "server_error", "code": p.Code, "message": p.Message}})
}
