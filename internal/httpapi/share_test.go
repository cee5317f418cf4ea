package httpapi

// The share of calls, secrets and attempts of each principal.

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// One client secret does not take all calls, and neither does one principal or one address.
func TestSharesOfCalls(t *testing.T) {
	const calls = "/v1/realtime/calls"
	t.Run("a secret", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.CallsPerSecret = keys(t), 2 })
		s := d.secret(`{}`)
		d.offered(calls, s).begun()
		d.offered(calls, s).begun()
		full := d.offered(calls, s)
		full.refused(http.StatusTooManyRequests, "too_many_calls")
		d.g.Expect(full.Header().Get("Retry-After")).To(gomega.Equal("10"))
		d.offered(calls, d.secret(`{}`)).begun()
	})
	t.Run("a principal, with a key or a secret", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.MaxSessions = keys(t), 4 })
		d.offered(calls, key).begun()
		d.offered(calls, d.secret(`{}`)).begun()
		d.offered(calls, key).refused(http.StatusTooManyRequests, "too_many_calls")
		d.offered(calls, d.secret(`{}`)).refused(http.StatusTooManyRequests, "too_many_calls")
		d.offered(calls, "another-key-of-the-house").begun()
	})
	t.Run("an address without a key", func(t *testing.T) {
		d := open(t, func(c *Config) { c.CallsPerAddress = 1 })
		d.offered(calls, "").begun()
		d.offered(calls, "").refused(http.StatusTooManyRequests, "too_many_calls")
	})
	t.Run("attempts of an address", func(t *testing.T) {
		d := open(t, func(c *Config) { c.CallAttempts = 2 })
		for range 2 {
			d.offered(calls+"?intent=none", "").refused(http.StatusBadRequest, "invalid_value")
		}
		d.offered(calls, "").refused(http.StatusTooManyRequests, "rate_limit_exceeded")
	})
}

// Offers that never connect fill neither their own share nor the server for longer than connectsWithin.
func TestHalfOpenCallsMakeRoom(t *testing.T) {
	const calls = "/v1/realtime/calls"
	later := func(d *harness, by time.Duration) { // as if the calls had begun earlier
		d.h.mu.Lock()
		defer d.h.mu.Unlock()
		for _, c := range d.h.calls {
			c.since = c.since.Add(-by)
		}
	}
	t.Run("in the share of a secret", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys = keys(t) })
		s := d.secret(`{}`)
		for range halfOpenPerSecret {
			d.offered(calls, s).begun()
		}
		d.offered(calls, s).refused(http.StatusTooManyRequests, "too_many_calls")
		later(d, connectsWithin)
		d.offered(calls, s).begun()
	})
	t.Run("on the server, at the cost of who has most", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.MaxSessions, c.CallsPerPrincipal, c.CallsPerAddress = keys(t), 3, 3, 3 })
		modest := d.offered(calls, d.secret(`{}`)).begun()
		greedy := d.secret(`{}`)
		d.offered(calls, greedy).begun()
		later(d, connectsWithin)
		d.offered(calls, greedy).begun()
		later(d, connectsWithin)
		d.offered(calls, "another-key-of-the-house").begun()
		w := d.ask(http.MethodPost, modest+"/hangup", nil, withKey...)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK), "the modest call is still there")
	})
}

// The principal whose call it is pays for its reconnect, also when the client secret has expired.
func TestAnExpiredSecretsReconnectIsCharged(t *testing.T) {
	bucket := &sharedSecrets{values: map[string][]byte{}}
	d := open(t, func(c *Config) { c.Keys, c.SecretBucket, c.Rates = keys(t), bucket, Rates{RequestsPerMinute: 8} })
	value := d.secret(`{}`)
	begun := d.offered("/v1/realtime/calls", value)
	begun.begun()
	bucket.change(11*time.Minute, nil)
	again := func() int {
		return d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(""), "Content-Type", "application/sdp",
			"Authorization", "Bearer "+value, resumeHeader, begun.Header().Get(resumeHeader)).Code
	}
	again()
	d.g.Expect(again()).To(gomega.Equal(http.StatusTooManyRequests), "the secret has a quarter")
	for range 8 - 3 {
		d.secret(`{}`)
	}
	d.refused(d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil, withKey...), http.StatusTooManyRequests, "rate_limit_exceeded", "")
}

// TestARequestThatGets503CostsNothing: a principal can ask again for what the server could not do, as often as before.
func TestARequestThatGets503CostsNothing(t *testing.T) {
	bucket := &sharedSecrets{values: map[string][]byte{}}
	d := open(t, func(c *Config) { c.Keys, c.SecretBucket, c.Rates = keys(t), bucket, Rates{RequestsPerMinute: 8} })
	value := d.secret(`{}`)
	bucket.change(0, errors.New("away"))
	for range 20 {
		w := d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil, withKey...)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusServiceUnavailable), w.Body.String())
		d.g.Expect(d.offered("/v1/realtime/calls", value).Code).To(gomega.Equal(http.StatusServiceUnavailable))
	}
	bucket.change(0, nil)
	for range 8 - 1 {
		d.secret(`{}`)
	}
	d.refused(d.ask(http.MethodPost, "/v1/realtime/client_secrets", nil, withKey...), http.StatusTooManyRequests, "rate_limit_exceeded", "")
}

// While the store of client secrets is away, a secret begins no call, and it still ends the call that it has begun.
func TestASecretWhoseStoreIsAway(t *testing.T) {
	bucket := &sharedSecrets{values: map[string][]byte{}}
	d := open(t, func(c *Config) { c.Keys, c.SecretBucket = keys(t), bucket })
	value := d.secret(`{}`)
	location := d.offered("/v1/realtime/calls", value).begun()
	bucket.change(0, errors.New("away"))
	w := d.offered("/v1/realtime/calls", value)
	d.g.Expect(w.Code).To(gomega.Equal(http.StatusServiceUnavailable))
	d.g.Expect(w.Body.String()).To(gomega.ContainSubstring("store_unavailable"))
	d.g.Expect(w.Header().Get("Retry-After")).To(gomega.Equal("5"))
	d.g.Expect(d.ask(http.MethodPost, location+"/hangup", nil, "Authorization", "Bearer "+value).Code).To(gomega.Equal(http.StatusOK))
}
