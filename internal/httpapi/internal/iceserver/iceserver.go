// Package iceserver makes what a client must know of its STUN and TURN servers, with credentials that live for minutes.
package iceserver

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/relay"
)

// The ICE servers of one client.

// Config are the STUN and TURN servers that clients use. The zero value is none.
type Config struct {
	// URLs are those of the servers, such as "stun:stun.example.org:3478" or "turn:turn.example.org:3478?transport=tcp". HOST in a URL
	// stands for the host of the client's request.
	URLs []string
	// Secret is what the server shares with the TURN servers, to make credentials for them. Without it a TURN server is useless.
	Secret string
	// Lifetime is how long a credential can begin an allocation; 0 takes 10 minutes.
	Lifetime time.Duration
}

const defaultLifetime = 10 * time.Minute

// Server is an RTCIceServer of WebRTC.
type Server struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// For returns the ICE servers for the client of a request to host, and how long their credential can begin an allocation. Each call makes a new credential, whose
// allocations count for payer.
func For(host, payer string, c Config, now time.Time) (servers []Server, lifetime time.Duration) {
	lifetime = cmp.Or(c.Lifetime, defaultLifetime)
	var stun, turn []string
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
	servers = []Server{}
	if len(stun) > 0 {
		servers = append(servers, Server{URLs: stun})
	}
	if len(turn) > 0 {
		issued := relay.Issue(c.Secret, payer, now.Add(lifetime))
		servers = append(servers, Server{URLs: turn, Username: issued.Username, Credential: issued.Password})
	}
	return servers, lifetime
}

// Links returns the values of Link headers, one for each URL (RFC 9725 section 4.6).
func Links(servers []Server) (all []string) {
	for _, s := range servers {
		for _, u := range s.URLs {
			link := fmt.Sprintf("<%s>; rel=\"ice-server\"", u)
			if s.Username != "" {
				link += fmt.Sprintf("; username=%q; credential=%q; credential-type=\"password\"", s.Username, s.Credential)
			}
			all = append(all, link)
		}
	}
	return all
}
