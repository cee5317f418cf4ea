package signal

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// problem is a refused request, as the protocol writes it.
type problem struct {
	status        int
	kind          string // the error's type; empty is invalid_request_error
	code, message string
	param         string
	headers       [][2]string // of the response
}

// with adds a header to the response.
func (p *problem) with(name, value string) *problem {
	p.headers = append(p.headers, [2]string{name, value})
	return p
}

// after tells the client when to ask again, in whole seconds.
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

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error here is a client that went away
}

func internal(code string, err error) *problem {
	return &problem{status: http.StatusInternalServerError, kind: "server_error", code: code, message: err.Error()}
}

// unauthorized is the answer to every key and secret that the server does not know, whatever is wrong with it.
func unauthorized() *problem {
	return refused("invalid_api_key", "show a key of this server: Authorization: Bearer KEY")
}

func refused(code, message string) *problem {
	return (&problem{status: http.StatusUnauthorized, code: code, message: message}).with("WWW-Authenticate", `Bearer realm="antiphon"`)
}

// noCall is the answer for a call that is not there and for one that is somebody else's.
func noCall() *problem {
	return &problem{status: http.StatusNotFound, code: "call_not_found", message: "there is no such call, or it has ended"}
}

func rateLimited(wait time.Duration) *problem {
	return (&problem{
		status: http.StatusTooManyRequests, code: "rate_limit_exceeded",
		message: fmt.Sprintf("the rate limit is reached: try again in %.0f s", math.Ceil(wait.Seconds())),
	}).after(wait)
}
