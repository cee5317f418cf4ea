package httpapi

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// scopes is a Once that notes whose keys each request uses, and gives every request to the service.
type scopes struct{ all, accounts []string }

func (s *scopes) Serve(w http.ResponseWriter, r *http.Request, account, keys string, next http.Handler) {
	s.all, s.accounts = append(s.all, keys), append(s.accounts, account)
	next.ServeHTTP(w, r)
}

// TestWhoseKeys checks which requests count once, and that principals, client secrets and calls have keys of their own.
func TestWhoseKeys(t *testing.T) {
	s := &scopes{}
	d := open(t, func(c *Config) { c.Keys, c.Once = keys(t), s })
	one, two := d.secret(`{"session":{"type":"realtime"}}`), d.secret(`{"session":{"type":"realtime"}}`)
	begun := d.offered("/v1/realtime/calls", one)
	location := begun.begun()
	for _, bearer := range []string{one, two} {
		d.ask(http.MethodPost, location+"/hangup", nil, "Authorization", "Bearer "+bearer)
	}
	d.ask(http.MethodPost, location+"/restart", strings.NewReader(offer), "Content-Type", "application/sdp", "Authorization", "Bearer "+one)
	d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), "Content-Type", "application/sdp", "Authorization", "Bearer "+one, resumeHeader, "token")
	d.ask(http.MethodGet, "/v1/models", nil, withKey...)
	g := gomega.NewWithT(t)
	g.Expect(s.all).To(gomega.HaveLen(7), "2 secrets, the call, 2 hangups, the restart, and the call that goes on")
	g.Expect(slices.Compact(slices.Sorted(slices.Values(s.accounts)))).To(gomega.HaveLen(2), "the API keys of the principal, and its client secrets")
	g.Expect(s.all[0]).To(gomega.Equal(s.all[1]))
	g.Expect(s.all[2]).To(gomega.Equal(s.all[3]))
	g.Expect(s.all[2]).To(gomega.Equal(s.all[5]))
	g.Expect(slices.Compact(slices.Sorted(slices.Values(s.all)))).To(gomega.HaveLen(4), "the API key, two client secrets, and a call that one of them resumes")
}

// TestOneSecretDoesNotUseUpTheKeysOfAll checks that a client secret sends few requests with idempotency keys in a minute: all secrets of a principal share its keys.
func TestOneSecretDoesNotUseUpTheKeysOfAll(t *testing.T) {
	s := &scopes{}
	d := open(t, func(c *Config) { c.Keys, c.Once, c.CallAttempts = keys(t), s, 3 })
	hangup := func(secret string) *httptest.ResponseRecorder {
		return d.ask(http.MethodPost, "/v1/realtime/calls/x/hangup", nil, "Authorization", "Bearer "+secret, "Idempotency-Key", rand.Text())
	}
	greedy, modest := d.secret(`{}`), d.secret(`{}`)
	for range 3 {
		d.refused(hangup(greedy), http.StatusNotFound, "call_not_found", "")
	}
	d.refused(hangup(greedy), http.StatusTooManyRequests, "rate_limit_exceeded", "")
	d.refused(hangup(modest), http.StatusNotFound, "call_not_found", "")
	d.g.Expect(s.all).To(gomega.HaveLen(6), "2 secrets and 4 hangups")
}
