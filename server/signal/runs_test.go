package signal

// Requests for runs: who may send them, and whose they are.

import (
	"io"
	"net/http"
	"testing"

	"github.com/onsi/gomega"
)

// principals answers each request with its principal.
type principals struct{}

func (principals) Serve(w http.ResponseWriter, _ *http.Request, principal string) {
	_, _ = io.WriteString(w, "runs of "+principal)
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
