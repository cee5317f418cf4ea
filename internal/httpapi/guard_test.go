package httpapi

// API keys, allowed origins and hosts.

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/origin"
)

const key = "a-key-of-sixteen-or-more"

func keys(t *testing.T) apikey.Keys {
	t.Helper()
	g := gomega.NewWithT(t)
	line, err := apikey.Line(key, "desk")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	k, err := apikey.Read(strings.NewReader("# of the front desk\n\n  " + line + "  \nanother-key-of-the-house\n"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return k
}

func TestKeys(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	for _, row := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"none", nil, 401},
		{"a wrong one", []string{"Authorization", "Bearer " + key + "x"}, 401},
		{"a key of another scheme", []string{"Authorization", "Basic " + key}, 401},
		{"the hash of a key", []string{"Authorization", "Bearer sha256:" + strings.Repeat("0", 64)}, 401},
		{"an invented client secret", []string{"Authorization", "Bearer ek_" + strings.Repeat("a", 64)}, 401},
		{"a client secret that is too short", []string{"Authorization", "Bearer ek_aaaa"}, 401},
		{"a header", []string{"Authorization", "Bearer " + key}, 200},
		{"a header of another case", []string{"Authorization", "bearer " + key}, 200},
		{"the other key", []string{"Authorization", "Bearer another-key-of-the-house"}, 200},
		{"a subprotocol, where a page cannot set headers", []string{"Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key." + key + ", openai-agents-sdk.1"}, 200},
		{"a wrong subprotocol", []string{"Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.x"}, 401},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, g := d.in(t), gomega.NewWithT(t)
			w := d.ask(http.MethodGet, "/v1/antiphon/pipeline", nil, row.headers...)
			g.Expect(w.Code).To(gomega.Equal(row.status))
			if row.status == http.StatusUnauthorized {
				d.refused(w, http.StatusUnauthorized, "invalid_api_key", "Authorization: Bearer")
				g.Expect(w.Header().Get("WWW-Authenticate")).To(gomega.HavePrefix("Bearer"))
			}
		})
	}
	t.Run("unknown paths tell nothing without a key", func(t *testing.T) {
		d := d.in(t)
		d.refused(d.ask(http.MethodGet, "/v1/models", nil), http.StatusUnauthorized, "invalid_api_key", "")
	})
}

func TestOrigins(t *testing.T) {
	for _, row := range []struct {
		name     string
		allowed  []string
		keys     bool
		host, at string // the Host header, and the address that the request came to
		origin   string
		want     bool
	}{
		{name: "no page", host: "talk.test", want: true},
		{name: "the server's own page", host: "talk.test", at: "192.0.2.7:80", origin: "http://talk.test", want: true},
		{name: "the same host on another port", host: "talk.test:8080", at: "192.0.2.7:8080", origin: "http://talk.test", want: false},
		{name: "another page", host: "talk.test", at: "192.0.2.7:80", origin: "https://evil.test", want: false},
		{name: "an allowed page", allowed: []string{"https://app.test"}, host: "talk.test", origin: "https://app.test", want: true},
		{name: "a page whose origin begins like an allowed one", allowed: []string{"https://app.test"}, host: "talk.test", origin: "https://app.test.evil.test", want: false},
		{name: "every page", allowed: []string{"*"}, host: "talk.test", origin: "https://evil.test", want: true},
		{name: "a page without an address", host: "talk.test", origin: "null", want: false},
		{name: "a page without an address, where every page may", allowed: []string{"*"}, host: "talk.test", origin: "null", want: true},
		{name: "nonsense", host: "talk.test", origin: "http://%zz", want: false},
		{name: "a page of this machine", host: "localhost:8080", at: "127.0.0.1:8080", origin: "http://127.0.0.1:3000", want: true},
		{name: "a page of this machine, over IPv6", host: "[::1]:8080", at: "[::1]:8080", origin: "http://localhost:3000", want: true},
		{name: "a page of this machine and a server elsewhere", host: "talk.test", at: "192.0.2.7:80", origin: "http://localhost:3000", want: false},
		// DNS rebinding: the page's own host name resolves to this machine, and no key would stop the page.
		{name: "a name that resolves to loopback", host: "evil.test:8080", at: "127.0.0.1:8080", origin: "http://evil.test:8080", want: false},
		{name: "a name that resolves to loopback, and keys", keys: true, host: "talk.test", at: "127.0.0.1:8080", origin: "http://talk.test", want: true},
		{name: "an allowed name that resolves to loopback", allowed: []string{"http://talk.test"}, host: "talk.test", at: "127.0.0.1:80", origin: "http://talk.test", want: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := open(t, func(c *Config) {
				c.Origins = row.allowed
				if row.keys {
					c.Keys = keys(t)
				}
			})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/antiphon/pipeline", nil)
			r.Host = row.host
			r.Header.Set("Authorization", "Bearer "+key)
			if row.at != "" {
				r = local(r, row.at)
			}
			if row.origin != "" {
				r.Header.Set("Origin", row.origin)
			}
			w := httptest.NewRecorder()
			d.h.ServeHTTP(w, r)
			if !row.want {
				d.refused(w, http.StatusForbidden, "origin_not_allowed", "--origin "+row.origin)
				d.g.Expect(w.Header().Get("Access-Control-Allow-Origin")).To(gomega.Equal(row.origin), "the page can read why")
				d.g.Expect(w.Header()).NotTo(gomega.HaveKey("Antiphon-Version"))
				return
			}
			d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
			if row.origin != "" {
				d.g.Expect(w.Header().Get("Access-Control-Allow-Origin")).To(gomega.Equal(row.origin))
				d.g.Expect(w.Header().Get("Access-Control-Expose-Headers")).To(gomega.ContainSubstring("Location"))
				d.g.Expect(w.Header().Get("Vary")).To(gomega.Equal("Origin"))
			}
		})
	}
}

