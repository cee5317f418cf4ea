package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
	"github.com/antiphon-rt/antiphon/wire"
)

// Client secrets: the request that creates one, and what they allow.

// SecretRules say what client secrets allow.
type SecretRules struct {
	// SingleUse lets a secret begin only one call; otherwise it begins any number of calls until it expires. A request that begins no call does not use the secret up.
	SingleUse bool
	// Locks are the fields of the session that the holder of a secret may not change. The holder of an API key may change them.
	Locks conversation.Locks
}

// SecretBucket keeps client secrets where several servers find them, and a later process. Package internal/cluster has one, which this package does not import: it stands on a store.
type SecretBucket interface{ secrets.Bucket }

// locks returns the fields of a session that the requester may not change.
func (h *Handler) locks(who requester) conversation.Locks {
	if who.secret == nil {
		return nil
	}
	return h.rules.Load().secrets.Locks
}

// useSecret notes that the requester's secret begins a call. It returns an error response for a secret that was for one call and has begun it.
func (h *Handler) useSecret(ctx context.Context, who requester) *problem {
	if who.secret == nil || !h.rules.Load().secrets.SingleUse {
		return nil
	}
	return staleSecret(h.secrets.Use(ctx, who.secret))
}

// returnSecret undoes useSecret for a call that never began.
func (h *Handler) returnSecret(who requester) {
	if who.secret != nil && h.rules.Load().secrets.SingleUse {
		h.secrets.GiveBack(context.Background(), who.secret) // the store limits the time
	}
}

// storeRetry is how long a client is told to wait for the store.
const storeRetry = 5 * time.Second

// staleSecret returns the response to a secret that begins no call any more because of err; nil if err is nil.
func staleSecret(err error) *problem {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, secrets.ErrUnavailable):
		return (&problem{
			Status: http.StatusServiceUnavailable, Kind: "server_error", Code: "store_unavailable", Message: "the store of client secrets does not answer: try again in a moment",
		}).After(storeRetry)
	case errors.Is(err, secrets.ErrUsed):
		return refused("client_secret_used", "the client secret was for one call: make a new one with POST /v1/realtime/client_secrets")
	}
	return refused("client_secret_expired", "the client secret has expired: make a new one with POST /v1/realtime/client_secrets")
}

// Lifetimes of a client secret, in seconds.
const (
	shortestSecret = 10
	longestSecret  = 7200
	defaultSecret  = 600
)

// clientSecret creates a client secret: a key for a page or a device that expires and is bound to a session's settings.
func (h *Handler) clientSecret(w http.ResponseWriter, r *http.Request, who requester) *problem {
	if who.secret != nil {
		return keyWanted("makes no further ones")
	}
	body, p := readJSON(w, r)
	if p != nil {
		return p
	}
	settings, lifetime := h.cfg.Settings.Clone(), defaultSecret*time.Second
	if p := h.readSecret(body, &settings, &lifetime); p != nil {
		return p
	}
	value, expires, wait, err := h.secrets.Create(r.Context(), secrets.New{
		Principal: who.principal, Session: settings, Lifetime: lifetime, Most: h.rules.Load().SecretsPerPrincipal,
	})
	switch {
	case errors.Is(err, secrets.ErrUnavailable):
		return staleSecret(err)
	case errors.Is(err, secrets.ErrTooLarge):
		return &problem{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Param: "session", Message: err.Error() + ": shorten the instructions or the tools"}
	case err != nil:
		return (&problem{
			Status: http.StatusTooManyRequests, Code: "too_many_client_secrets",
			Message: "the server keeps as many client secrets as it may: try again when some have expired",
		}).After(wait)
	}
	answer.JSON(w, http.StatusOK, struct {
		Value     string          `json:"value"`
		ExpiresAt int64           `json:"expires_at"`
		Session   json.RawMessage `json:"session"`
	}{value, expires, shown(settings)})
	return nil
}

// shown returns a session's settings as the protocol writes them. The protocol asks for an id, so shown makes one up.
func shown(set wire.Session) json.RawMessage {
	set.ID = "sess_" + strings.ToLower(rand.Text())
	return json.RawMessage(conversation.Object(&set))
}

// readJSON reads a body that is JSON or empty; an empty body counts as {}.
func readJSON(w http.ResponseWriter, r *http.Request) (wire.Raw, *problem) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	switch kind, _, bad := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case err != nil:
		return nil, answer.BadBody(err)
	case len(body) == 0:
		return wire.Raw("{}"), nil
	case bad != nil || kind != "application/json":
		return nil, &problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "send the request as application/json"}
	case !wire.Raw(body).Valid():
		return nil, badField(wire.CodeInvalidJSON, "", "the body is not JSON")
	}
	return body, nil
}

// readSecret reads the settings and the lifetime that a request asks for into set and lifetime.
func (h *Handler) readSecret(body wire.Raw, set *wire.Session, lifetime *time.Duration) *problem {
	fields, p := members(body, "", "expires_after", "session")
	if p != nil {
		return p
	}
	if patch, has := fields["session"]; has {
		if err := conversation.Merge(h.cfg.Pipeline, h.cfg.Options.MCP, set, wire.Raw(patch)); err != nil {
			return badSession(err)
		}
	}
	after, has := fields["expires_after"]
	if !has {
		return nil
	}
	if fields, p = members(wire.Raw(after), "expires_after", "anchor", "seconds"); p != nil {
		return p
	}
	if text, has := fields["anchor"]; has {
		if anchor, _ := wire.Raw(text).Text(); anchor != "created_at" {
			return badField(wire.CodeInvalidValue, "expires_after.anchor", `want "created_at"`)
		}
	}
	if text, has := fields["seconds"]; has {
		seconds, ok := wire.Raw(text).Float() // JSON has no whole numbers: 600.0 is one
		if !ok || seconds != math.Trunc(seconds) {
			return badField(wire.CodeInvalidType, "expires_after.seconds", "want a whole number")
		}
		if seconds < shortestSecret || seconds > longestSecret {
			return badField(wire.CodeInvalidValue, "expires_after.seconds", fmt.Sprintf("want %d to %d", shortestSecret, longestSecret))
		}
		*lifetime = time.Duration(seconds) * time.Second
	}
	return nil
}

// members returns the members of an object that are not null. path is where the object is in the request. A member that is not among
// known is an error, because the server would ignore it.
func members(object wire.Raw, path string, known ...string) (map[string]json.RawMessage, *problem) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil || all == nil {
		return nil, badField(wire.CodeInvalidType, path, "want an object")
	}
	out := map[string]json.RawMessage{}
	for _, name := range known {
		if value, has := all[name]; has && string(value) != "null" {
			out[name] = value
		}
		delete(all, name)
	}
	for name := range all {
		if path != "" {
			name = path + "." + name
		}
		return nil, badField("unknown_parameter", name, "there is no such parameter")
	}
	return out, nil
}
