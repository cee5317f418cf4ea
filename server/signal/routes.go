package signal

import (
	_ "embed"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// route is one thing that the server does over HTTP. openapi.json describes each of them.
type route struct {
	method, path string
	serve        endpoint
}

func (h *Handler) routes() []route {
	return []route{
		{http.MethodPost, "/v1/realtime/calls", h.opens(h.call, h.callOn)},
		{http.MethodPost, "/v1/realtime/calls/{id}/restart", h.restart},
		{http.MethodPost, "/v1/realtime/calls/{id}/hangup", h.hangup},
		{http.MethodPost, "/v1/realtime/calls/{id}/accept", telephone},
		{http.MethodPost, "/v1/realtime/calls/{id}/reject", telephone},
		{http.MethodPost, "/v1/realtime/calls/{id}/refer", telephone},
		{http.MethodPost, "/v1/realtime/client_secrets", h.clientSecret},
		{http.MethodGet, "/v1/realtime", h.socket},
		{http.MethodGet, "/v1/antiphon/pipeline", fresh(h.components)},
		{http.MethodGet, "/v1/antiphon/openapi.json", fresh(openAPI)},
	}
}

// route fills the mux.
func (h *Handler) route() {
	var all []string
	for _, r := range h.routes() {
		h.mux.HandleFunc(r.method+" "+r.path, h.guarded(r.serve))
		h.mux.HandleFunc(r.path, h.guarded(wrongMethod(r.method)))
		all = append(all, r.method+" "+r.path)
	}
	h.mux.HandleFunc("/v1/", h.guarded(unknown(all)))
}

// wrongMethod says what a path takes.
func wrongMethod(method string) endpoint {
	return func(_ http.ResponseWriter, r *http.Request, _ caller) *problem {
		return (&problem{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed",
			message: fmt.Sprintf("%s takes %s, not %s", r.URL.Path, method, r.Method),
		}).with("Allow", method)
	}
}

// unknown says what there is instead of a path that is not there.
func unknown(all []string) endpoint {
	there := strings.Join(slices.Sorted(slices.Values(all)), ", ")
	return func(_ http.ResponseWriter, r *http.Request, _ caller) *problem {
		return &problem{
			status: http.StatusNotFound, code: "unknown_url",
			message: fmt.Sprintf("this server has no %s %s: it has %s", r.Method, r.URL.Path, there),
		}
	}
}

//go:embed openapi.json
var openAPIText []byte

// openAPI gives the description of all this.
func openAPI(w http.ResponseWriter, _ *http.Request, _ caller) *problem {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPIText) // an error here is a client that went away
	return nil
}
