package httpapi

import (
	"encoding/hex"
	"net/http"

	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
)

// Requests that count once: gives those that begin or end something to Config.Once.

// Once answers each request that has the header Idempotency-Key, and gives the first one of a key to next. Requests without the header pass through. Keys
// with different values of keys have nothing in common, and account pays for them in the limits. Package internal/once has one, which this package does not import: it stands on a store.
type Once interface {
	Serve(w http.ResponseWriter, r *http.Request, account, keys string, next http.Handler)
}

// countsOnce returns the endpoint that gives a request to Config.Once.
func (h *Handler) countsOnce(next endpoint) endpoint {
	if h.cfg.Once == nil {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if who.secret != nil && r.Header["Idempotency-Key"] != nil { // else one secret could use up the keys of all
			if wait := h.attempts.keyed.Take(who.secret.ID, h.rules.Load().CallAttempts, h.env.Now()); wait > 0 {
				return rateLimited(wait)
			}
		}
		h.cfg.Once.Serve(w, r, who.account(), who.scope(r), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p := next(w, r, who); p != nil {
				h.refuse(w, r, p)
			}
		}))
		return nil
	}
}

// account returns who pays for idempotency keys: a principal with its API keys, or with all its client secrets, so that clients with secrets leave their principal its share.
func (c requester) account() string {
	if c.secret != nil {
		return "secrets " + c.principal
	}
	return "key " + c.principal
}

// scope returns whose idempotency keys a request uses: those of a principal, or of one client secret. A request that reconnects a call has keys of that call.
func (c requester) scope(r *http.Request) string {
	scope := "key " + c.principal
	if c.secret != nil {
		scope = "secret " + hex.EncodeToString(c.secret.ID[:])
	}
	token, _ := fleet.Reconnection(r)
	return scope + "\n" + token
}

// Refuse writes an error response as the API writes it. Config.Once calls it for its own errors.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	p := &problem{Status: status, Code: code, Message: message}
	if status >= http.StatusInternalServerError {
		p.Kind = "server_error"
	}
	p.Write(w)
}

// ReplayedHeaders returns the names of the headers that each try of a request with an idempotency key gets, beside those that HTTP itself has.
func ReplayedHeaders() []string { return []string{resumeHeader, seenHeader} }

// TryAgain reports whether an error response with this status says that the server has done nothing, and that the client tries again.
func TryAgain(status int) bool {
	return status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
