package signal

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server/rtc/relay"
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

const defaultCredentialLifetime = 10 * time.Minute

// iceServer is an RTCIceServer of WebRTC.
type iceServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// iceServersFor returns the ICE servers for the client of a request. Each call makes a new credential.
func (h *Handler) iceServersFor(r *http.Request) (servers []iceServer, lifetime time.Duration) {
	c := h.cfg.ICE
	lifetime = c.Lifetime
	or(&lifetime, defaultCredentialLifetime)
	var stun, turn []string
	host := hostname(r.Host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	for _, u := range c.URLs {
		u = strings.Replace(u, "HOST", host, 1)
		if strings.HasPrefix(u, "stun") {
			stun = append(stun, u)
		} else {
			turn = append(turn, u)
		}
	}
	servers = []iceServer{}
	if len(stun) > 0 {
		servers = append(servers, iceServer{URLs: stun})
	}
	if len(turn) > 0 {
		issued := relay.Issue(c.Secret, h.env.Now().Add(lifetime))
		servers = append(servers, iceServer{URLs: turn, Username: issued.Username, Credential: issued.Password})
	}
	return servers, lifetime
}

// iceServers answers with the ICE servers of a client.
func (h *Handler) iceServers(w http.ResponseWriter, r *http.Request, _ requester) *problem {
	servers, lifetime := h.iceServersFor(r)
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, struct {
		ICEServers []iceServer `json:"ice_servers"`
		Seconds    int         `json:"expires_in"`
	}{servers, int(lifetime.Seconds())})
	return nil
}

// linkICE adds the ICE servers to the answer of a call, one Link header for each URL (RFC 9725 section 4.6).
func (h *Handler) linkICE(w http.ResponseWriter, r *http.Request) {
	servers, _ := h.iceServersFor(r)
	for _, s := range servers {
		for _, u := range s.URLs {
			link := fmt.Sprintf("<%s>; rel=\"ice-server\"", u)
			if s.Username != "" {
				link += fmt.Sprintf("; username=%q; credential=%q; credential-type=\"password\"", s.Username, s.Credential)
			}
			w.Header().Add("Link", link)
		}
	}
}
