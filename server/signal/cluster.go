package signal

// Several servers: gives requests about calls of other servers, and new calls, to Config.Cluster.

import (
	"net/http"
	"strings"
)

// Cluster are the servers that share a store, with this one. Package server/cluster has one, which this package does not import: it stands on a store.
type Cluster interface {
	// Mark returns a random text with the mark of this server, by which every server finds this one: the id or the token of a call.
	Mark(text string) string
	// Arrived returns a request as its client has sent it, also if another server has passed it on.
	Arrived(w http.ResponseWriter, r *http.Request) *http.Request
	// Pass passes a request on to the server that has marked a text. It reports false if nothing was answered: the request is then answered here.
	Pass(w http.ResponseWriter, r *http.Request, marked string) (answered bool)
	// Place passes the request for a new call on to another server: to one with clearly less load, or if this one drains or is full, to any that takes calls. With onlyIfFull,
	// only the latter counts. It reports false if nothing was answered: the request is then answered here.
	Place(w http.ResponseWriter, r *http.Request, onlyIfFull bool) (answered bool)
	// Others returns how many calls a principal has on the other servers, and how many calls these servers take in all.
	Others(principal string) (calls, most int)
	// Stats returns how many servers there are, with this one, and how many requests were passed on, by result.
	Stats() (nodes int, passed map[string]uint64)
}

// mark returns a random text with the mark of this server, if there are others.
func (h *Handler) mark(text string) string {
	if h.cfg.Cluster == nil {
		return text
	}
	return h.cfg.Cluster.Mark(text)
}

// elsewhere has another server answer a request about one of its calls. It returns the request as its client has sent it.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) (as *http.Request, answered bool) {
	if h.cfg.Cluster == nil {
		return r, false
	}
	r = h.cfg.Cluster.Arrived(w, r)
	id, token := about(r)
	if id == "" && token == "" || h.has(id, token) {
		return r, false
	}
	if id != "" {
		_, token, _ = strings.Cut(id, "_")
	}
	return r, h.cfg.Cluster.Pass(w, r, token)
}

// placed returns an endpoint that begins a call on the server that has most room. A call over a WebSocket stays here while there is room, because all its audio would pass
// through both servers.
func (h *Handler) placed(next endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if h.cfg.Cluster != nil && h.cfg.Cluster.Place(w, r, r.Method == http.MethodGet) {
			return nil
		}
		return next(w, r, who)
	}
}

// about returns the id or the token of the call that a request is about. Both are empty for another request.
func about(r *http.Request) (id, token string) {
	path, isCall := strings.CutPrefix(r.URL.Path, "/v1/realtime/calls/")
	switch {
	case isCall:
		id, _, _ = strings.Cut(path, "/")
	case r.URL.Path == "/v1/realtime" && r.URL.Query().Has("call_id"):
		id = r.URL.Query().Get("call_id")
	case r.URL.Path == "/v1/realtime" || r.URL.Path == "/v1/realtime/calls":
		token, _ = reconnection(r)
	}
	return id, token
}

// has reports whether this server has the call with that id, or with that token if the id is empty.
func (h *Handler) has(id, token string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != "" {
		return h.calls[id] != nil
	}
	for _, c := range h.calls {
		if c.token == token {
			return true
		}
	}
	return false
}
