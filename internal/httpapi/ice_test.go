package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/iceserver"
)

// TestICEServers checks that clients get the STUN and TURN servers, with a credential of their own for each request.
func TestICEServers(t *testing.T) {
	type named struct {
		Servers []iceserver.Server `json:"ice_servers"`
		Seconds int                `json:"expires_in"`
	}
	ask := func(d *harness) (got named) {
		w := d.ask(http.MethodGet, "/v1/antiphon/ice-servers", nil)
		d.g.Expect(w.Code).To(gomega.Equal(http.StatusOK))
		d.g.Expect(json.Unmarshal(w.Body.Bytes(), &got)).To(gomega.Succeed())
		return got
	}
	none := ask(open(t, nil))
	d := open(t, func(c *Config) {
		c.ICE = ICEServers{URLs: []string{"stun:stun.example.org", "turn:HOST:3478?transport=tcp"}, Secret: "secret", Lifetime: time.Minute}
	})
	d.g.Expect(none.Servers).To(gomega.BeEmpty())
	first, second := ask(d), ask(d)
	d.g.Expect(first.Seconds).To(gomega.Equal(60))
	d.g.Expect(first.Servers[0]).To(gomega.Equal(iceserver.Server{URLs: []string{"stun:stun.example.org"}}))
	turn := first.Servers[1]
	d.g.Expect(turn.URLs).To(gomega.Equal([]string{"turn:talk.test:3478?transport=tcp"}))
	d.g.Expect(turn.Credential).NotTo(gomega.BeEmpty())
	d.g.Expect(turn.Username).NotTo(gomega.Equal(second.Servers[1].Username))
	payer := func(username string) string { return username[:strings.LastIndex(username, ".")] }
	d.g.Expect(payer(turn.Username)).To(gomega.HaveSuffix(payer(second.Servers[1].Username)[10:]), "both count for one client")
}