// A page whose host name somebody has pointed at this machine (DNS rebinding) sends no Origin with a GET of its own host.
func TestAServerWithoutKeysChecksTheHost(t *testing.T) {
	for _, row := range []struct {
		name     string
		allowed  []string
		keys     bool
		host, at string
		want     int
	}{
		{name: "a name that resolves to loopback", host: "evil.test:8080", at: "127.0.0.1:8080", want: http.StatusForbidden},
		{name: "a name that resolves to loopback, and every page", allowed: []string{"*"}, host: "evil.test:8080", at: "127.0.0.1:8080", want: http.StatusForbidden},
		{name: "an address that is none of this machine's", host: "192.0.2.7", at: "127.0.0.1:80", want: http.StatusForbidden},
		{name: "localhost", host: "localhost:8080", at: "127.0.0.1:8080", want: http.StatusOK},
		{name: "an allowed page's host, behind a proxy", allowed: []string{"https://talk.test"}, host: "talk.test", at: "127.0.0.1:8080", want: http.StatusOK},
		{name: "a server with keys", keys: true, host: "talk.test", at: "127.0.0.1:8080", want: http.StatusOK},
		{name: "a server that is not on loopback", host: "talk.test", at: "192.0.2.7:80", want: http.StatusOK},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := open(t, func(c *Config) {
				c.Origins = row.allowed
				if row.keys {
					c.Keys = keys(t)
				}
			})
			r := local(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/antiphon/pipeline", nil), row.at)
			r.Host = row.host
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			d.h.ServeHTTP(w, r)
			d.g.Expect(w.Code).To(gomega.Equal(row.want))
			if row.want != http.StatusOK {
				d.refused(w, row.want, "host_not_allowed", "open it as localhost")
			}
		})
	}
}

func TestPreflight(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Origins = keys(t), []string{"https://app.test"} })
	w := d.ask(http.MethodOptions, "/v1/realtime/calls", nil, "Origin", "https://app.test", "Access-Control-Request-Method", "POST")
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusNoContent), "a preflight has no key")
	d.g.Expect(w.Header().Get("Access-Control-Allow-Origin")).To(gomega.Equal("https://app.test"))
	for _, header := range []string{"authorization", "content-type", "x-openai-agents-sdk", "idempotency-key", "prefer"} {
		d.g.Expect(w.Header().Get("Access-Control-Allow-Headers")).To(gomega.ContainSubstring(header))
	}
	d.g.Expect(w.Header().Get("Access-Control-Allow-Headers")).NotTo(gomega.ContainSubstring("x-stainless"))
	w = d.ask(http.MethodOptions, "/v1/realtime/calls", nil, "Origin", "https://app.test",
		"Access-Control-Request-Headers", "authorization,x-stainless-lang, OpenAI-Organization,cookie,x-stainless-\xff")
	d.g.Expect(w.Header().Get("Access-Control-Allow-Headers")).To(gomega.Equal(origin.AllowedHeaders+", x-stainless-lang, openai-organization"),
		"the protocol's own clients send these in a page, too")
	d.g.Expect(w.Header().Get("Access-Control-Allow-Methods")).To(gomega.ContainSubstring("POST"))
	d.g.Expect(d.ask(http.MethodOptions, "/v1/realtime/calls", nil, "Origin", "https://evil.test").Code).To(gomega.Equal(http.StatusForbidden))
}

