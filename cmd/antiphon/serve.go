package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
	"github.com/antiphon-rt/antiphon/server/signal"
	"github.com/antiphon-rt/antiphon/web"
)

type serve struct {
	Listen      string   `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address for HTTP. Port 0 takes a free one."`
	Pipeline    string   `default:"embedded" placeholder:"embedded|scripted|FILE.yaml" help:"What answers: real speech of this machine, the deterministic test pipeline, or the latter with a script."`
	APIKeyFile  string   `name:"api-key-file" type:"existingfile" placeholder:"FILE" help:"API keys, one a line. Required when listening beyond this machine."`
	TLSCert     string   `name:"tls-cert" type:"existingfile" placeholder:"FILE" help:"Certificate for HTTPS; with --tls-key."`
	TLSKey      string   `name:"tls-key" type:"existingfile" placeholder:"FILE" help:"Key of the certificate."`
	UDPPort     int      `name:"udp-port" placeholder:"PORT" help:"Carry the audio of all calls on this one UDP port."`
	Origin      []string `placeholder:"URL" help:"Pages that may call beside the server's own; * for every page."`
	MaxSessions int      `default:"200" help:"Calls at a time."`
	Record      string   `type:"path" placeholder:"FILE.jsonl" help:"Write every event here. It holds what was said."`
	Trace       string   `type:"path" placeholder:"FILE.jsonl" help:"Write every transition of the machines here."`
	LogLevel    string   `default:"info" enum:"debug,info,warn,error" help:"How much to log: ${enum}."`
}

// stopPatience is how long calls may take to end when the server stops.
const stopPatience = 10 * time.Second

// Run serves until ctx is done. It prints "listening on URL" when it is ready.
func (c *serve) Run(ctx context.Context) (err error) {
	logger, err := newLogger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg, closeFiles, err := c.config(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	p, err := openPipeline(ctx, c.Pipeline, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	cfg.Pipeline = p
	s, err := server.New(cfg)
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		err = errors.Join(err, s.Close(stop))
	}()
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("%w: is another server running? Choose another address with --listen", err)
	}
	go warm(ctx, p, logger)
	return c.listen(ctx, listener, s)
}

// config checks the flags and opens the files.
func (c *serve) config(logger *slog.Logger) (cfg server.Config, closeFiles func() error, err error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return cfg, nil, fmt.Errorf("--listen %q: want HOST:PORT, such as 127.0.0.1:8080", c.Listen)
	}
	local := isLoopback(host)
	if !local && c.APIKeyFile == "" {
		return cfg, nil, fmt.Errorf("--listen %s can be reached from other machines: give --api-key-file FILE with one key a line, or listen on 127.0.0.1", c.Listen)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return cfg, nil, errors.New("--tls-cert and --tls-key go together")
	}
	cfg = server.Config{
		Logger: logger, Page: web.Handler(web.Options{}), UDPPort: c.UDPPort, Loopback: local, Origins: c.Origin, MaxSessions: c.MaxSessions,
	}
	if c.APIKeyFile != "" {
		if cfg.Keys, err = readKeys(c.APIKeyFile); err != nil {
			return cfg, nil, err
		}
	}
	var files []io.Closer
	open := func(path string, to *io.Writer) {
		if path == "" || err != nil {
			return
		}
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
			*to, files = f, append(files, f)
		}
	}
	open(c.Record, &cfg.Record)
	open(c.Trace, &cfg.Trace)
	return cfg, func() error {
		var all error
		for _, f := range files {
			all = errors.Join(all, f.Close())
		}
		return all
	}, err
}

func readKeys(path string) (signal.Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	keys, err := signal.ReadKeys(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// listen serves HTTP until ctx is done.
func (c *serve) listen(ctx context.Context, listener net.Listener, h http.Handler) error {
	hs := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	failed := make(chan error, 1)
	go func() {
		if c.TLSCert != "" {
			failed <- hs.ServeTLS(listener, c.TLSCert, c.TLSKey)
			return
		}
		failed <- hs.Serve(listener)
	}()
	fmt.Printf("listening on %s://%s\n", scheme, displayHost(listener.Addr().String(), c.Listen))
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	// WebSocket calls are not Shutdown's to end: the server's Close ends them.
	return hs.Shutdown(stop)
}

// displayHost is the address that was asked for, with the port that was given.
func displayHost(got, asked string) string {
	host, _, _ := net.SplitHostPort(asked)
	_, port, err := net.SplitHostPort(got)
	if err != nil || host == "" {
		return got
	}
	return net.JoinHostPort(host, port)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// warm loads the back ends and says what is missing.
func warm(ctx context.Context, p *pipeline.Pipeline, logger *slog.Logger) {
	if err := p.Warm(ctx); err != nil && ctx.Err() == nil {
		logger.Warn("a back end does not come up", "err", err)
	}
	for _, c := range p.Components() {
		if c.State == pipeline.StateMissing {
			logger.Warn("a component is missing", "stage", c.Stage, "name", c.Name, "detail", c.Detail, "install", c.Install)
		}
	}
}

func openPipeline(ctx context.Context, name string, logger *slog.Logger) (*pipeline.Pipeline, error) {
	switch {
	case name == "embedded":
		return embedded.New(ctx, embedded.Options{Logger: logger})
	case name == "scripted":
		return scripted.New(scripted.Options{}), nil
	case strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"):
		return scripted.Load(name)
	}
	return nil, fmt.Errorf("--pipeline %q: want embedded, scripted, or a FILE.yaml", name)
}

func newLogger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: l})), nil
}
