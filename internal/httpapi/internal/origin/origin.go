// Package origin decides which pages may call a server, and answers the questions of browsers about it (CORS).
package origin

import (
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Pages of other origins: which may send requests, with which headers.

// Policy says which pages may call.
type Policy struct {
	// Origins are those of pages that may call; "*" is every page. Pages of the server's own host may always call.
	Origins []string
	// Keyed reports whether the server asks for keys.
	Keyed func() bool
	// Refused gets the origin of each page that may not call; nil for nobody.
	Refused func(origin string)
}

// Log returns a function for Policy.Refused that logs each origin once a minute. It is safe for concurrent use.
func Log(logger *slog.Logger) func(origin string) {
	var mu sync.Mutex
	told := map[string]time.Time{}
	return func(origin string) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		maps.DeleteFunc(told, func(_ string, at time.Time) bool { return now.Sub(at) >= time.Minute })
		if _, lately := told[origin]; lately || len(told) == maxOrigins {
			return
		}
		told[origin] = now
		logger.Info("a page was refused: its origin is not allowed; start the server with --origin and this origin if it may call", "origin", origin)
	}
}

// maxOrigins is how many origins are logged in a minute.
const maxOrigins = 20

// AllowedHeaders are the headers that a page of another origin may send. It may also send those with which the protocol's own clients describe themselves: see clientHeader.
const AllowedHeaders = "authorization, content-type, x-openai-agents-sdk, idempotency-key, prefer, antiphon-resume, antiphon-resume-after"

// maxOrigin bounds the origin that is logged, in bytes.
const maxOrigin = 256

// maxHeaders bounds the headers that a preflight may ask for.
const maxHeaders = 32

// Preflight answers a browser's question whether a page may send a request (CORS).
func (p Policy) Preflight(w http.ResponseWriter, r *http.Request) {
	if !p.Allow(w, r) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	allowed := AllowedHeaders
	for i, name := range strings.Split(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); i < maxHeaders && clientHeader(name) {
			allowed += ", " + name
		}
	}
	w.Header().Add("Vary", "Access-Control-Request-Headers")
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
	w.Header().Set("Access-Control-Allow-Headers", allowed)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// clientHeader reports whether the protocol's own clients send the header by themselves, also from a page. The server does not read it.
func clientHeader(name string) bool {
	if !strings.HasPrefix(name, "x-stainless-") && !strings.HasPrefix(name, "openai-") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') })
}

// Allow reports whether the page that sent the request may send it, and tells the browser so.
func (p Policy) Allow(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true // a program sent it, and no page
	}
	w.Header().Add("Vary", "Origin")
	if !p.allowed(origin, r) {
		if p.Refused != nil {
			p.Refused(origin[:min(len(origin), maxOrigin)])
		}
		if r.Method != http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Origin", origin) // the page may read why, and nothing else
		}
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", "Location, Antiphon-Version, Antiphon-Resume, Antiphon-Resume-Seen, Link, Retry-After, Idempotency-Replayed")
	return true
}

func (p Policy) allowed(origin string, r *http.Request) bool {
	for _, o := range p.Origins {
		if o == "*" || o == origin {
			return true
		}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if loopback(u.Hostname()) && loopback(Hostname(r.Host)) {
		return true
	}
	return u.Host == r.Host && (p.Keyed() || !private(r))
}

// Misdirected reports whether a request without a key came to a loopback address under the name of another host. A page whose name somebody has pointed at this machine (DNS
// rebinding) sends such requests, and could read the responses. A host of Origins is fine: a reverse proxy may serve it.
func (p Policy) Misdirected(r *http.Request) bool {
	if p.Keyed() || !private(r) || loopback(Hostname(r.Host)) {
		return false
	}
	for _, o := range p.Origins {
		if u, err := url.Parse(o); err == nil && u.Host == r.Host {
			return false
		}
	}
	return true
}

// private reports whether the request came to a loopback address. A page under any other host name cannot be the server's own then:
// somebody else has pointed that name at this machine (DNS rebinding), and no key would stop the page.
func private(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && loopback(Hostname(addr.String()))
}

// Hostname returns the host of a HOST:PORT, or of a host alone.
func Hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
