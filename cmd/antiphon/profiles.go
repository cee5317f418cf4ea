package main

// This file serves Go's profiles of the server, for `antiphon bench` and whoever looks for where time and memory go.

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// serveProfiles serves the profiles at an address of this machine alone, until stop is called. An empty address serves nothing.
func serveProfiles(address string) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	if host, _, err := net.SplitHostPort(address); err != nil || !isLoopback(host) {
		return nil, fmt.Errorf("--profiles %q: want a loopback address and a port, such as 127.0.0.1:6060", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--profiles: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(listener) }() // returns when stop is called
	return s.Close, nil
}
