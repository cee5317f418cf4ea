//go:build !js

package native

// The STUN and TURN servers of a call.

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/pion/webrtc/v4"
)

// iceTimeout is how long the server may take to name its STUN and TURN servers. Without them most calls still connect.
const iceTimeout = 3 * time.Second

// iceServers returns the STUN and TURN servers for a call: those of the options, or those that the server names. A server that does not
// answer, or is no Antiphon, names none.
func (d *Dialer) iceServers(ctx context.Context) (servers []webrtc.ICEServer) {
	if d.opts.ICEServers != nil {
		return d.opts.ICEServers
	}
	ctx, cancel := context.WithTimeout(ctx, iceTimeout)
	defer cancel()
	body, _, err := d.server.request(ctx, http.MethodGet, "/v1/antiphon/ice-servers", "", nil, nil)
	if err != nil {
		return nil
	}
	var told struct {
		ICEServers []struct {
			URLs                 []string `json:"urls"`
			Username, Credential string
		} `json:"ice_servers"`
	}
	if json.Unmarshal(body, &told) != nil {
		return nil
	}
	for _, s := range told.ICEServers {
		server := webrtc.ICEServer{URLs: s.URLs, Username: s.Username}
		if s.Username != "" {
			server.Credential = s.Credential
		}
		servers = append(servers, server)
	}
	return servers
}
