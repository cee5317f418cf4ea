package main

// The flags of `antiphon serve`, its warnings, and its TLS certificates.

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

// patience bounds a wait for an event that must come.
const patience = 20 * time.Second

func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	gomega.NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	return path
}

func TestServeChecksItsFlags(t *testing.T) {
	few := limits{EventsPerSecond: 1}
	for name, row := range map[string]struct {
		serve serve
		says  string
	}{
		"no address":           {serve{Listen: "here", limits: few}, "--listen"},
		"open to the world":    {serve{Listen: "0.0.0.0:0", limits: few}, "--listen 0.0.0.0:0: other machines reach this server: give --api-key-file"},
		"open by a proxy":      {serve{Listen: "127.0.0.1:0", TrustedProxy: []string{"127.0.0.1"}, limits: few}, "--trusted-proxy: other machines reach this server: give --api-key-file"},
		"no events":            {serve{Listen: "127.0.0.1:0"}, "--events-per-second"},
		"fewer than none":      {serve{Listen: "127.0.0.1:0", limits: limits{EventsPerSecond: 1, TokensPerMinute: -1}}, "--tokens-per-minute"},
		"a lock of nothing":    {serve{Listen: "127.0.0.1:0", APIKeyFile: keyFile(t), limits: limits{EventsPerSecond: 1, SecretLock: []string{"voice"}}}, `--secret-lock: "voice"`},
		"a lock and no keys":   {serve{Listen: "127.0.0.1:0", limits: limits{EventsPerSecond: 1, SecretLock: []string{"tools"}}}, "a client needs no secret"},
		"a relay to all ports": {serve{Listen: "127.0.0.1:0", network: network{Turn: "127.0.0.1:0"}, limits: few}, "--turn needs --udp-port"},
		"words and no console": {serve{Listen: "127.0.0.1:0", limits: few, recorded: recorded{ConsoleWords: true}}, "without --console-key-file there is none"},
		"a file without key":   {serve{Listen: "127.0.0.1:0", limits: few, APIKeyFile: write(t, "keys", "# none\n")}, "no key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := row.serve.config(slog.New(slog.DiscardHandler))
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
	for name, row := range map[string]struct {
		serve serve
		says  string
	}{
		"a certificate without its key":     {serve{TLSCert: "x"}, "go together"},
		"two certificates":                  {serve{TLSSelfSigned: true, TLSCert: "x", TLSKey: "y"}, "leave --tls-cert"},
		"a certificate that cannot be read": {serve{TLSCert: "x", TLSKey: "y"}, "--tls-cert x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := row.serve.tlsConfig()
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(row.says)))
		})
	}
}

// TestMediaOfServersOnLoopback: a server that only this machine reaches opens no media port elsewhere, and one behind a proxy does.
func TestMediaOfServersOnLoopback(t *testing.T) {
	few := limits{EventsPerSecond: 1}
	for name, row := range map[string]struct {
		serve        serve
		loopbackOnly bool
	}{
		"for this machine alone": {serve{Listen: "127.0.0.1:0", limits: few}, true},
		"behind a proxy":         {serve{Listen: "127.0.0.1:0", TrustedProxy: []string{"127.0.0.1"}, APIKeyFile: keyFile(t), limits: few}, false},
		"with a public address": {
			serve{Listen: "127.0.0.1:0", network: network{PublicAddress: []string{"203.0.113.7"}}, APIKeyFile: keyFile(t), limits: few}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			cfg, _, err := row.serve.config(slog.New(slog.DiscardHandler))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect([]bool{cfg.LoopbackOnly, cfg.Loopback}).To(gomega.Equal([]bool{row.loopbackOnly, row.loopbackOnly}))
		})
	}
}

// keyFile returns a key file with one key.
func keyFile(t *testing.T) (path string) {
	t.Helper()
	_, line, err := apikey.New("kitchen")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return write(t, "keys", line)
}

// What lets others read keys or use the server is no error, but the log says so.
func TestServeWarnsOfOpenDoors(t *testing.T) {
	readable := keyFile(t)
	gomega.NewWithT(t).Expect(os.Chmod(readable, 0o644)).To(gomega.Succeed())
	for name, row := range map[string]struct {
		serve serve
		says  string
	}{
		"a key file that others can read": {serve{Listen: "127.0.0.1:0", APIKeyFile: readable}, "chmod 600"},
		"a TLS key that others can read":  {serve{Listen: "127.0.0.1:0", TLSKey: readable}, "--tls-key"},
		"a secret that others can read":   {serve{Listen: "127.0.0.1:0", network: network{TurnSecretFile: readable}}, "--turn-secret-file"},
		"no TLS":                          {serve{Listen: "0.0.0.0:0", APIKeyFile: keyFile(t)}, "plain text"},
		"every page and no key":           {serve{Listen: "127.0.0.1:0", Origin: []string{"*"}}, "every page"},
		"no TLS behind a proxy":           {serve{Listen: "0.0.0.0:0", APIKeyFile: keyFile(t), TrustedProxy: []string{"10.0.0.1"}}, ""},
		"TLS":                             {serve{Listen: "0.0.0.0:0", APIKeyFile: keyFile(t), TLSSelfSigned: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var log bytes.Buffer
			row.serve.EventsPerSecond = 1
			_, closeFiles, err := row.serve.config(slog.New(slog.NewTextHandler(&log, nil)))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(closeFiles()).To(gomega.Succeed())
			if row.says == "" {
				g.Expect(log.String()).To(gomega.BeEmpty())
			}
			g.Expect(log.String()).To(gomega.ContainSubstring(row.says))
		})
	}
}

