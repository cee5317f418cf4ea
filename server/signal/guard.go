package signal

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// caller is who asks: what the key or the client secret that came with a request stands for.
type caller struct {
	// principal pays. It is empty where the server asks for no keys.
	principal string
	// secret is nil for a key.
	secret *secret
	// stale says why the secret begins nothing any more; it still ends and controls the call that it has begun.
	stale *problem
}

// rules reports whether the caller may control, or end, a call that owner has begun: with the same client secret, or with a key
// of the same principal.
func (c caller) rules(owner caller) bool {
	if c.secret != nil {
		return owner.secret != nil && owner.secret.id == c.secret.id
	}
	return c.principal == owner.principal
}

// keyProtocol is the WebSocket subprotocol that carries a key where a page cannot set headers.
const keyProtocol = "openai-insecure-api-key."

// realtimeProtocol is the subprotocol that the server speaks.
const realtimeProtocol = "realtime"

// protocols are the WebSocket subprotocols that a client offers.
func protocols(r *http.Request) []string {
	var all []string
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(header, ",") {
			all = append(all, strings.TrimSpace(protocol))
		}
	}
	return all
}

func keyOf(r *http.Request) string {
	if kind, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	for _, protocol := range protocols(r) {
		if key, ok := strings.CutPrefix(protocol, keyProtocol); ok {
			return key
		}
	}
	return ""
}

// identify finds out who asks. A server without keys lets everyone in, and still knows its own client secrets, for what is
// bound into them.
func (h *Handler) identify(r *http.Request) (caller, *problem) {
	shown := keyOf(r)
	if s, stale, ok := h.secrets.find(shown); ok {
		return caller{principal: s.principal, secret: s, stale: stale}, nil
	}
	if h.cfg.Keys == nil {
		return caller{}, nil
	}
	name, ok := h.cfg.Keys.principal(shown)
	if !ok {
		return caller{}, unauthorized()
	}
	return caller{principal: name}, nil
}

// endpoint answers one request, or says what is wrong with it.
type endpoint func(w http.ResponseWriter, r *http.Request, who caller) *problem

// guarded checks origin and key before next.
func (h *Handler) guarded(next endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p := h.serve(w, r, next); p != nil {
			h.cfg.Logger.Debug("request refused", "method", r.Method, "path", r.URL.Path, "status", p.status, "code", p.code)
			p.write(w)
		}
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, next endpoint) *problem {
	if !h.allowOrigin(w, r) {
		return &problem{
			status: http.StatusForbidden, code: "origin_not_allowed",
			message: fmt.Sprintf("pages of %q may not call this server: start it with --origin %s", r.Header.Get("Origin"), r.Header.Get("Origin")),
		}
	}
	who, p := h.identify(r)
	if p != nil {
		return p
	}
	w.Header().Set("Antiphon-Version", h.cfg.Version)
	return next(w, r, who)
}

// fresh is an endpoint for which a client secret must not have expired, nor be used up.
func fresh(next endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who caller) *problem {
		if who.stale != nil {
			return who.stale
		}
		return next(w, r, who)
	}
}

// begins is an endpoint that begins something, which takes a request from the caller's budget.
func (h *Handler) begins(next endpoint) endpoint {
	return fresh(func(w http.ResponseWriter, r *http.Request, who caller) *problem {
		if p := h.budgets.charge(who.principal); p != nil {
			return p
		}
		return next(w, r, who)
	})
}

// allowedHeaders are those that a page of another origin may send. Beside them it may send what the protocol's own clients
// describe themselves with: see ownHeader.
const allowedHeaders = "authorization, content-type, x-openai-agents-sdk, idempotency-key, antiphon-resume, antiphon-resume-after"

// maxHeaders bounds the headers that a preflight may ask for.
const maxHeaders = 32

func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	if !h.allowOrigin(w, r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	allowed := allowedHeaders
	for i, name := range strings.Split(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); i < maxHeaders && ownHeader(name) {
			allowed += ", " + name
		}
	}
	w.Header().Add("Vary", "Access-Control-Request-Headers")
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Allow-Headers", allowed)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// ownHeader: a client of the protocol sends it of its own accord, in a page too; the server does not read it.
func ownHeader(name string) bool {
	if !strings.HasPrefix(name, "x-stainless-") && !strings.HasPrefix(name, "openai-") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}

// allowOrigin says whether the page that asks may, and tells the browser so.
func (h *Handler) allowOrigin(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true // no page: a program
	}
	w.Header().Add("Vary", "Origin")
	if !h.originAllowed(origin, r) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", "Location, Antiphon-Version, Antiphon-Resume, Antiphon-Resume-Seen, Retry-After")
	return true
}

func (h *Handler) originAllowed(origin string, r *http.Request) bool {
	for _, o := range h.cfg.Origins {
		if o == "*" || o == origin {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if loopback(u.Hostname()) && loopback(hostname(r.Host)) {
		return true
	}
	return u.Host == r.Host && (h.cfg.Keys != nil || !private(r))
}

// private: the request came to a loopback address. A page whose name leads there was not served from there: it is
// somebody else's who has pointed the name at this machine (DNS rebinding), and no key would stop it.
func private(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopback(hostname(addr.String()))
}

func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