// TestRefusedOriginsAreLogged checks that the log has each origin that was refused once a minute, also that of a preflight, and few of many.
func TestRefusedOriginsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var log strings.Builder
		p := origin.Policy{Keyed: func() bool { return true }, Refused: origin.Log(slog.New(slog.NewTextHandler(&log, nil)))}
		ask := func(method, from string) {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://talk.test/v1/realtime/calls", nil)
			r.Header.Set("Origin", from)
			if method == http.MethodOptions {
				p.Preflight(httptest.NewRecorder(), r)
				return
			}
			p.Allow(httptest.NewRecorder(), r)
		}
		ask(http.MethodOptions, "https://app.test")
		ask(http.MethodPost, "https://app.test")
		g.Expect(strings.Count(log.String(), "level=INFO")).To(gomega.Equal(1))
		g.Expect(log.String()).To(gomega.And(gomega.ContainSubstring("origin=https://app.test"), gomega.ContainSubstring("--origin")))
		<-time.After(time.Minute)
		ask(http.MethodPost, "https://app.test")
		g.Expect(strings.Count(log.String(), "\n")).To(gomega.Equal(2))
		for n := range 1000 {
			ask(http.MethodPost, fmt.Sprintf("https://%d.test", n))
		}
		g.Expect(strings.Count(log.String(), "\n")).To(gomega.BeNumerically("<", 30))
	})
}

// TestBodiesCount checks that the bodies of a principal's requests count for its share of the memory, that small ones always arrive, and that nothing is held afterwards.
func TestBodiesCount(t *testing.T) {
	const total = 1 << 20
	d := open(t, func(c *Config) { c.Keys, c.MessageMemory, c.Cluster = keys(t), total, reading{} })
	ask := func(path, key string, body io.Reader) string {
		w := d.ask(http.MethodPost, path, body, "Authorization", "Bearer "+key, "Content-Type", "application/json")
		return fmt.Sprintf("%d %.200s", w.Code, w.Body)
	}
	secret := func(size int) string {
		return `{"session":{"type":"realtime","instructions":"` + strings.Repeat("x", size) + `"}}`
	}
	d.g.Expect(ask("/v1/realtime/client_secrets", key, strings.NewReader(secret(total*3/4)))).To(gomega.And(gomega.HavePrefix("429"), gomega.ContainSubstring("server_busy")))
	d.g.Expect(ask("/v1/realtime/client_secrets", key, strings.NewReader(secret(total/4)))).To(gomega.HavePrefix("200 "))
	d.g.Expect(d.h.messages.Free()).To(gomega.BeEquivalentTo(total))

	unfinished, more := io.Pipe()
	answered := make(chan string)
	for _, path := range []string{"/v1/realtime/client_secrets", "/v1/realtime/calls/rtc_1/hangup"} { // the other one is of a call that may be on another server
		go func() { answered <- ask(path, key, io.MultiReader(strings.NewReader(secret(total/4)), unfinished)) }()
	}
	d.g.Eventually(d.h.messages.Free, patience).Should(gomega.BeNumerically("<=", total/2+2*ownBody))
	d.g.Expect(ask("/v1/realtime/client_secrets", key, strings.NewReader(secret(ownBody/2)))).To(gomega.HavePrefix("200 "))
	d.g.Expect(ask("/v1/realtime/client_secrets", key, strings.NewReader(secret(8*ownBody)))).To(gomega.HavePrefix("429"))
	d.g.Expect(ask("/v1/realtime/client_secrets", "another-key-of-the-house", strings.NewReader(secret(total/8)))).To(gomega.HavePrefix("200 "))
	d.g.Expect(more.Close()).To(gomega.Succeed())
	<-answered
	<-answered
	d.g.Expect(d.h.messages.Free()).To(gomega.BeEquivalentTo(total))
}

// TestSettingsOfSecretsCount checks that the settings of a client secret count for its principal while a request with the secret is there.
func TestSettingsOfSecretsCount(t *testing.T) {
	const total = 1 << 20
	d := open(t, func(c *Config) { c.Keys, c.MessageMemory = keys(t), total })
	large := d.secret(`{"session":{"type":"realtime","instructions":"` + strings.Repeat("x", total*3/8) + `"}}`)
	ask := func(bearer string, body io.Reader) int {
		return d.ask(http.MethodPost, "/v1/realtime/calls", body, "Authorization", "Bearer "+bearer, "Content-Type", "application/sdp").Code
	}
	unfinished, more := io.Pipe()
	answered := make(chan int)
	go func() { answered <- ask(large, unfinished) }()
	d.g.Eventually(d.h.messages.Free, patience).Should(gomega.BeNumerically("<", total*5/8+ownBody))
	d.g.Expect(ask(large, strings.NewReader("v=0"))).To(gomega.Equal(http.StatusTooManyRequests))
	d.g.Expect(ask(d.secret(`{}`), strings.NewReader("v=0"))).To(gomega.Equal(http.StatusBadRequest))
	d.g.Expect(more.Close()).To(gomega.Succeed())
	d.g.Expect(<-answered).To(gomega.Equal(http.StatusBadRequest))
	d.g.Expect(d.h.messages.Free()).To(gomega.BeEquivalentTo(total))
}
