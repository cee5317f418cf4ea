package main

// This file reads the certificate, the keys and the limits again while the server runs: at SIGHUP, and when one of the files changes.

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/server"
)

// tlsSettings are the TLS configuration of a server, which a reload replaces. They are nil for plain HTTP.
type tlsSettings struct{ now atomic.Pointer[tls.Config] }

// secure returns the TLS configuration that the flags ask for.
func (c *serve) secure() (*tlsSettings, error) {
	config, err := c.tlsConfig()
	if config == nil {
		return nil, err
	}
	s := &tlsSettings{}
	s.now.Store(config)
	return s, nil
}

// config returns a configuration whose new connections use the newest certificate.
func (s *tlsSettings) config() *tls.Config {
	if s == nil {
		return nil
	}
	config := s.now.Load().Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.now.Load(), nil }
	return config
}

// lookEvery is how often the server looks whether a file has changed.
const lookEvery = 5 * time.Second

// reloadable is a server whose keys, limits and rates can be replaced.
type reloadable interface {
	Reload(to httpapi.Rules) error
}

// limitable is a listener whose limits of connections can be replaced.
type limitable interface{ Limit(limits httpguard.Limits) }

// running is what a reload changes.
type running struct {
	server      reloadable
	listener    limitable
	certificate *tlsSettings // nil for plain HTTP
}

// hangups returns the SIGHUPs of this process from now on. Until then a SIGHUP ends it.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// watch reloads until ctx is done: at SIGHUP, and when a file has changed.
func (c *serve) watch(ctx context.Context, hangups <-chan os.Signal, r running, logger *slog.Logger) {
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	seen := c.stamps()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		case <-looks.C:
			if c.stamps() == seen {
				continue
			}
		}
		seen = c.stamps()
		if err := c.reload(r, logger); err != nil {
			logger.Error("the server goes on with the certificate, keys and limits that it has", "err", err)
			continue
		}
		logger.Info("certificate, keys and limits are read again")
	}
}

// stamp is what shows that a file has changed.
type stamp struct {
	changed time.Time
	size    int64
}

// stamps returns the stamps of all files that a reload reads. A file that is not there has a zero stamp.
func (c *serve) stamps() (all [5]stamp) {
	for i, path := range []string{c.TLSCert, c.TLSKey, c.APIKeyFile, c.LimitsFile, c.ConsoleKeyFile} {
		if info, err := os.Stat(path); path != "" && err == nil {
			all[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return all
}

// reload reads all files, and uses them if all are right.
func (c *serve) reload(r running, logger *slog.Logger) error {
	var cfg server.Config
	if err := c.readAccess(&cfg, logger); err != nil {
		return err
	}
	connections, err := c.connections()
	if err != nil {
		return err
	}
	var config *tls.Config
	if r.certificate != nil && c.TLSCert != "" { // a self-signed certificate stays: its fingerprint was printed
		if config, err = c.tlsConfig(); err != nil {
			return err
		}
	}
	if err := r.server.Reload(httpapi.Rules{Keys: cfg.Keys, Limits: cfg.Limits, Rates: cfg.Rates, Secrets: cfg.Secrets, Operators: cfg.Operators}); err != nil {
		return errors.Join(errors.New("keys and limits"), err)
	}
	r.listener.Limit(connections)
	if config != nil {
		r.certificate.now.Store(config)
	}
	return nil
}