// A recording goes into no file that others can read, and through no link.
func TestRecordsArePrivate(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	fresh, shared, link := filepath.Join(folder, "fresh"), filepath.Join(folder, "shared"), filepath.Join(folder, "link")
	g.Expect(os.WriteFile(shared, []byte("old\n"), 0o644)).To(gomega.Succeed())
	g.Expect(os.Symlink(fresh, link)).To(gomega.Succeed())
	for range 2 { // it is created, then continued
		f, err := openPrivate("--record", fresh)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = f.WriteString("line\n")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(f.Close()).To(gomega.Succeed())
	}
	info, err := os.Stat(fresh)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(info.Mode().Perm()).To(gomega.Equal(os.FileMode(0o600)))
	g.Expect(os.ReadFile(fresh)).To(gomega.BeEquivalentTo("line\nline\n"))
	for path, says := range map[string]string{shared: "chmod 600", link: "is a link", folder: "name a file", os.DevNull: "device"} {
		_, err = openPrivate("--record", path)
		g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(says), gomega.ContainSubstring("--record"))), path)
	}
	g.Expect(os.ReadFile(shared)).To(gomega.BeEquivalentTo("old\n"))
}

func TestServePassesItsFlagsOn(t *testing.T) {
	g := gomega.NewWithT(t)
	_, line, err := apikey.New("kitchen")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var log bytes.Buffer
	c := serve{
		Listen: "0.0.0.0:0", APIKeyFile: write(t, "keys", line+"\nplain-text-of-a-key\n"), Origin: []string{"https://app.test"},
		recorded: recorded{ConsoleKeyFile: keyFile(t), ConsoleWords: true}, network: network{clustered: clustered{NodeName: "harbour"}},
		limits: limits{MaxSessions: 7, RequestsPerMinute: 1, TokensPerMinute: 2, EventsPerSecond: 3, SecretSingleUse: true, SecretLock: []string{"instructions"}},
	}
	cfg, closeFiles, err := c.config(slog.New(slog.NewTextHandler(&log, nil)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(closeFiles()).To(gomega.Succeed())
	g.Expect(cfg.Rates).To(gomega.Equal(httpapi.Rates{RequestsPerMinute: 1, TokensPerMinute: 2}))
	g.Expect(cfg.EventsPerSecond).To(gomega.Equal(3))
	g.Expect(cfg.Secrets).To(gomega.Equal(httpapi.SecretRules{SingleUse: true, Locks: conversation.Locks{"instructions"}}))
	g.Expect(cfg.MaxSessions).To(gomega.Equal(7))
	g.Expect(cfg.Keys).To(gomega.HaveLen(2))
	g.Expect(cfg.Operators).To(gomega.HaveLen(1))
	g.Expect(cfg.ConsoleWords).To(gomega.BeTrue())
	g.Expect(cfg.Node).To(gomega.Equal("harbour"))
	g.Expect(log.String()).To(gomega.ContainSubstring("plain text"))
	g.Expect(log.String()).NotTo(gomega.ContainSubstring("plain-text-of-a-key"))
}

// secured runs the server with these flags until the test ends. pool trusts the server's certificate only.
func secured(t *testing.T, c serve) (host string, pool *x509.CertPool) {
	t.Helper()
	g := gomega.NewWithT(t)
	c.Listen = "127.0.0.1:0"
	conf, err := c.tlsConfig()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cert, err := x509.ParseCertificate(conf.Certificates[0].Certificate[0])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pool = x509.NewCertPool()
	pool.AddCert(cert)

	p := scripted.New(scripted.Options{})
	cfg := server.Config{Pipeline: p, Loopback: true}
	listener, _, err := c.openPort(conf, &cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s, err := server.New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.listen(ctx, listener, conf, s, s, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		end, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(end)).To(gomega.Succeed())
		stop()
		g.Expect(<-served).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return listener.Addr().String(), pool
}

// trusting returns a client that trusts only the certificates in pool.
func trusting(pool *x509.CertPool) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

func TestTLS(t *testing.T) {
	key, cert := pemOf(t)
	for name, flags := range map[string]serve{
		"self-signed": {TLSSelfSigned: true},
		"from files":  {TLSCert: write(t, "cert.pem", cert), TLSKey: write(t, "key.pem", key)},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			host, pool := secured(t, flags)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/healthz", nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			answer, err := trusting(pool).Do(r)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(answer.Body.Close()).To(gomega.Succeed())
			g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK))
			_, err = trusting(x509.NewCertPool()).Do(r) //nolint:bodyclose // there is none
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("certificate")), "nobody vouches for it")

			ws, _, err := websocket.Dial(ctx, "wss://"+host+"/v1/realtime", &websocket.DialOptions{ //nolint:bodyclose // a WebSocket has none
				HTTPClient: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}},
			})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, text, err := ws.Read(ctx)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			e, err := wire.DecodeServer(text)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(e.Type()).To(gomega.Equal("session.created"))
			g.Expect(ws.CloseNow()).To(gomega.Succeed())
		})
	}
}

