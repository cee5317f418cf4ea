package httpapi

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
)

// The HTTP routes, and the responses to wrong paths and methods.

// route is one method and path, and its endpoint. openapi.json describes each route.
type route struct {
	method, path string
	serve        endpoint
}

func (h *Handler) routes() []route {
	return []route{
		{http.MethodPost, "/v1/realtime/calls", h.opensCall(h.call, h.reconnectCall)},
		{http.MethodPost, "/v1/realtime/calls/{id}/restart", h.restart},
		{http.MethodPost, "/v1/realtime/calls/{id}/hangup", h.hangup},
		{http.MethodPost, "/v1/realtime/calls/{id}/accept", h.decidesPhone((*telephones.Call).Accept)},
		{http.MethodPost, "/v1/realtime/calls/{id}/reject", h.decidesPhone((*telephones.Call).Reject)},
		{http.MethodPost, "/v1/realtime/calls/{id}/refer", h.decidesPhone((*telephones.Call).Refer)},
		{http.MethodPost, "/v1/realtime/calls/{id}/keys", h.decidesPhone((*telephones.Call).Press)},
		{http.MethodPost, "/v1/realtime/client_secrets", h.begins(h.clientSecret)},
		{http.MethodGet, "/v1/realtime", h.socket},
		{http.MethodPost, "/v1/audio/transcriptions", h.speaks(h.speech.Transcription)},
		{http.MethodPost, "/v1/audio/speech", h.speaks(h.speech.Speech)},
		{http.MethodGet, "/v1/models", h.speaks(h.speech.Models)},
		{http.MethodGet, "/v1/antiphon/voices", h.speaks(h.speech.Voices)},
		{http.MethodPost, "/v1/antiphon/voices", h.speaks(h.speech.Enrol)},
		{http.MethodPost, "/v1/antiphon/voices/{name}/remove", h.speaks(h.speech.Remove)},
		{http.MethodPost, "/v1/runs", h.begins(h.serveRuns)},
		{http.MethodGet, "/v1/runs", fresh(h.serveRuns)},
		{http.MethodGet, "/v1/runs/{id}", fresh(h.serveRuns)},
		{http.MethodPost, "/v1/runs/{id}/reply", fresh(h.serveRuns)},
		{http.MethodPost, "/v1/runs/{id}/cancel", fresh(h.serveRuns)},
		{http.MethodGet, "/v1/runs/{id}/events", fresh(h.serveRuns)},
		{http.MethodGet, "/v1/antiphon/pipeline", fresh(h.components)},
		{http.MethodGet, "/v1/antiphon/ice-servers", fresh(h.iceServers)},
		{http.MethodGet, "/v1/antiphon/openapi.json", fresh(openAPI)},
	}
}

// route registers all routes in the mux.
func (h *Handler) route() {
	var all []string
	methods := map[string][]string{}
	for _, r := range h.routes() {
		if r.method == http.MethodPost {
			r.serve = h.countsOnce(r.serve)
		}
		h.mux.HandleFunc(r.method+" "+r.path, h.guarded(r.serve))
		methods[r.path] = append(methods[r.path], r.method)
		all = append(all, r.method+" "+r.path)
	}
	if len(h.cfg.Streams) > 0 {
		doors := telephones.NewDoors(h.phones, h.cfg.Version, h.cfg.Streams)
		h.mux.Handle("GET "+telephones.StreamsPath+"{name}", doors)
		h.mux.Handle("GET "+telephones.StreamsPath+"{name}/{key}", doors)
	}
	for path, takes := range methods {
		h.mux.HandleFunc(path, h.guarded(wrongMethod(takes)))
	}
	h.mux.HandleFunc("/v1/", h.guarded(unknown(all)))
}

// speaks returns the endpoint for a method of package speechapi. It takes one request from the requester's budget, and wants a key.
func (h *Handler) speaks(serve func(w http.ResponseWriter, r *http.Request, principal string) *problem) endpoint {
	return h.begins(func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if who.secret != nil {
			return keyWanted("is for calls")
		}
		return serve(w, r, who.principal)
	})
}

// wrongMethod returns the endpoint for a path that takes only the given methods.
func wrongMethod(methods []string) endpoint {
	takes := strings.Join(methods, ", ")
	return func(_ http.ResponseWriter, r *http.Request, _ requester) *problem {
		return (&problem{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Message: fmt.Sprintf("%s takes %s, not %s", r.URL.Path, takes, r.Method),
		}).With("Allow", takes)
	}
}

// unknown returns the endpoint for unknown paths; it lists all routes.
func unknown(all []string) endpoint {
	there := strings.Join(slices.Sorted(slices.Values(all)), ", ")
	return func(_ http.ResponseWriter, r *http.Request, _ requester) *problem {
		return &problem{
			Status: http.StatusNotFound, Code: "unknown_url",
			Message: fmt.Sprintf("this server has no %s %s: it has %s", r.Method, r.URL.Path, there),
		}
	}
}

//go:embed openapi.json
var openAPIText []byte

// openAPI answers with openapi.json, which describes all routes.
func openAPI(w http.ResponseWriter, _ *http.Request, _ requester) *problem {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPIText) // after an error the client is gone
	return nil
}
