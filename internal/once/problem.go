package once

// The errors that clients get, as application/problem+json (RFC 9457), and the responses of the service.

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

const problemType = "application/problem+json"

// The codes of the errors. docs/once.md says what each means for a client.
const (
	CodeMissing  = "idempotency_key_missing"
	CodeInvalid  = "idempotency_key_invalid"
	CodeReused   = "idempotency_key_reused"
	CodeInFlight = "idempotency_in_flight"
	CodeUnknown  = "idempotency_unknown"
	CodeRetry    = "idempotency_not_sent"
	CodeStore    = "idempotency_store_unavailable"
	CodeLimit    = "idempotency_limit"
	CodeBody     = "request_body"
	CodeTooLarge = "response_too_large"
	CodeUpstream = "upstream_unreachable"
)

// problem is an error for a client.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

func (p problem) encode() []byte {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	data, err := json.Marshal(p)
	if err != nil {
		return nil // five texts and a number can be written as JSON
	}
	return append(data, '\n')
}

// refuse writes an error. after is the header Retry-After in seconds; 0 leaves it out.
func (h *Handler) refuse(w http.ResponseWriter, status int, code string, after int, detail string) {
	if after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	h.cfg.Refuse(w, status, code, detail)
}

// writeProblem writes an error as application/problem+json.
func writeProblem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(status)
	_, _ = w.Write(problem{Status: status, Detail: detail, Code: code}.encode()) // a client that is gone gets nothing
}

// tooLarge is the response that is stored for one that is longer than the limit.
func tooLarge(limit int) []byte {
	return problem{
		Status: http.StatusBadGateway, Code: CodeTooLarge,
		Detail: fmt.Sprintf("the service has processed the request, but its response has more than %d bytes and was not kept", limit),
	}.encode()
}

// reply writes the response of the service. A replayed one has the marker.
func reply(w http.ResponseWriter, a *answer, whole http.Header, f idempotency.Reply) {
	header := a.Header
	if !f.Replayed && whole != nil {
		header = whole
	}
	maps.Copy(w.Header(), header)
	if f.Replayed {
		w.Header().Set(Replayed, "true")
	}
	if bodyAllowed(a.Status) {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	if bodyAllowed(a.Status) {
		_, _ = w.Write(a.Body) // a client that is gone asks again
	}
}

func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
