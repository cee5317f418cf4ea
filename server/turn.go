package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"

	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/relay"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
)

// The TURN server that the voice server runs itself (package relay), and the list of ICE servers that clients get.

// openTurn opens the TURN server of cfg, if cfg names one, and returns the ICE servers for clients. httpapi replaces HOST in a URL by the host of the client's request.
func openTurn(cfg Config, engine *rtc.Engine) (*relay.Server, httpapi.ICEServers, error) {
	ice := cfg.ICE
	if cfg.Turn == "" {
		return nil, ice, nil
	}
	if cfg.UDPPort == 0 {
		return nil, ice, errors.New("Config.Turn needs Config.UDPPort: the TURN server relays to that port alone, and not to other services of this machine")
	}
	if ice.Secret != "" {
		return nil, ice, errors.New("Config.Turn and Config.ICE.Secret: use the server's own TURN server, or others, because they share no secret")
	}
	ice.Secret = rand.Text()
	turn, err := relay.New(relay.Config{
		Address: cfg.Turn, TCP: cfg.TurnTCP, Secret: ice.Secret, IsMedia: engine.IsMedia, Local: engine.Local, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, ice, err
	}
	host := "HOST"
	if len(cfg.PublicAddresses) > 0 {
		host = netip.AddrPortFrom(cfg.PublicAddresses[0], 0).String()
		host = host[:len(host)-len(":0")] // with the brackets of IPv6
	}
	for _, over := range []string{"udp", "tcp"} {
		ice.URLs = append(ice.URLs, fmt.Sprintf("turn:%s:%d?transport=%s", host, turn.Port(), over))
	}
	if cfg.TurnTLS { // HOST also with a public address: the certificate is for the name by which the client has reached the server
		ice.URLs = append(ice.URLs, fmt.Sprintf("turns:HOST:%d?transport=tcp", turn.Port()))
	}
	return turn, ice, nil
}
