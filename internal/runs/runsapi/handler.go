package runsapi

// The requests and their answers.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/jsonbody"
	"github.com/antiphon-rt/antiphon/internal/once"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// Limits of requests.
const (
	maxBody     = runs.MaxInput + 4<<10 // bytes
	defaultPage = 20
	maxPage     = 100
	maxStream   = time.Hour // of one stream of events; its client connects again
	busyRetry   = 2 * time.Second
)

// Handler serves the runs at /v1/runs. It is safe for concurrent use.
type Handler struct {
	runs   *runs.Runner
	logger *slog.Logger
	mux    *http.ServeMux
}

// principalKey is the key of the principal in a request's context.
type principalKey struct{}

// New returns a Handler of the runs of r. logger gets what an operator should know.
func New(r *runs.Runner, logger *slog.Logger) *Handler {
	h := &Handler{runs: r, logger: logger, mux: http.NewServeMux()}
	for pattern, serve := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /v1/runs": h.start, "GET /v1/runs": h.list, "GET /v1/runs/contract": contract,
		"GET /v1/runs/{id}": h.get, "POST /v1/runs/{id}/reply": h.reply, "POST /v1/runs/{id}/cancel": h.cancel, "GET /v1/runs/{id}/events": h.events,
	} {
		h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := serve(w, r); err != nil {
				refuse(w, err)
			}
		})
	}
	return h
}

// Serve answers a request of a principal. The caller has checked its key.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, principal string) {
	h.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, principal)))
}

// principal returns whose request it is.
func principal(r *http.Request) string {
	name, _ := r.Context().Value(principalKey{}).(string)
	return name
}

func (h *Handler) start(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Tool         string          `json:"tool"`
		Input        json.RawMessage `json:"input"`
		Policy       string          `json:"policy"`
		ReplyTimeout float64         `json:"reply_timeout"` // seconds
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	policy, err := parsePolicy(body.Policy)
	if err != nil {
		return err
	}
	timeout := min(max(body.ReplyTimeout, -1), 1e6)
	started, err := h.runs.Start(r.Context(), runs.Request{
		Begins: once.Sending, Principal: principal(r), Tool: body.Tool, Input: body.Input, Policy: policy, ReplyTimeout: time.Duration(timeout * float64(time.Second)),
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/runs/"+started.ID)
	answer.JSON(w, http.StatusCreated, started)
	return nil
}

func parsePolicy(name string) (run.Policy, error) {
	for _, p := range []run.Policy{run.RequireReply, run.AutoDecide, run.Auto} {
		if name == p.String() {
			return p, nil
		}
	}
	if name == "" {
		return 0, nil
	}
	return 0, fmt.Errorf("%w: policy: want %s, %s or %s", runs.ErrInvalid, run.RequireReply, run.AutoDecide, run.Auto)
}

func (h *Handler) get(w http.ResponseWriter, r *http.Request) error {
	found, err := h.runs.Get(r.Context(), principal(r), r.PathValue("id"))
	if err == nil {
		answer.JSON(w, http.StatusOK, found)
	}
	return err
}

func (h *Handler) list(w http.ResponseWriter, r *http.Request) error {
	limit := defaultPage
	if text := r.URL.Query().Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return fmt.Errorf("%w: limit: want 1 to %d", runs.ErrInvalid, maxPage)
		}
		limit = n
	}
	after := r.URL.Query().Get("after")
	if after != "" && !runs.IsID(after) {
		return fmt.Errorf("%w: after: want the id of a run", runs.ErrInvalid)
	}
	page, more, err := h.runs.List(r.Context(), principal(r), after, limit)
	if err != nil {
		return err
	}
	out := struct {
		Object string      `json:"object"`
		Data   []*runs.Run `json:"data"`
		LastID *string     `json:"last_id"`
		More   bool        `json:"has_more"`
	}{"list", append([]*runs.Run{}, page...), nil, more}
	if len(page) > 0 {
		out.LastID = &page[len(page)-1].ID
	}
	answer.JSON(w, http.StatusOK, out)
	return nil
}