// pemOf writes a key and a certificate into files and returns their paths.
func pemOf(t *testing.T) (key, cert string) {
	t.Helper()
	g := gomega.NewWithT(t)
	made, err := selfSigned([]string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	encode := func(kind string, of []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: of}))
	}
	return encode("PRIVATE KEY", private), encode("CERTIFICATE", made.Certificate[0])
}

// An operator who has the console open does not hold up a server that stops.
func TestAnOpenConsoleEndsWithTheServer(t *testing.T) {
	g := gomega.NewWithT(t)
	const operatorsKey = "key-of-the-night-desk"
	c := serve{Listen: "127.0.0.1:0", limits: limits{EventsPerSecond: 1}, recorded: recorded{ConsoleKeyFile: write(t, "operators", operatorsKey)}}
	cfg, closeFiles, err := c.config(slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(closeFiles()).To(gomega.Succeed())
	cfg.Pipeline = scripted.New(scripted.Options{})
	listener, _, err := c.openPort(nil, &cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s, err := server.New(cfg)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- c.listen(ctx, listener, nil, s, s, slog.New(slog.DiscardHandler)) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/v1/antiphon/console/events", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+operatorsKey)
	answer, err := http.DefaultClient.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusOK))
	stop()
	g.Expect(<-served).To(gomega.Succeed())
	g.Expect(answer.Body.Close()).To(gomega.Succeed())
	g.Expect(s.Close(t.Context())).To(gomega.Succeed())
	g.Expect(cfg.Pipeline.Close()).To(gomega.Succeed())
}

func TestGreeting(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(greeting("h:1", nil)).To(gomega.Equal("listening on http://h:1\n"))
	conf, err := (&serve{Listen: "0.0.0.0:0", TLSSelfSigned: true}).tlsConfig()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lines := strings.Split(greeting("h:1", conf), "\n")
	g.Expect(lines[0]).To(gomega.Equal("listening on https://h:1"))
	g.Expect(lines[1]).To(gomega.Equal("WebSocket wss://h:1/v1/realtime"))
	g.Expect(lines[2]).To(gomega.MatchRegexp("^certificate SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}$"))
}

func TestCertifiedNames(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(certifiedNames("talk.test:443")).To(gomega.ContainElements("localhost", "127.0.0.1", "talk.test"))
	g.Expect(certifiedNames("192.0.2.7:443")).To(gomega.ContainElement("192.0.2.7"))
	name, err := os.Hostname()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, everywhere := range []string{":443", "0.0.0.0:443", "[::]:443"} {
		g.Expect(certifiedNames(everywhere)).To(gomega.ContainElement(name), everywhere)
	}
}

// TestSamePort checks which flags name the port of --listen.
func TestSamePort(t *testing.T) {
	for _, row := range []struct {
		one, other string
		same       bool
	}{
		{":443", ":443", true},
		{":443", "0.0.0.0:443", true},
		{"[::]:443", "0.0.0.0:443", true},
		{"203.0.113.10:443", "203.0.113.10:443", true},
		{"203.0.113.10:443", "203.0.113.11:443", false},
		{"203.0.113.10:443", ":443", false},
		{":443", ":7000", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"", "127.0.0.1:8080", false},
	} {
		gomega.NewWithT(t).Expect(samePort(row.one, row.other)).To(gomega.Equal(row.same), "%s %s", row.one, row.other)
	}
}

// TestLogFormats checks that each line of the log is a JSON object if the operator wants that.
func TestLogFormats(t *testing.T) {
	g := gomega.NewWithT(t)
	var text, lines bytes.Buffer
	for format, to := range map[string]*bytes.Buffer{"text": &text, "json": &lines} {
		logger, err := logging{LogLevel: "info", LogFormat: format}.logger(to)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		logger.Debug("not this")
		logger.Info("hello", "call", "rtc_1")
	}
	g.Expect(text.String()).To(gomega.HaveSuffix("level=INFO msg=hello call=rtc_1\n"))
	g.Expect(lines.String()).To(gomega.And(gomega.HaveSuffix("\n"), gomega.MatchRegexp(`^\{"time":"[^"]+","level":"INFO","msg":"hello","call":"rtc_1"\}`)))
}
