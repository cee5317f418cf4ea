package signal

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Keys are API keys, kept as their SHA-256.
type Keys [][sha256.Size]byte

// maxKeys bounds a key file.
const maxKeys = 10_000

// ReadKeys reads one key a line; empty lines and those that begin with # do not count.
func ReadKeys(r io.Reader) (Keys, error) {
	var keys Keys
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if len(line) < 16 {
			return nil, fmt.Errorf("a key of %d characters is too short: use at least 16, such as `openssl rand -hex 24` prints", len(line))
		}
		if len(keys) == maxKeys {
			return nil, fmt.Errorf("more than %d keys", maxKeys)
		}
		keys = append(keys, sha256.Sum256([]byte(line)))
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it: put one on a line")
	}
	return keys, nil
}

// has takes the same time whether key is among them or not.
func (k Keys) has(key string) bool {
	sum := sha256.Sum256([]byte(key))
	found := 0
	for i := range k {
		found |= subtle.ConstantTimeCompare(k[i][:], sum[:])
	}
	return found == 1
}

// keyProtocol is the WebSocket subprotocol that carries a key where a page cannot set headers.
const keyProtocol = "openai-insecure-api-key."

func keyOf(r *http.Request) string {
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return strings.TrimSpace(key)
	}
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(header, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), keyProtocol); ok {
				return key
			}
		}
	}
	return ""
}

// guarded checks origin and key before next.
func (h *Handler) guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !h.allowOrigin(w, r) {
			(&problem{
				status: http.StatusForbidden, code: "origin_not_allowed",
				message: fmt.Sprintf("pages of %q may not call this server: start it with --origin %s", r.Header.Get("Origin"), r.Header.Get("Origin")),
			}).write(w)
			return
		}
		if h.cfg.Keys != nil && !h.cfg.Keys.has(keyOf(r)) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="antiphon"`)
			(&problem{status: http.StatusUnauthorized, code: "invalid_api_key", message: "show a key of this server: Authorization: Bearer KEY"}).write(w)
			return
		}
		w.Header().Set("Antiphon-Version", h.cfg.Version)
		next(w, r)
	}
}

func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) {
	if !h.allowOrigin(w, r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Allow-Headers", "authorization, content-type, x-openai-agents-sdk, idempotency-key")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
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
	w.Header().Set("Access-Control-Expose-Headers", "Location, Antiphon-Version")
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
