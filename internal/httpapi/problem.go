package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Error responses, as the protocol writes them.

// problem is the error response to a refused request.
type problem struct {
	status        int
	kind          string // the error's type; empty is invalid_request_error
	code, message string
	param         string
	headers       [][2]string // the headers of the response
}

// with adds a header to the response and returns p.
func (p *problem) with(name, value string) *problem {
	p.headers = append(p.headers, [2]string{name, value})
	return p
}

// after tells the client when to try again, in whole seconds, and returns p.
func (p *problem) after(wait time.Duration) *problem {
	return p.with("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}

func (p *problem) write(w http.ResponseWriter) {
	if p.kind == "" {
		p.kind = "invalid_request_error"
	}
	var param *string
	if p.param != "" {
		param = &p.param
	}
	for _, h := range p.headers {
		w.Header().Set(h[0], h[1])
	}
	writeJSON(w, p.status, map[string]any{
		"error": map[string]any{"type": p.kind, "code": p.code, "message": p.message, "param": param},
	})
}

// writeJSON writes v as the response's body.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // after an error the client is gone
}

// internal returns the response to a request on which the server failed.
func internal(code string, err error) *problem {
	return &problem{status: http.StatusInternalServerError, kind: "server_error", code: code, message: err.Error()}
}

// unauthorized returns the response to every key and secret that the server does not know, whatever is wrong with it.
func unauthorized() *problem {
	return refused("invalid_api_key", "show a key of this server: Authorization: Bearer KEY")
}

// refused returns the response to a key or secret that the server does not accept.
func refused(code, message string) *problem {
	return (&problem{status: http.StatusUnauthorized, code: code, message: message}).with("WWW-Authenticate", `Bearer realm="antiphon"`)
}

// keyWanted returns the response to a request with a client secret where an API key is wanted. why says what a client secret does.
func keyWanted(why string) *problem {
	return &problem{status: http.StatusForbidden, code: "client_secret_not_allowed", message: "a client secret " + why + ": show an API key"}
}

// noCall returns the response for a call that does not exist, and for a call of somebody else.
func noCall() *problem {
	return &problem{status: http.StatusNotFound, code: "call_not_found", message: "there is no such call, or it has ended"}
}

// rateLimited returns the response to a requester whose budget is used up; wait is how long to wait.
func rateLimited(wait time.Duration) *problem {
	return (&problem{
		status: http.StatusTooManyRequests, code: "rate_limit_exceeded",
		message: fmt.Sprintf("the rate limit is reached: try again in %.0f s", math.Ceil(wait.Seconds())),
	}).after(wait)
}
