package httpapi

// Requests for runs: who may send them, and whose they are.

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
	"github.com/antiphon-rt/antiphon/wire"
)

// principals answers each request with its principal.
type principals struct{}

func (principals) Serve(w http.ResponseWriter, _ *http.Request, principal string) {
	_, _ = io.WriteString(w, "runs of "+principal)
}

// Act refuses each event with its principal.
func (principals) Act(_ context.Context, principal string, _ wire.ClientEvent) *wire.Error {
	return &wire.Error{Code: "of " + principal}
}

func TestEventsOfACallActOnTheRunsOfItsPrincipal(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Runs = keys(t), principals{} })
	name := d.h.rules.Load().keys[0].Name
	access := d.h.runsOf(requester{principal: name})
	d.g.Expect(access.Keyed).To(gomega.BeTrue())
	d.g.Expect(access.Act(t.Context(), &wire.AntiphonRunCancel{}).Code).To(gomega.Equal("of " + name))
	d.g.Expect(d.h.runsOf(requester{principal: name, secret: &secrets.Secret{}}).Keyed).To(gomega.BeFalse(), "a client secret sees no runs")
	d.g.Expect(d.h.Reload(Rules{Keys: apikey.Keys{}})).To(gomega.Succeed())
	d.g.Expect(access.Act(t.Context(), &wire.AntiphonRunCancel{}).Code).To(gomega.Equal("invalid_api_key"), "the key is gone, and the call goes on")
}

func TestRunsBelongToAPrincipal(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys, c.Runs = keys(t), principals{} })
	for _, path := range []string{"/v1/runs", "/v1/runs/run_1", "/v1/runs/run_1/events"} {
		w := d.ask(http.MethodGet, path, nil, withKey...)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
		d.g.Expect(w.Body.String()).To(gomega.HavePrefix("runs of "))
		d.refused(d.ask(http.MethodGet, path, nil), http.StatusUnauthorized, "invalid_api_key", "")
		d.refused(d.ask(http.MethodGet, path, nil, "Authorization", "Bearer "+d.secret(`{}`)), http.StatusForbidden, "client_secret_not_allowed", "")
	}
	d.refused(d.ask(http.MethodDelete, "/v1/runs", nil, withKey...), http.StatusMethodNotAllowed, "method_not_allowed", "")
}

func TestAServerWithoutBackgroundTools(t *testing.T) {
	d := open(t, func(c *Config) { c.Keys = keys(t) })
	d.refused(d.ask(http.MethodPost, "/v1/runs", nil, withKey...), http.StatusNotFound, "no_background_tools", "")
}

// TestWhoseEventsActOnRuns sends a request for a run in whole calls. The runs of the test refuse each request with the name of its principal.
func TestWhoseEventsActOnRuns(t *testing.T) {
	const hello, cancels = `{"type":"antiphon.hello"}`, `{"type":"antiphon.run.cancel","event_id":"x","run_id":"run_1"}`
	d := open(t, func(c *Config) { c.Keys, c.Runs = keys(t), principals{} })
	house, theirs := d.serve(), d.secret(`{}`)
	mine, _ := d.h.rules.Load().keys.Principal(key)
	asks := func(p *socketClient, code string) {
		t.Helper()
		p.send(hello)
		p.next("antiphon.ack")
		p.send(cancels)
		p.refused(code)
	}
	asks(d.connect(house+"/v1/realtime", key), "of "+mine)
	asks(d.connect(house+"/v1/realtime", theirs), "client_secret_not_allowed")

	location := d.offered("/v1/realtime/calls", theirs).begun()
	address := house + "/v1/realtime?call_id=" + location[strings.LastIndex(location, "/")+1:]
	asks(d.connect(address, theirs), "client_secret_not_allowed")
	asks(d.connect(address, key), "of "+mine)
	d.g.Expect(d.ask(http.MethodPost, location+"/hangup", nil, withKey...).Code).To(gomega.Equal(http.StatusOK))
}
