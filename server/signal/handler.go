package signal

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// Config is what a Handler serves. Engine, Pipeline and Settings are required.
type Config struct {
	Engine   *rtc.Engine
	Pipeline *pipeline.Pipeline
	Settings wire.Session // of a new session, before the client's own
	Version  string       // sent as Antiphon-Version
	Logger   *slog.Logger
	// Keys are those that a client may show; nil asks for none.
	Keys Keys
	// Origins are the pages that may call, such as "https://example.org"; "*" is every page. Pages of the server's own
	// host may always, and on a loopback address those of every loopback address.
	Origins []string
	// MaxSessions bounds the calls at a time; 0 takes 200.
	MaxSessions int
	// MaxMessage is the largest event of a client over a WebSocket, in bytes; 0 takes 1 MiB.
	MaxMessage int64
	// Grace is how long a lost transport may take to come back; 0 takes the session's default.
	Grace  time.Duration
	Record func(session, dir string, text []byte)
	Trace  func(session string, step coord.Step)
	// CheckInvariants has every session check its machines after every event.
	CheckInvariants bool
}

// Limits of a Handler, unless its Config says otherwise.
const (
	defaultMaxSessions = 200
	defaultMaxMessage  = 1 << 20
	maxBody            = 1 << 20 // of a request that sets a call up
)

// Handler answers the requests under /v1/realtime and /v1/antiphon. It is safe for concurrent use.
type Handler struct {
	cfg Config
	mux *http.ServeMux

	mu     sync.Mutex
	calls  map[string]*session.Session // by call id
	total  uint64
	closed bool
	joined sync.WaitGroup
}

// New makes a Handler. Close it.
func New(cfg Config) *Handler {
	if cfg.MaxSessions == 0 {
		cfg.MaxSessions = defaultMaxSessions
	}
	if cfg.MaxMessage == 0 {
		cfg.MaxMessage = defaultMaxMessage
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{cfg: cfg, mux: http.NewServeMux(), calls: map[string]*session.Session{}}
	h.mux.HandleFunc("POST /v1/realtime/calls", h.guarded(h.call))
	h.mux.HandleFunc("POST /v1/realtime/calls/{id}/hangup", h.guarded(h.hangup))
	h.mux.HandleFunc("GET /v1/realtime", h.guarded(h.socket))
	h.mux.HandleFunc("GET /v1/antiphon/pipeline", h.guarded(h.components))
	h.mux.HandleFunc("OPTIONS /v1/", h.preflight)
	h.mux.HandleFunc("/v1/", h.guarded(unknown))
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Close ends every call and waits until nothing of them is left, or until ctx is done. New calls are refused.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, s := range h.calls {
		go s.Close(conn.ServerStops) // the queue of a busy session may make it wait; joined below by Done
	}
	h.mu.Unlock()
	done := make(chan struct{})
	go func() {
		h.joined.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Calls is how many calls there are now and how many there were in all.
func (h *Handler) Calls() (now int, total uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls), h.total
}

// newSession makes a session and enters it into the book under the call id, or refuses.
func (h *Handler) newSession(id string, settings wire.Session) (*session.Session, *problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, &problem{status: http.StatusServiceUnavailable, code: "server_stopping", message: "the server is stopping: call again in a moment"}
	case len(h.calls) >= h.cfg.MaxSessions:
		return nil, &problem{status: http.StatusTooManyRequests, code: "too_many_sessions", message: "the server has as many calls as it takes: try again later"}
	}
	s, err := session.New(session.Config{
		Pipeline: h.cfg.Pipeline, Settings: settings, Logger: h.cfg.Logger, Record: h.cfg.Record, Trace: h.cfg.Trace,
		Grace: h.cfg.Grace, CheckInvariants: h.cfg.CheckInvariants,
	})
	if err != nil {
		return nil, &problem{status: http.StatusInternalServerError, kind: "server_error", code: "internal", message: err.Error()}
	}
	h.calls[id] = s
	h.joined.Go(func() {
		<-s.Done()
		h.mu.Lock()
		delete(h.calls, id)
		h.mu.Unlock()
	})
	return s, nil
}

// abandon takes back a session that never began, at once: nobody counts it.
func (h *Handler) abandon(id string, s *session.Session) {
	s.Abandon()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.calls, id)
}

// began counts a call that was set up.
func (h *Handler) began() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total++
}

func (h *Handler) find(id string) *session.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[id]
}

func (h *Handler) hangup(w http.ResponseWriter, r *http.Request) {
	s := h.find(r.PathValue("id"))
	if s == nil {
		(&problem{status: http.StatusNotFound, code: "call_not_found", message: "there is no such call, or it has ended"}).write(w)
		return
	}
	s.Close(conn.ByClient)
	w.WriteHeader(http.StatusOK)
}

// unknown says what there is instead of a path that is not there.
func unknown(w http.ResponseWriter, r *http.Request) {
	method, known := map[string]string{
		"/v1/realtime": http.MethodGet, "/v1/realtime/calls": http.MethodPost, "/v1/antiphon/pipeline": http.MethodGet,
	}[r.URL.Path]
	if known {
		w.Header().Set("Allow", method)
		(&problem{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed",
			message: fmt.Sprintf("%s takes %s, not %s", r.URL.Path, method, r.Method),
		}).write(w)
		return
	}
	(&problem{
		status: http.StatusNotFound, code: "unknown_url",
		message: fmt.Sprintf("this server has no %s %s: it has POST /v1/realtime/calls, POST /v1/realtime/calls/{id}/hangup, "+
			"GET /v1/realtime (a WebSocket) and GET /v1/antiphon/pipeline", r.Method, r.URL.Path),
	}).write(w)
}

// components tells what the pipeline is made of.
func (h *Handler) components(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Pipeline   string               `json:"pipeline"`
		Components []pipeline.Component `json:"components"`
	}{h.cfg.Pipeline.Name, h.cfg.Pipeline.Components()})
}

// problem is a refused request, as the protocol writes it.
type problem struct {
	status        int
	kind          string // the error's type; empty is invalid_request_error
	code, message string
	param         string
}

func (p *problem) write(w http.ResponseWriter) {
	if p.kind == "" {
		p.kind = "invalid_request_error"
	}
	var param *string
	if p.param != "" {
		param = &p.param
	}
	writeJSON(w, p.status, map[string]any{
		"error": map[string]any{"type": p.kind, "code": p.code, "message": p.message, "param": param},
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error here is a client that went away
}
