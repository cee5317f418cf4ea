package main

// This file listens: for HTTP and HTTPS, and on the same port for ICE over TCP and for TURN if their flags name it.

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/internal/oneport"
	"github.com/antiphon-rt/antiphon/server"
)

// openPort opens the port of --listen, and writes into cfg what else the port carries. The connections of web are those of TLS if secured is
// not nil. connections has the limits of client addresses.
func (c *serve) openPort(secured *tls.Config, cfg *server.Config) (web net.Listener, connections *httpguard.Listener, err error) {
	limits, err := c.connections()
	if err != nil {
		return nil, nil, err
	}
	inner, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: is another server running? Choose another address with --listen", err)
	}
	connections = httpguard.Listen(inner, limits)
	ice, turn := samePort(c.ICETCP, c.Listen), samePort(c.Turn, c.Listen)
	switch {
	case ice || turn:
		port := oneport.Share(connections, oneport.Config{TLS: secured, ICE: ice, TURN: turn})
		if ice {
			cfg.ICETCP = port.ICE
		}
		if turn {
			cfg.TurnTCP, cfg.TurnTLS = port.TURN, secured != nil
		}
		return port.HTTP, connections, nil
	case secured != nil:
		return tls.NewListener(connections, secured), connections, nil
	}
	return connections, connections, nil
}

// samePort reports whether two addresses name the same port of the same interfaces. Port 0 is another port each time.
func samePort(one, other string) bool {
	host, port, err := net.SplitHostPort(one)
	otherHost, otherPort, otherErr := net.SplitHostPort(other)
	return err == nil && otherErr == nil && port == otherPort && port != "0" && anyHost(host) == anyHost(otherHost)
}

// anyHost returns the empty host for those that mean all interfaces, and other hosts as they are.
func anyHost(host string) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return ""
	}
	return host
}

// listen serves HTTP until ctx is done, and then until the calls of d have ended; secured is nil for plain HTTP.
func (c *serve) listen(ctx context.Context, listener net.Listener, secured *tls.Config, s *server.Server, d drainer, logger *slog.Logger) error {
	hs := httpguard.Server(s, logger)
	hs.RegisterOnShutdown(s.EndStreams)
	hs.TLSConfig = secured
	host := displayHost(listener.Addr().String(), c.Listen)
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(listener) }()
	fmt.Print(greeting(host, secured))
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	c.drain(context.WithoutCancel(ctx), d)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	// Shutdown does not end WebSocket calls. The server's Close ends them.
	return hs.Shutdown(stop)
}

// greeting returns the text that says where the server listens. Scripts read its first line.
func greeting(host string, secured *tls.Config) string {
	if secured == nil {
		return fmt.Sprintf("listening on http://%s\n", host)
	}
	return fmt.Sprintf("listening on https://%s\nWebSocket wss://%s/v1/realtime\ncertificate SHA-256 %s\n",
		host, host, fingerprint(secured.Certificates[0]))
}

// displayHost returns host and port to show: the host of the flag --listen, and the port on which the server really listens.
func displayHost(got, asked string) string {
	host, _, _ := net.SplitHostPort(asked)
	_, port, err := net.SplitHostPort(got)
	if err != nil || host == "" {
		return got
	}
	return net.JoinHostPort(host, port)
}
