package main

// This file has `antiphon serve`: its flags, and the start and the stop of the server.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/engine/probe"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/web"
)

type serve struct {
	Listen        string   `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address for HTTP. Port 0 takes a free one."`
	Config        string   `type:"existingfile" placeholder:"FILE.yaml" nofile:"a file cannot name another one" help:"The configuration: this server, and the models that answer. antiphon.yaml in this folder is found without the flag. Flags win over it."`
	Pipeline      string   `default:"best" placeholder:"best|embedded|sherpa|scripted|FILE.yaml" nofile:"the sections stt, llm and tts say what answers" help:"What answers: the best that is on this machine, speech with the voice of flite, neural speech of this machine (antiphon models get neural-en), the deterministic test pipeline, or the latter with a script. It wins over the configuration's stages."`
	APIKeyFile    string   `name:"api-key-file" type:"existingfile" placeholder:"FILE" help:"API keys, hashed, one a line: see antiphon key. Required when listening beyond this machine."`
	TLSCert       string   `name:"tls-cert" type:"existingfile" placeholder:"FILE" help:"Certificate for HTTPS; with --tls-key."`
	TLSKey        string   `name:"tls-key" type:"existingfile" placeholder:"FILE" help:"Key of the certificate."`
	TLSSelfSigned bool     `name:"tls-self-signed" help:"HTTPS with a certificate made at the start, whose fingerprint is printed."`
	Origin        []string `placeholder:"URL" help:"Pages that may call beside the server's own; * for every page."`
	LimitsFile    string   `type:"existingfile" placeholder:"FILE.yaml" help:"Limits as a file, such as max-sessions: 100. It, the key file and the certificate are read again at SIGHUP and when they change."`
	TrustedProxy  []string `placeholder:"ADDRESS" help:"Addresses or networks of reverse proxies, whose X-Forwarded-For says who the client is."`
	talking
	network
	storage
	limits
	recorded
	OTLPEndpoint string        `name:"otlp-endpoint" placeholder:"URL" help:"OpenTelemetry collector that gets a trace of each turn, such as http://localhost:4318/v1/traces."`
	Drain        time.Duration `default:"30s" help:"How long calls may take to end at a pause when the server stops. A second signal ends them at once."`
	Profiles     string        `hidden:"" placeholder:"HOST:PORT" help:"Serve Go's profiles of the server here, to this machine alone."`
	UntilEOF     bool          `name:"until-eof" hidden:"" help:"Stop when standard input ends: the process that has started this server is gone."`
	logging
}

// recorded has the flags of what the server writes for its operator.
type recorded struct {
	Record       string `type:"path" placeholder:"FILE.jsonl" help:"Write every event here. It holds what was said."`
	Trace        string `type:"path" placeholder:"FILE.jsonl" help:"Write every transition of the machines here."`
	Logbooks     string `type:"path" placeholder:"FOLDER" help:"Write a logbook of each call here, for antiphon replay. It holds what was said, as text."`
	LogbookSound bool   `help:"Keep the sound in the logbooks, too."`
	LogbooksKept int    `default:"100" placeholder:"N" help:"How many logbooks to keep: the oldest are removed."`

	ConsoleKeyFile string `type:"existingfile" placeholder:"FILE" help:"Operators' keys, as in --api-key-file, for the console of calls at /console: calls of all principals, without words. Without it there is no console."`
	ConsoleWords   bool   `help:"Show and keep in the console what is said, too."`
}

// talking has the flags of how a session listens and speaks.
type talking struct {
	OpusBitrate         int     `default:"40000" min:"6000" max:"128000" placeholder:"BITS" help:"Bit rate of the agent's audio over WebRTC, in bit/s: 6000 to 128000."`
	RecogniserProcesses int     `default:"0" min:"0" placeholder:"N" help:"Processes of the recogniser: as many turns are recognised at a time. 0 takes what the recogniser needs by itself: 4, of parakeet 2."`
	SummariseAt         float64 `default:"0.7" placeholder:"SHARE" help:"Share of the model's context above which the model gets a summary in place of the oldest items of the conversation: 0.1 to 0.95, or 0 for never."`
	TakeBack            bool    `help:"Take the end of a turn back if the user goes on within a second, also for clients that have not asked for it: both parts become one turn with one answer."`
	AnswerAhead         bool    `default:"true" negatable:"" help:"Begin to answer when the end of the user's turn is likely. A wrong answer is thrown away, unheard: it costs work of the models."`
	SoundEvents         bool    `default:"true" negatable:"" help:"Tell clients that ask which sounds a turn has, such as speech or music. It takes 1 ms of a processor for each second of the turn."`
}

// stopTimeout limits how long the calls may take to end when the server stops.
const stopTimeout = 10 * time.Second