func (h *Handler) reply(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		InteractionID string          `json:"interaction_id"`
		Approve       *bool           `json:"approve"`
		Reply         json.RawMessage `json:"reply"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	a, err := answerOf(body.InteractionID, body.Approve, body.Reply)
	if err != nil {
		return err
	}
	now, err := h.runs.Reply(r.Context(), principal(r), r.PathValue("id"), body.InteractionID, a)
	if err == nil {
		answer.JSON(w, http.StatusOK, now)
	}
	return err
}

// answerOf returns the user's answer to a question. It has either an approval or a reply.
func answerOf(interaction string, approve *bool, reply json.RawMessage) (runs.Answer, error) {
	switch {
	case interaction == "":
		return runs.Answer{}, fmt.Errorf("%w: interaction_id is missing: pending of the run has it", runs.ErrInvalid)
	case (approve == nil) == (reply == nil):
		return runs.Answer{}, fmt.Errorf("%w: send approve with true or false for an approval, or reply with a JSON value for a question", runs.ErrInvalid)
	}
	return runs.Answer{Reply: reply, Approved: approve != nil && *approve}, nil
}

func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := readBody(w, r, &body); err != nil {
		return err
	}
	now, err := h.runs.Cancel(r.Context(), principal(r), r.PathValue("id"), body.Reason)
	if err == nil {
		answer.JSON(w, http.StatusOK, now)
	}
	return err
}

func contract(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(runs.Contract()) // after an error the client is gone
	return nil
}

// events streams the messages of a run after the one that Last-Event-ID names. A run that has ended and has no further messages is 204, which tells an
// EventSource not to connect again.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) error {
	after, err := lastEvent(r)
	if err != nil {
		return err
	}
	who, id := principal(r), r.PathValue("id")
	now, err := h.runs.Get(r.Context(), who, id)
	if err != nil {
		return err
	}
	if now.Result != nil && after >= now.Seq {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	control, begun := http.NewResponseController(w), false
	send := func(format string, values ...any) error {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Cache-Control", "no-store")
		}
		if _, err := fmt.Fprintf(w, format, values...); err != nil {
			return err
		}
		return control.Flush()
	}
	until := time.Now().Add(maxStream)
	err = h.runs.Follow(r.Context(), who, id, after, func(m runs.Message) error {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		return send("id: %d\nevent: %s\ndata: %s\n\n", m.Seq, m.Type, text)
	}, func() error {
		if time.Now().After(until) {
			return io.EOF // the client connects again
		}
		return send(": still there\n\n")
	})
	if begun {
		return nil // the client connects again with the number of the last message
	}
	return err
}

// lastEvent returns the number in the header Last-Event-ID, or in the parameter after for clients that cannot send the header.
func lastEvent(r *http.Request) (uint64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w: Last-Event-ID: want the number of a message", runs.ErrInvalid)
	}
	return n, nil
}

// readBody reads the JSON object of a request; an empty body is an empty object.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return fmt.Errorf("%w: the body has more than %d bytes", runs.ErrInvalid, long.Limit)
	case errors.Is(err, account.ErrFull):
		return err
	case err != nil:
		return fmt.Errorf("%w: the body did not arrive whole", runs.ErrInvalid)
	case len(text) == 0:
		return nil
	}
	if err := jsonbody.Decode(text, into); err != nil {
		return fmt.Errorf("%w: %w", runs.ErrInvalid, err)
	}
	return nil
}

// refuse writes an error as the protocol does.
func refuse(w http.ResponseWriter, err error) {
	status, code, kind := classify(err)
	p := &answer.Problem{Status: status, Kind: kind, Code: code, Message: err.Error()}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		p.After(busyRetry)
	}
	if bad, is := errors.AsType[*jsonbody.Error](err); is {
		p.Param = bad.Param
	}
	p.Write(w)
}

// classify returns the HTTP status, the code and the type of an error.
func classify(err error) (status int, code, kind string) {
	status, code, kind = http.StatusInternalServerError, "internal", "server_error"
	for _, c := range []struct {
		is     error
		status int
		code   string
	}{
		{runs.ErrInvalid, http.StatusBadRequest, "invalid_value"},
		{runs.ErrNotFound, http.StatusNotFound, "run_not_found"},
		{runs.ErrResolved, http.StatusConflict, "interaction_not_pending"},
		{runs.ErrEnded, http.StatusConflict, "run_ended"},
		{runs.ErrTooMany, http.StatusTooManyRequests, "too_many_runs"},
		{runs.ErrClosing, http.StatusServiceUnavailable, "server_stopping"},
		{account.ErrFull, http.StatusTooManyRequests, "server_busy"},
		{store.ErrUnavailable, http.StatusServiceUnavailable, "store_unavailable"},
	} {
		if errors.Is(err, c.is) {
			status, code = c.status, c.code
			break
		}
	}
	if status < http.StatusInternalServerError {
		kind = "invalid_request_error"
	}
	return status, code, kind
}
