package httpapi

import (
	"net/http"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/iceserver"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/origin"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// The ICE servers of clients: STUN servers, and TURN servers with credentials that live for minutes.

// ICEServers are the STUN and TURN servers that clients use. The zero value is none.
type ICEServers = iceserver.Config

// iceServers answers with the ICE servers of a client.
func (h *Handler) iceServers(w http.ResponseWriter, r *http.Request, who requester) *problem {
	servers, lifetime := iceserver.For(origin.Hostname(r.Host), who.relayed(), h.cfg.ICE, h.env.Now())
	w.Header().Set("Cache-Control", "no-store")
	answer.JSON(w, http.StatusOK, struct {
		ICEServers []iceserver.Server `json:"ice_servers"`
		Seconds    int                `json:"expires_in"`
	}{servers, int(lifetime.Seconds())})
	return nil
}

// linkICE adds the ICE servers to the answer of a call, one Link header for each URL (RFC 9725 section 4.6).
func (h *Handler) linkICE(w http.ResponseWriter, r *http.Request, who requester) {
	servers, _ := iceserver.For(origin.Hostname(r.Host), who.relayed(), h.cfg.ICE, h.env.Now())
	for _, link := range iceserver.Links(servers) {
		w.Header().Add("Link", link)
	}
}

// relayed returns for whom the allocations of TURN credentials count: a principal, or the client's network on a server without keys.
func (c requester) relayed() string {
	if c.principal != "" {
		return string(ofPrincipal) + c.principal
	}
	return httpguard.Network(c.address).String()
}