// Run serves until ctx is done. It prints "listening on URL" when the server is ready.
func (c *serve) Run(ctx context.Context, line *kong.Context) (err error) {
	ctx, cancel := c.untilEOF(ctx)
	defer cancel()
	given := givenOn(line)
	file, err := c.readConfig(given)
	if err != nil {
		return err
	}
	logger, err := c.logger(os.Stderr)
	if err != nil {
		return err
	}
	cfg, closeFiles, err := c.config(logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	go tuneCollector(ctx)
	stopProfiles, err := serveProfiles(c.Profiles)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProfiles()) }()
	secured, err := c.secure()
	if err != nil {
		return err
	}
	p, err := c.open(ctx, file, given["pipeline"], logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	c.complete(p, logger)
	cfg.Pipeline = p
	var probes *probe.Keeper
	if file != nil && !given["pipeline"] {
		probes = probe.Keep(p)
	}
	if err := begin(file, p, &cfg); err != nil {
		return err
	}
	if err := c.telephones.into(&cfg, secured.config(), logger); err != nil {
		return err
	}
	cfg.Page = web.Handler(web.Options{Semantic: !setsTurns(cfg.Session), Console: cfg.Operators != nil})
	stopTraces, err := c.traces(ctx, &cfg, logger)
	if err != nil {
		return err
	}
	defer stopTraces()
	kept, err := c.openStorage(ctx, file, &cfg, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, within(kept.Close)) }()
	listener, connections, err := c.openPort(secured.config(), &cfg)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the HTTP server may have closed it
	s, err := newServer(ctx, cfg, kept)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, within(s.Close)) }()
	signals, stop := hangups()
	defer stop()
	go warm(ctx, p, probes, logger)
	go c.watch(ctx, signals, running{s, connections, secured}, logger)
	return c.listen(ctx, listener, secured.config(), s, draining{s, kept}, logger)
}

// untilEOF returns a context that also ends with standard input, if the flag asks for it.
func (c *serve) untilEOF(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if c.UntilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // any end is the end
			cancel()
		}()
	}
	return ctx, cancel
}

// within calls a function that ends something, and gives it stopTimeout.
func within(end func(context.Context) error) error {
	stop, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return end(stop)
}

// config checks the flags, opens the files that they name, and returns the configuration of the server.
func (c *serve) config(logger *slog.Logger) (cfg server.Config, closeFiles func() error, err error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return cfg, nil, fmt.Errorf("--listen %q: want HOST:PORT, such as 127.0.0.1:8080", c.Listen)
	}
	if c.RecogniserProcesses < 0 {
		return cfg, nil, errors.New("--recogniser-processes: want a number above 0")
	}
	if c.SummariseAt != 0 && (c.SummariseAt < 0.1 || c.SummariseAt > 0.95) {
		return cfg, nil, fmt.Errorf("--summarise-at %v: want a share from 0.1 to 0.95, or 0 for no summaries", c.SummariseAt)
	}
	// A proxy and a public address bring clients of other machines to a server that listens on loopback.
	local := isLoopback(host) && len(c.TrustedProxy) == 0 && len(c.PublicAddress) == 0
	if err := c.checkAccess(local, logger); err != nil {
		return cfg, nil, err
	}
	cfg = server.Config{
		Logger: logger, OpusBitrate: c.OpusBitrate, AnswerAhead: c.AnswerAhead, TakeBack: c.TakeBack, Summaries: conversation.SummaryLimits{At: c.SummariseAt, Off: c.SummariseAt == 0},
		Watch:    server.Watch{Logbooks: c.Logbooks, LogbookSound: c.LogbookSound, LogbooksKept: c.LogbooksKept, ConsoleWords: c.ConsoleWords, Node: c.node()},
		Loopback: local, LoopbackOnly: local, Access: server.Access{Origins: c.Origin},
	}
	if cfg.Proxies, err = c.proxies(); err != nil {
		return cfg, nil, err
	}
	if err := c.network.into(&cfg, c.Listen); err != nil {
		return cfg, nil, err
	}
	if err := c.readAccess(&cfg, logger); err != nil {
		return cfg, nil, err
	}
	var files []io.Closer
	open := func(flag, path string, to *io.Writer) {
		if path == "" || err != nil {
			return
		}
		var f *os.File
		if f, err = openPrivate(flag, path); err == nil {
			*to, files = f, append(files, f)
		}
	}
	open("--record", c.Record, &cfg.Record)
	open("--trace", c.Trace, &cfg.Trace)
	return cfg, func() error {
		var all error
		for _, f := range files {
			all = errors.Join(all, f.Close())
		}
		return all
	}, err
}

