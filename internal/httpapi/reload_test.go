package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
)

// Keys, limits and rates change while the server runs, and calls go on.
func TestReload(t *testing.T) {
	const calls = "/v1/realtime/calls"
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	location, secret := d.offered(calls, key).begun(), d.secret(`{}`)
	_, line, err := apikey.New("new")
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	fresh, err := apikey.Read(strings.NewReader(line + "\na-key-that-is-new-here\n"))
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.g.Expect(d.h.Reload(Rules{Keys: fresh, Limits: Limits{MaxSessions: 2}, Rates: Rates{RequestsPerMinute: 1}})).To(gomega.Succeed())
	d.offered(calls, key).refused(http.StatusUnauthorized, "invalid_api_key")
	d.offered(calls, secret).refused(http.StatusUnauthorized, "invalid_api_key")
	d.g.Expect(d.ask(http.MethodGet, "/v1/antiphon/ice-servers", nil, "Authorization", "Bearer "+secret).Code).To(gomega.Equal(http.StatusUnauthorized))
	d.offered(calls, "a-key-that-is-new-here").begun()
	d.offered(calls, "a-key-that-is-new-here").refused(http.StatusTooManyRequests, "rate_limit_exceeded")
	d.g.Expect(d.h.Reload(Rules{Keys: fresh, Limits: Limits{MaxSessions: 2}})).To(gomega.Succeed())
	d.offered(calls, "a-key-that-is-new-here").refused(http.StatusTooManyRequests, "too_many_sessions")
	d.g.Expect(d.h.Reload(Rules{})).To(gomega.MatchError(ErrKeylessReload))
	d.g.Expect(location).NotTo(gomega.BeEmpty())
	now, _ := d.h.Calls()
	d.g.Expect(now).To(gomega.Equal(2), "the call of the key that is gone goes on")
}

// The locks of client secrets and the memory of the server change, and calls keep the locks that they began with.
func TestReloadOfSecretsAndMemory(t *testing.T) {
	const calls = "/v1/realtime/calls"
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	locks, err := conversation.ParseLocks([]string{"instructions"})
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	secret := d.secret(`{}`)
	to := Rules{Keys: d.h.rules.Load().keys, Limits: Limits{Memory: 10 << 20, MessageMemory: 1 << 20, MaxSessions: 20}, Secrets: SecretRules{SingleUse: true, Locks: locks}}
	d.g.Expect(d.h.Reload(to)).To(gomega.Succeed())
	d.g.Expect(d.h.Load().FreeMemory).To(gomega.Equal(5 << 20))
	d.g.Expect(d.h.Load().FreeMessages).To(gomega.Equal(int64(1 << 20)))
	changed := func() answered {
		body, kind := form(part{name: "sdp", kind: "application/sdp", body: offer}, part{name: "session", kind: "application/json", body: `{"type":"realtime","instructions":"others"}`})
		return answered{d, d.ask(http.MethodPost, calls, body, "Content-Type", kind, "Authorization", "Bearer "+secret)}
	}
	d.g.Expect(changed().Code).NotTo(gomega.Equal(http.StatusCreated), "the field is locked")
	d.offered(calls, secret).begun()
	d.offered(calls, secret).refused(http.StatusUnauthorized, "client_secret_used")
	to.Secrets = SecretRules{}
	d.g.Expect(d.h.Reload(to)).To(gomega.Succeed())
	secret = d.secret(`{}`)
	d.g.Expect(changed().Code).To(gomega.Equal(http.StatusCreated))
	d.g.Expect(changed().Code).To(gomega.Equal(http.StatusCreated))
}
