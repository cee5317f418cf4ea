package httpapi

// Limits of a principal on several servers.

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// others is a cluster whose other servers have calls of each principal.
type others struct{ calls, most int }

func (others) Mark(text string) string                                      { return text }
func (others) Arrived(_ http.ResponseWriter, r *http.Request) *http.Request { return r }
func (others) Pass(http.ResponseWriter, *http.Request, string, uint32, func(context.Context) string) (answered bool) {
	return false
}
func (others) TookOver()                                                      {}
func (others) Place(http.ResponseWriter, *http.Request, bool) (answered bool) { return false }
func (others) Stats() (nodes int, passed map[string]uint64)                   { return 2, nil }
func (o others) Others(string) (calls, most int)                              { return o.calls, o.most }
func (o others) OthersOf(string) (calls, most int)                            { return o.calls, o.most }

// The calls of a principal on other servers count for a limit that is set. Without one, the share is of the calls of all servers.
func TestCallsOfAPrincipalOnOtherServers(t *testing.T) {
	const calls = "/v1/realtime/calls"
	t.Run("with a limit", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.CallsPerPrincipal, c.Cluster = keys(t), 3, others{2, 200} })
		d.offered(calls, key).begun()
		d.offered(calls, key).refused(http.StatusTooManyRequests, "too_many_calls")
		d.g.Expect(d.h.Standing().Uses).To(gomega.HaveLen(1))
		for _, u := range d.h.Standing().Uses {
			d.g.Expect(u).To(gomega.Equal(Use{Calls: 1}), "it publishes its own calls")
		}
	})
	t.Run("with the default", func(t *testing.T) {
		d := open(t, func(c *Config) { c.Keys, c.MaxSessions, c.Cluster = keys(t), 2, others{2, 4} })
		d.offered(calls, key).begun() // of 2 principals each has half of 2 and of 4 calls
		d.offered(calls, key).refused(http.StatusTooManyRequests, "too_many_calls")
		d = open(t, func(c *Config) { c.Keys, c.MaxSessions, c.Cluster = keys(t), 2, others{3, 4} })
		d.offered(calls, key).refused(http.StatusTooManyRequests, "too_many_calls")
	})
}

// The calls of a client secret and of a client address on other servers count for their limits. The share of an address without a limit of its own is of the calls of all servers. A call
// that another server has had goes on nevertheless, because that one may publish it still.
func TestSharesOnOtherServers(t *testing.T) {
	const calls = "/v1/realtime/calls"
	for others, status := range map[others]int{{7, 100}: http.StatusCreated, {8, 100}: http.StatusTooManyRequests} {
		d := open(t, func(c *Config) { c.Keys, c.CallsPerPrincipal, c.Cluster = keys(t), 100, others })
		d.g.Expect(d.offered(calls, d.secret(`{}`)).Code).To(gomega.Equal(status))
		if status == http.StatusCreated {
			d.g.Expect(d.h.Standing().Shares).To(gomega.HaveLen(2), "the secret, and its address")
			d.offered(calls, key).begun()
			d.g.Expect(d.h.Standing().Shares).To(gomega.HaveLen(2), "a key is no share")
		}
	}
	address := func(set int, others others) []share {
		d := open(t, func(c *Config) { c.MaxSessions, c.CallsPerAddress, c.Cluster = 8, set, others })
		return d.h.shares(requester{address: netip.MustParseAddr("192.0.2.1")})
	}
	of := shareOf{ofAddress, "192.0.2.1/32"}
	g := gomega.NewWithT(t)
	g.Expect(address(3, others{2, 16})).To(gomega.Equal([]share{{of, 3, halfOpenPerAddress, 2}}))
	g.Expect(address(0, others{2, 16})).To(gomega.Equal([]share{{of, 2 + 4, halfOpenPerAddress, 2}}))
	d := open(t, func(c *Config) { c.CallsPerAddress, c.Cluster = 3, others{3, 16} })
	d.h.mu.Lock()
	defer d.h.mu.Unlock()
	who := requester{address: netip.MustParseAddr("192.0.2.1")}
	g.Expect(d.h.admit(who, false)).NotTo(gomega.BeNil())
	g.Expect(d.h.admit(who, true)).To(gomega.BeNil())
}

// What other servers use of a budget is gone here, too. What this one uses is what it publishes.
func TestABudgetOnOtherServers(t *testing.T) {
	d := open(t, func(c *Config) {
		c.Keys, c.Rates, c.Cluster = keys(t), Rates{RequestsPerMinute: 3}, others{}
	})
	d.offered("/v1/realtime/calls", key).begun()
	name := ""
	for principal, u := range d.h.Standing().Uses {
		name = principal
		d.g.Expect(u.Requests).To(gomega.Equal(uint64(1)))
		d.g.Expect(u.RequestsShort).To(gomega.BeNumerically("<=", 1))
	}
	d.h.OthersUsed(name, 1_000_000, 0)
	d.h.OthersUsed("nobody", 1, 1)
	d.offered("/v1/realtime/calls", key).refused(http.StatusTooManyRequests, "rate_limit_exceeded")
	d.g.Expect(d.h.Standing().Uses[name].Requests).To(gomega.Equal(uint64(1)))
	d.offered("/v1/realtime/calls", "another-key-of-the-house").begun()
}

// reading is a cluster that reads the body of every request that it may pass on.
type reading struct{ others }

func (reading) Pass(_ http.ResponseWriter, r *http.Request, _ string, _ uint32, _ func(context.Context) string) (answered bool) {
	_, _ = io.ReadAll(r.Body) // the request is answered here
	return false
}

// TestNobodyReadsTheBodyOfAStranger checks that a server reads the body of a request, also of one for another server, only once it knows who has sent it.
func TestNobodyReadsTheBodyOfAStranger(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Cluster = keys(t), reading{} })
	for _, path := range []string{"/v1/realtime/calls/rtc_1/restart", "/v1/realtime/calls", "/v1/realtime/client_secrets", "/v1/audio/transcriptions"} {
		body := strings.NewReader(strings.Repeat("x", 1000))
		d.refused(d.ask(http.MethodPost, path, body, "Content-Type", "application/sdp"), http.StatusUnauthorized, "invalid_api_key", "")
		d.g.Expect(body.Len()).To(gomega.Equal(1000), path)
	}
}

// TestAnOfferThatIsNotPassedOnIsReadHere: another server has passed it on to this one, or no other one has the call.
func TestAnOfferThatIsNotPassedOnIsReadHere(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Cluster = keys(t), others{} })
	d.refused(d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), "Authorization", "Bearer "+key,
		"Content-Type", "application/sdp", "Antiphon-Resume", "tok_1"), http.StatusNotFound, "resume_not_found", "")
}