// readAccess writes the limits and the keys into cfg. It reads their files.
func (c *serve) readAccess(cfg *server.Config, logger *slog.Logger) error {
	limits, err := c.readLimits(c.LimitsFile)
	if err != nil {
		return err
	}
	if c.ConsoleWords && c.ConsoleKeyFile == "" {
		return errors.New("--console-words shows words in the console, and without --console-key-file there is none: give the file")
	}
	if c.APIKeyFile == "" && (len(limits.SecretLock) > 0 || limits.SecretSingleUse) {
		return errors.New("--secret-lock and --secret-single-use without --api-key-file stop nobody, because a client needs no secret: give keys")
	}
	if err := limits.into(cfg); err != nil {
		return err
	}
	if c.APIKeyFile != "" {
		cfg.Keys, err = readKeys(c.APIKeyFile, logger)
	}
	if c.ConsoleKeyFile != "" && err == nil {
		cfg.Operators, err = readKeys(c.ConsoleKeyFile, logger)
	}
	return err
}

// connections returns the limits of connections. It reads the file of limits.
func (c *serve) connections() (httpguard.Limits, error) {
	limits, err := c.readLimits(c.LimitsFile)
	if err != nil {
		return httpguard.Limits{}, err
	}
	proxies, err := c.proxies()
	return httpguard.Limits{Connections: limits.MaxConnections, PerAddress: limits.MaxConnectionsPerAddress, Proxies: proxies}, err
}

// checkAccess refuses flags that let strangers in, and warns of those that let others read keys. local says that only this machine
// reaches the server.
func (c *serve) checkAccess(local bool, logger *slog.Logger) error {
	for flag, path := range map[string]string{"--tls-key": c.TLSKey, "--turn-secret-file": c.TurnSecretFile} {
		if info, err := os.Stat(path); err == nil && readableByOthers(info) {
			logger.Warn("others on this machine can read the file of "+flag+": run chmod 600", "file", path)
		}
	}
	keyless := c.APIKeyFile == ""
	switch {
	case keyless && !local:
		return fmt.Errorf("%s: other machines reach this server: give --api-key-file FILE with the lines that antiphon key prints, or listen on 127.0.0.1 without --trusted-proxy and --public-address", c.opened())
	case keyless && slices.Contains(c.Origin, "*"):
		logger.Warn("every page that somebody on this machine opens can use this server: name the pages with --origin, or give --api-key-file")
	case !local && c.TLSCert == "" && !c.TLSSelfSigned && len(c.TrustedProxy) == 0:
		logger.Warn("keys travel in plain text: give --tls-cert and --tls-key, or put a proxy with HTTPS before the server and name it with --trusted-proxy", "listen", c.Listen)
	}
	return nil
}

// opened returns the flag by which other machines reach the server.
func (c *serve) opened() string {
	switch {
	case len(c.TrustedProxy) > 0:
		return "--trusted-proxy"
	case len(c.PublicAddress) > 0:
		return "--public-address"
	}
	return "--listen " + c.Listen
}

func (c *serve) proxies() (httpguard.Proxies, error) {
	all, err := httpguard.ParseProxies(c.TrustedProxy)
	if err != nil {
		return nil, fmt.Errorf("--trusted-proxy: %w", err)
	}
	return all, nil
}

// readKeys reads a key file. It logs a warning if the file contains keys in plain text.
func readKeys(path string, logger *slog.Logger) (apikey.Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	if info, err := f.Stat(); err == nil && readableByOthers(info) {
		logger.Warn("others on this machine can read the key file: run chmod 600", "file", path)
	}
	keys, err := apikey.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	plain := 0
	for _, k := range keys {
		if k.Plain {
			plain++
		}
	}
	if plain > 0 {
		logger.Warn("the key file has keys in plain text: put in their place what antiphon key --stdin prints for each", "file", path, "keys", plain)
	}
	return keys, nil
}

// drainer is a server that can let its calls end.
type drainer interface {
	Drain(ctx context.Context, within time.Duration) error
}

// drain lets the calls end at a pause, until c.Drain is over or another signal comes.
func (c *serve) drain(ctx context.Context, d drainer) {
	if c.Drain <= 0 {
		return
	}
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, c.Drain+stopTimeout)
	defer stop()
	_ = d.Drain(ctx, c.Drain) // calls that are left end with the server's Close
}

// isLoopback reports whether host names this machine by a loopback address.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// logging are the flags of the log.
type logging struct {
	LogLevel  string `default:"info" enum:"debug,info,warn,error" help:"How much to log: ${enum}."`
	LogFormat string `default:"text" enum:"text,json" help:"How each line of the log is written: ${enum}."`
}

func (c logging) logger(to io.Writer) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: l})), nil
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: l})), nil
}
