package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"

	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/bearer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/budget"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// Access: checks the origin of a request and its key or client secret, and charges it to whoever sent it.

// requester is who sent a request, according to its key or client secret.
type requester struct {
	// principal pays for the request. It is empty if the server asks for no keys.
	principal string
	// secret is nil if the request came with a key.
	secret *secrets.Secret
	// stale is the response that says why the secret begins no call any more. It still controls and ends the call that it began.
	stale *problem
	// address is the client's address.
	address netip.Addr
}

// purse returns the memory for what waits of c.
func (h *Handler) purse(c requester) account.Purse {
	return account.Purse{Budget: h.messages, Payer: c.payer()}
}

// ownBody is how much of a request's body is beside the memory for what waits, in bytes: as much as an ordinary offer.
const ownBody = 16 << 10

// count charges who with the bytes of the request's body, and of the settings of the client secret, until done is called.
func (h *Handler) count(r *http.Request, who requester) (done func(), p *problem) {
	memory := h.purse(who).Open(ownBody)
	if who.secret != nil && memory.Take(int64(who.secret.Size)) != nil {
		return nil, answer.BadBody(account.ErrFull)
	}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = memory.Body(r.Body)
	}
	return memory.Close, nil
}

// payer names who pays for what c holds: its principal, or the network of its address on a server without keys.
func (c requester) payer() string {
	if c.principal != "" {
		return "key " + c.principal
	}
	return httpguard.Network(c.address).String()
}

// mayControl reports whether c may control or end a call that owner has begun: with the same client secret, or with a key of the same principal.
func (c requester) mayControl(owner requester) bool {
	if c.secret != nil {
		return owner.secret != nil && owner.secret.ID == c.secret.ID
	}
	return c.principal == owner.principal
}

// realtimeProtocol is the subprotocol that the server speaks.
const realtimeProtocol = "realtime"

// identify finds out who sent a request. A server without keys accepts everyone. It recognises client secrets nevertheless, because settings are bound to them.
func (h *Handler) identify(r *http.Request) (requester, *problem) {
	shown, address := bearer.Key(r), httpguard.Client(r)
	keys := h.rules.Load().keys
	if s, known, stale := h.secrets.Find(r.Context(), shown); known {
		who := requester{principal: s.Principal, secret: s, stale: staleSecret(stale), address: address}
		if who.stale == nil && keys != nil && !keys.Has(s.Principal) {
			who.stale = unauthorized() // its principal has no key any more
		}
		return who, nil
	}
	if keys == nil {
		return requester{address: address}, nil
	}
	name, ok := keys.Principal(shown)
	if !ok {
		return requester{}, unauthorized()
	}
	return requester{principal: name, address: address}, nil
}

// endpoint answers one request, or returns the error response.
type endpoint func(w http.ResponseWriter, r *http.Request, who requester) *problem

// guarded returns an HTTP handler that checks origin and key before next, and writes the error response.
func (h *Handler) guarded(next endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := h.serve(w, r, next); p != nil {
			h.refuse(w, r, p)
		}
	}
}

// refuse writes the error response to a request, and reports it.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, p *problem) {
	h.cfg.Logger.Debug("request refused", "method", r.Method, "path", r.URL.Path, "status", p.Status, "code", p.Code)
	if h.cfg.Refused != nil {
		h.cfg.Refused(p.Code)
	}
	p.Write(w)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, next endpoint) *problem {
	if !h.origins.Allow(w, r) {
		return &problem{
			Status: http.StatusForbidden, Code: "origin_not_allowed",
			Message: fmt.Sprintf("pages of %q may not call this server: start it with --origin %s", r.Header.Get("Origin"), r.Header.Get("Origin")),
		}
	}
	if h.Misdirected(r) {
		return &problem{
			Status: http.StatusForbidden, Code: "host_not_allowed",
			Message: fmt.Sprintf("a server without keys does not answer as %q: open it as localhost, or start it with --origin https://%s", r.Host, r.Host),
		}
	}
	who, p := h.identify(r)
	if p != nil {
		return p
	}
	w.Header().Set("Antiphon-Version", h.cfg.Version)
	done, p := h.count(r, who)
	if p != nil {
		return p
	}
	defer done()
	return next(w, r, who)
}

// fresh returns an endpoint that refuses client secrets which are expired or used up.
func fresh(next endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if who.stale != nil {
			return who.stale
		}
		return next(w, r, who)
	}
}

// budget names the budget that c uses.
func (c requester) budget() budget.Payer {
	of := budget.Payer{Principal: c.principal}
	if c.secret != nil {
		of.Secret = string(c.secret.ID[:])
	}
	return of
}

// charge takes one request from the requester's budget. It returns an error response if there is none left.
func (h *Handler) charge(who requester) *problem {
	if wait, ok := h.budgets.Charge(who.budget()); !ok {
		return rateLimited(wait)
	}
	return nil
}

// charges takes one request from the payer's budget before next. A request that the server cannot answer now (503) costs nothing.
func (h *Handler) charges(payer requester, next func() *problem) *problem {
	p := h.charge(payer)
	if p == nil {
		if p = next(); p != nil && p.Status == http.StatusServiceUnavailable {
			h.budgets.GiveBack(payer.budget())
		}
	}
	return p
}

// begins returns an endpoint that takes one request from the requester's budget before next.
func (h *Handler) begins(next endpoint) endpoint {
	return fresh(func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		return h.charges(who, func() *problem { return next(w, r, who) })
	})
}

// Misdirected reports whether a request without a key came to a loopback address under the name of another host: see origin.Policy.
func (h *Handler) Misdirected(r *http.Request) bool { return h.origins.Misdirected(r) }
