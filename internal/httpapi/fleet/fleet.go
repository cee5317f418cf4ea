// Package fleet has what the servers of a cluster know of each other's calls, and finds out which call a request is about.
package fleet

// The cluster as a httpapi.Handler needs it, and what a Handler says of itself to the others.

import (
	"context"
	"net/http"
	"strings"
)

// Cluster are the servers that share a store, with this one: see httpapi.Cluster.
type Cluster interface {
	// Mark returns a random text with the mark of this server, by which every server finds this one: the id or the token of a call.
	Mark(text string) string
	// Arrived returns a request as its client has sent it, also if another server has passed it on.
	Arrived(w http.ResponseWriter, r *http.Request) *http.Request
	// Pass passes a request about a call on to the server that has the call now. mark is the marked text of the call's id or token, epoch that of this server as the owner of the call,
	// or 0 if it does not have the call. owner asks the journal which server owns the call, for a request with which this server can take the call over; it is nil for others.
	// Pass reports false if nothing was answered: the request is then answered here.
	Pass(w http.ResponseWriter, r *http.Request, mark string, epoch uint32, owner func(context.Context) string) (answered bool)
	// TookOver has the others know that this server has taken a call over.
	TookOver()
	// Place passes the request for a new call on to another server: to one with clearly less load, or if this one drains or is full, to any that takes calls. With onlyIfFull,
	// only the latter counts. It reports false if nothing was answered: the request is then answered here.
	Place(w http.ResponseWriter, r *http.Request, onlyIfFull bool) (answered bool)
	// Others returns how many calls a principal has on the other servers, and how many calls these servers take in all.
	Others(principal string) (calls, most int)
	// OthersOf returns how many calls the client secret or client address of that name (Standing.Shares) has on the other servers, and how many calls these servers take in all.
	OthersOf(share string) (calls, most int)
	// Stats returns how many servers there are, with this one, and how many requests were passed on, by result.
	Stats() (nodes int, passed map[string]uint64)
}

// Standing is how busy a server is, as the others know it.
type Standing struct {
	Calls    int     `json:"calls"` // that it has
	Most     int     `json:"most"`  // that it takes
	Late     float64 `json:"late"`  // the share of the audio that is late, in percent
	CPU      float64 `json:"cpu"`   // the share of the processor time that is used, in percent
	Full     bool    `json:"full"`  // it takes no further call at the moment
	Draining bool    `json:"draining"`

	Uses map[string]Use `json:"use,omitempty"` // of each principal that uses anything, if the server asks for keys

	// Shares are how many calls each client secret and each client address has, by a name that stands for it on all servers. Other servers learn a code of the name.
	Shares map[string]int `json:"-"`
	// Adopted are the ids and tokens of the calls that the server has taken over, the newest first. Other servers learn a code of each.
	Adopted []Adopted `json:"-"`
}

// Use is what a principal uses of one server.
type Use struct {
	Calls int `json:"calls,omitempty"` // now
	// Requests and Tokens are what the server has taken from the principal's budget since it started.
	Requests uint64 `json:"requests,omitempty"`
	Tokens   uint64 `json:"tokens,omitempty"`
	// RequestsShort and TokensShort are how much less than a full minute the budget has now, with what the others have taken.
	RequestsShort uint64 `json:"requests_short,omitempty"`
	TokensShort   uint64 `json:"tokens_short,omitempty"`
}

// Adopted is the marked part of the id or of the token of a call that a server has taken over, and the server's epoch as the owner of the call.
type Adopted struct {
	Mark  string
	Epoch uint32
}

// MarkOf returns the marked part of the id of a call.
func MarkOf(id string) string {
	_, mark, _ := strings.Cut(id, "_")
	return mark
}

// The headers of a request that reconnects a call. A page that opens a WebSocket cannot set headers: it sends the token and the event in the query.
const (
	ResumeHeader = "Antiphon-Resume"       // the token: the server sends it with a new call, the client to reconnect
	afterHeader  = "Antiphon-Resume-After" // event_id of the server's last event that the client has seen

	resumeQuery = "antiphon_resume"
	afterQuery  = "antiphon_resume_after"
)

// Reconnection returns the token of the call that a request reconnects, and the id of the last event that the client has seen. The token is empty for a new call.
func Reconnection(r *http.Request) (token, after string) {
	if token = r.Header.Get(ResumeHeader); token != "" {
		return token, r.Header.Get(afterHeader)
	}
	query := r.URL.Query()
	return query.Get(resumeQuery), query.Get(afterQuery)
}

// About returns the id or the token of the call that a request is about. Both are empty for another request.
func About(r *http.Request) (id, token string) {
	path, isCall := strings.CutPrefix(r.URL.Path, "/v1/realtime/calls/")
	switch {
	case isCall:
		id, _, _ = strings.Cut(path, "/")
	case r.URL.Path == "/v1/realtime" && r.URL.Query().Has("call_id"):
		id = r.URL.Query().Get("call_id")
	case r.URL.Path == "/v1/realtime" || r.URL.Path == "/v1/realtime/calls":
		token, _ = Reconnection(r)
	}
	return id, token
}
