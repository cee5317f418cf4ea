// Package answer writes the responses of the HTTP API: JSON, and errors as the protocol writes them.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/internal/account"
)

// Types of an error.
const (
	invalidRequest = "invalid_request_error"
	ServerError    = "server_error"
)

// Problem is the error response to a refused request.
type Problem struct {
	Status        int
	Kind          string // the error's type; empty is invalid_request_error
	Code, Message string
	Param         string      // which field of the request is wrong; may be empty
	headers       [][2]string // the headers of the response
}

// Failed returns the response to a request on which the server has failed.
func Failed(status int, code, message string) *Problem {
	return &Problem{Status: status, Kind: ServerError, Code: code, Message: message}
}

// BadField returns the response to a request with a wrong field.
func BadField(code, param, message string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Code: code, Param: param, Message: message}
}

// With adds a header to the response and returns p.
func (p *Problem) With(name, value string) *Problem {
	p.headers = append(p.headers, [2]string{name, value})
	return p
}

// After tells the client when to try again, in whole seconds, and returns p.
func (p *Problem) After(wait time.Duration) *Problem {
	return p.With("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}

// Write writes the response.
func (p *Problem) Write(w http.ResponseWriter) {
	if p.Kind == "" {
		p.Kind = invalidRequest
	}
	var param *string
	if p.Param != "" {
		param = &p.Param
	}
	for _, h := range p.headers {
		w.Header().Set(h[0], h[1])
	}
	JSON(w, p.Status, map[string]any{
		"error": map[string]any{"type": p.Kind, "code": p.Code, "message": p.Message, "param": param},
	})
}

// JSON writes v as the response's body.
func JSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // after an error the client is gone
}

// BadBody returns the response to a body that could not be read.
func BadBody(err error) *Problem {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &Problem{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: fmt.Sprintf("the request, or a part of it, is larger than %d bytes", large.Limit)}
	case errors.Is(err, account.ErrFull):
		return (&Problem{Status: http.StatusTooManyRequests, Code: "server_busy", Message: "there is no memory for this request now: try again in a moment"}).After(time.Second)
	}
	return &Problem{Status: http.StatusBadRequest, Code: "invalid_body", Message: "the request's body cannot be read: it did not arrive whole, or is not what Content-Type says"}
}
