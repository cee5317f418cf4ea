package httpapi

import (
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/iceserver"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/origin"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// The ICE servers of clients: STUN servers, and TURN servers with credentials that live for minutes.

// ICEServers are the STUN and TURN servers that clients use. The zero value is none.
type ICEServers struct {
	// URLs are those of the servers, such as "stun:stun.example.org:3478" or "turn:turn.example.org:3478?transport=tcp". HOST in a URL
	// stands for the host of the client's request.
	URLs []string
	// Secret is what the server shares with the TURN servers, to make credentials for them. Without it a TURN server is useless.
	Secret string
	// Lifetime is how long a credential can begin an allocation; 0 takes 10 minutes.
	Lifetime time.Duration
}

// iceServers answers with the ICE servers of a client.
func (h *Handler) iceServers(w http.ResponseWriter, r *http.Request, who requester) *problem {
	servers, lifetime := iceserver.For(origin.Hostname(r.Host), who.relayed(), iceserver.Config(h.cfg.ICE), h.env.Now())
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, struct {
		ICEServers []iceserver.Server `json:"ice_servers"`
		Seconds    int                `json:"expires_in"`
	}{servers, int(lifetime.Seconds())})
	return nil
}

// linkICE adds the ICE servers to the answer of a call, one Link header for each URL (RFC 9725 section 4.6).
func (h *Handler) linkICE(w http.ResponseWriter, r *http.Request, who requester) {
	servers, _ := iceserver.For(origin.Hostname(r.Host), who.relayed(), iceserver.Config(h.cfg.ICE), h.env.Now())
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
