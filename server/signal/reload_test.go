package signal

import (
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// Keys, limits and rates change while the server runs, and calls go on.
func TestReload(t *testing.T) {
	const calls = "/v1/realtime/calls"
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	location := d.offered(calls, key).begun()
	_, line, err := NewKey("new")
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	fresh, err := ReadKeys(strings.NewReader(line + "\na-key-that-is-new-here\n"))
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.g.Expect(d.h.Reload(fresh, Limits{MaxSessions: 2}, Rates{RequestsPerMinute: 1})).To(gomega.Succeed())
	d.offered(calls, key).refused(http.StatusUnauthorized, "invalid_api_key")
	d.offered(calls, "a-key-that-is-new-here").begun()
	d.offered(calls, "a-key-that-is-new-here").refused(http.StatusTooManyRequests, "rate_limit_exceeded")
	d.g.Expect(d.h.Reload(fresh, Limits{MaxSessions: 2}, Rates{})).To(gomega.Succeed())
	d.offered(calls, "a-key-that-is-new-here").refused(http.StatusTooManyRequests, "too_many_sessions")
	d.g.Expect(d.h.Reload(nil, Limits{}, Rates{})).To(gomega.MatchError(ErrKeylessReload))
	d.g.Expect(location).NotTo(gomega.BeEmpty())
	now, _ := d.h.Calls()
	d.g.Expect(now).To(gomega.Equal(2), "the call of the key that is gone goes on")
}
