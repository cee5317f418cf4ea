package main

// This file has the flags of `antiphon serve` that say how clients behind firewalls and NAT, and other servers (clustered), reach the server.

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server"
)

// network are the flags of the addresses and ports for audio, and of a server of a cluster.
type network struct {
	UDPPort           int           `name:"udp-port" placeholder:"PORT" help:"Carry the audio of all calls on this one UDP port."`
	ICETCP            string        `name:"ice-tcp" placeholder:"HOST:PORT" help:"Carry calls over this TCP port, too, for clients whose network lets no UDP through. It may be the port of --listen."`
	PublicAddress     []string      `placeholder:"IP" help:"Addresses under which clients reach this machine and which no interface has: behind 1:1 NAT, or in a container."`
	PrivateCandidates bool          `help:"Send connectivity checks also to private addresses of clients outside of this machine's networks."`
	Turn              string        `placeholder:"HOST:PORT" help:"Serve TURN here, over UDP and TCP, for clients that reach no other port. It relays to this server alone. On the port of --listen it shares the TCP port with HTTP, and with HTTPS it also serves TURN over TLS."`
	ICEServer         []string      `name:"ice-server" placeholder:"URL" help:"STUN and TURN servers for clients, such as turn:turn.example.org:3478?transport=tcp."`
	TurnSecretFile    string        `type:"existingfile" placeholder:"FILE" help:"The secret that TURN servers of --ice-server share with this one (coturn: use-auth-secret)."`
	TurnLifetime      time.Duration `default:"10m" help:"How long a credential for TURN can begin an allocation."`
	telephones
	clustered
}

// into checks the flags, opens the TCP port of --ice-tcp unless it is that of --listen, and writes all into cfg.
func (n *network) into(cfg *server.Config, listen string) error {
	cfg.UDPPort, cfg.PrivateCandidates, cfg.Turn = n.UDPPort, n.PrivateCandidates, n.Turn
	cfg.ICE.URLs, cfg.ICE.Lifetime = n.ICEServer, n.TurnLifetime
	for _, text := range n.PublicAddress {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return fmt.Errorf("--public-address %q: want an IP address, such as 203.0.113.7", text)
		}
		cfg.PublicAddresses = append(cfg.PublicAddresses, a)
	}
	if err := n.checkServers(cfg); err != nil {
		return err
	}
	if n.ICETCP == "" || samePort(n.ICETCP, listen) {
		return nil
	}
	listener, err := net.Listen("tcp", n.ICETCP)
	if err != nil {
		return fmt.Errorf("--ice-tcp: %w", err)
	}
	cfg.ICETCP = listener
	return nil
}

// checkServers checks the URLs of --ice-server and reads their secret.
func (n *network) checkServers(cfg *server.Config) error {
	turn := false
	for _, u := range n.ICEServer {
		scheme, _, _ := strings.Cut(u, ":")
		switch scheme {
		case "stun", "stuns":
		case "turn", "turns":
			turn = true
		default:
			return fmt.Errorf("--ice-server %q: want a URL of the scheme stun, stuns, turn or turns", u)
		}
	}
	switch {
	case n.TurnLifetime != 0 && n.TurnLifetime < time.Minute || n.TurnLifetime > 24*time.Hour:
		return fmt.Errorf("--turn-lifetime %v: want 1m to 24h", n.TurnLifetime)
	case turn && n.TurnSecretFile == "":
		return errors.New("--ice-server with a TURN server needs --turn-secret-file, for its credentials")
	case n.Turn != "" && n.UDPPort == 0:
		return errors.New("--turn needs --udp-port: the TURN server relays to that port alone, and not to other services of this machine")
	case n.TurnSecretFile == "":
		return nil
	case n.Turn != "":
		return errors.New("--turn makes a secret of its own: leave --turn-secret-file and other TURN servers out")
	}
	secret, err := os.ReadFile(n.TurnSecretFile)
	if err != nil {
		return fmt.Errorf("--turn-secret-file: %w", err)
	}
	if cfg.ICE.Secret = strings.TrimSpace(string(secret)); cfg.ICE.Secret == "" {
		return errors.New("--turn-secret-file: the file is empty")
	}
	return nil
}
