package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/relay"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/internal/console"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/internal/telemetry"
	"github.com/antiphon-rt/antiphon/internal/version"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// The server: puts the WebRTC engine and the HTTP handler together, and adds health checks and metrics.

// Version is this module's version. Responses have it in the Antiphon-Version header.
const Version = version.Version

// Reach says how clients behind firewalls and NAT reach a Server (docs/reachability.md). All of it may be zero.
type Reach struct {
	// UDPPort carries the audio of all calls on one port; 0 gives each call ports of its own.
	UDPPort int
	// PublicAddresses are addresses under which clients reach this machine and which no interface has (1:1 NAT, a container).
	PublicAddresses []netip.Addr
	// ICETCP accepts the connections of clients whose network lets no UDP through; nil for none. The Server closes it.
	ICETCP net.Listener
	// PrivateCandidates sends connectivity checks also to private addresses of clients outside of this machine's networks.
	PrivateCandidates bool
	// Turn is the HOST:PORT of a TURN server inside of the Server, over UDP and TCP; empty for none. It relays to the Server alone.
	// Clients find it under the first public address, or under the host of their request.
	Turn string
	// TurnTCP accepts the clients of the TURN server over TCP, in place of the TCP port of Turn; nil for that port. TurnTLS says that it also
	// accepts clients over TLS: they find it under the host of their request. Package oneport has such listeners. The Server closes it.
	TurnTCP net.Listener
	TurnTLS bool
	// ICE are other STUN and TURN servers that clients use.
	ICE ICEServers
}

// Access says who may call a Server.
type Access struct {
	// Keys are the API keys that clients send; nil asks for none.
	Keys Keys
	// Secrets say what client secrets allow, which the holder of a key creates.
	Secrets SecretRules
	// Rates limit what each principal uses in a minute. A principal has one or more of the keys.
	Rates Rates
	// Origins are the origins of pages that may call, in addition to the server's own; "*" is every page.
	Origins []string
	// MCP says which servers of remote tools (Model Context Protocol) sessions may use. The zero value lets clients name any server at a public address.
	MCP MCP
	// Streams are the telephones that may come over a WebSocket: Asterisk, Twilio, Telnyx. nil for none.
	Streams []PhoneStream
	// Digits say what sessions do with keys of a telephone; "" takes "model".
	Digits Digits
	// Proxies are the reverse proxies whose header X-Forwarded-For is true; nil trusts none.
	Proxies Proxies
}

// Watch says what a Server records for its operator.
type Watch struct {
	// CheckInvariants checks the proven properties of the state machines in every session, after every event. The server logs a
	// property that does not hold as an error.
	CheckInvariants bool
	// Tracer gets a trace of each turn that was answered: spans without words and audio. nil traces nothing.
	Tracer trace.Tracer
	// Record gets every event, and Trace every transition of the state machines, one JSON object a line; nil for none. Writes do not
	// overlap and do not hold up the calls: lines for which there is no room are dropped, and a line with the member dropped says how
	// many. Close writes what waits. Record contains what the users said: keep it safe.
	Record, Trace io.Writer
	// Logbooks is the folder that gets a logbook of each session, from which `antiphon replay` plays it again; empty for none. Only this user can read them. They
	// contain what was said. LogbookSound has them keep the sound of both sides, too. LogbooksKept is how many are kept, and the oldest are removed; 0 takes 100.
	Logbooks     string
	LogbookSound bool
	LogbooksKept int
	// Operators are the keys with which operators see the calls of all principals, at /v1/antiphon/console (docs/operating.md); nil: nobody sees them. No key may be one
	// of Access.Keys. ConsoleWords shows them what is said, too. Node is the name of this server for them.
	Operators    Keys
	ConsoleWords bool
	Node         string
}

// The types of the fields of Config. Their packages are internal; these names are what a program uses.
type (
	// Keys are API keys, each with its principal.
	Keys = apikey.Keys
	// SecretRules say what client secrets allow.
	SecretRules = httpapi.SecretRules
	// Rates limit what a principal uses in a minute.
	Rates = httpapi.Rates
	// Proxies are the addresses of reverse proxies.
	Proxies = httpguard.Proxies
	// ICEServers are STUN and TURN servers for clients.
	ICEServers = httpapi.ICEServers
	// Limits limit what the server and its clients take.
	Limits = httpapi.Limits
	// SummaryLimits say when the model gets a summary in place of old items.
	SummaryLimits = conversation.SummaryLimits
	// MCP says which MCP servers sessions may use; MCPServer is one of the operator.
	MCP = mcp.Config
	// MCPServer is an MCP server of the operator.
	MCPServer = mcp.Named
	// PhoneStream is a door for telephones that come over a WebSocket.
	PhoneStream = stream.Config
	// Digits say what sessions do with keys of a telephone: "model", "events" or "sensitive".
	Digits = session.Digits
	// Stored has the parts of a Server that keep data in a store: package storage makes them. The zero value keeps nothing.
	Stored = httpapi.Stored
	// Rules are what Server.Reload changes.
	Rules = httpapi.Rules
	// Standing is the present state of a Server.
	Standing = httpapi.Standing
)

// Config configures a Server. Pipeline is required; all else may be zero.
type Config struct {
	// Pipeline answers the users. The Server does not close it.
	Pipeline *pipeline.Pipeline
	// Logger gets one line for every lifecycle transition at info level, and every transition at debug level. The server never
	// logs transcripts or audio. nil discards all.
	Logger *slog.Logger
	// Page serves all paths outside of the API, such as the Talk page; nil answers 404.
	Page http.Handler

	// Instructions, Model and Voice are those of a session until its client changes them.
	Instructions, Model, Voice string
	// Session has more of it: the object `session` of a session.update. It wins over the three fields above; nil for nothing.
	Session json.RawMessage

	// Loopback also offers the loopback addresses, for clients on the same machine. LoopbackOnly offers and opens them alone.
	Loopback, LoopbackOnly bool
	// Reach says how clients behind firewalls and NAT reach the Server.
	Reach
	// OpusBitrate is the bit rate of the agent's audio over WebRTC, in bit/s; 0 takes 40000.
	OpusBitrate int
	// Access says who may call.
	Access
	// Limits limit what the server and its clients take.
	Limits
	// Stored has the parts that keep data in a store.
	Stored

	// AnswerAhead has sessions begin to answer when the end of the user's turn is likely and not certain. A wrong answer is thrown away, unheard: it
	// costs work of the model and the synthesizer, two answers a turn at most.
	AnswerAhead bool
	// TakeBack has sessions take the end of a turn back if the user goes on within a second: both parts become one turn with one answer. Without it,
	// clients that ask for it get it (antiphon.hello).
	TakeBack bool
	// Tools are tools that the Server runs itself when the model calls them, in every session beside those of its client. A client sees such a call
	// as an item of type mcp_call.
	Tools pipeline.ServerTools
	// Summaries say when the model gets a summary in place of the oldest items of a long conversation. The zero value takes the defaults.
	Summaries SummaryLimits

	// Phones say which telephone calls the Server takes.
	Phones Phones

	// Watch says what the Server records for its operator.
	Watch
}

// Server is an http.Handler that serves calls. It limits the time of requests and responses by itself: see httpguard.Guard. Limits of
// connections are those of the listener: see httpguard.Listen. A Server is safe for concurrent use. Its owner closes it.
type Server struct {
	mux    *http.ServeMux
	guard  *httpguard.Guard
	engine *rtc.Engine
	turn   *relay.Server // nil without Config.Turn
	calls  *httpapi.Handler
	phones *sip.Server // nil without Config.Phones
	cfg    Config

	recorders []*recorder
	console   *console.Console // nil without Config.Operators
}

// New returns a Server. It opens the UDP port if Config names one. It does not listen for HTTP. The caller closes the Server.
//
// The error says which field of Config is wrong and what to give it: Pipeline is nil, Tools are refused by their Check, or Session has a field that the
// pipeline does not support. It wraps the error of the operating system if a port of Config cannot be opened. After an error nothing is left open.
func New(cfg Config) (*Server, error) {
	if cfg.Pipeline == nil {
		return nil, errors.New("server: Config.Pipeline is nil: give it embedded.New or a pipeline of your own")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := cfg.Tools.Check(); err != nil {
		return nil, fmt.Errorf("server: Config.Tools: %w", err)
	}
	if err := cfg.MCP.Check(); err != nil {
		return nil, fmt.Errorf("server: Config.MCP: %w", err)
	}
	begin, err := firstSettings(cfg)
	if err == nil {
		err = CheckStreams(cfg)
	}
	if err != nil {
		return nil, err
	}
	engine, err := rtc.New(rtc.Config{
		UDPPort: cfg.UDPPort, Loopback: cfg.Loopback, LoopbackOnly: cfg.LoopbackOnly, PublicAddresses: cfg.PublicAddresses,
		PrivateRemotes: cfg.PrivateCandidates, TCP: cfg.ICETCP, OpusBitrate: cfg.OpusBitrate, Logger: cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	turn, ice, err := openTurn(cfg, engine)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("server: %w", err), engine.Close())
	}
	sc := httpapi.Config{
		ICE: ice, Engine: engine, Pipeline: cfg.Pipeline, Settings: begin, Version: Version, Logger: cfg.Logger,
		Keys: cfg.Keys, Secrets: cfg.Secrets, Rates: cfg.Rates, Origins: cfg.Origins, Stored: cfg.Stored,
		Limits: cfg.Limits, CheckInvariants: cfg.CheckInvariants, AnswerAhead: cfg.AnswerAhead,
		Options: session.Options{Tools: cfg.Tools, MCP: mcp.New(cfg.MCP), Summaries: cfg.Summaries, TakeBack: cfg.TakeBack, Digits: cfg.Digits},
		Streams: cfg.Streams,
	}
	s := &Server{mux: http.NewServeMux(), engine: engine, turn: turn, cfg: cfg}
	metrics := telemetry.New(s.snapshot, cfg.Tracer)
	sc.Out = telephones.Out{Outlets: cfg.Phones.Outlets, Dial: s.dial, Webhook: cfg.Phones.Webhook, Refer: cfg.Phones.Refer}
	if err := s.observe(&sc, metrics); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	s.calls = httpapi.New(sc)
	s.guard = httpguard.New(http.HandlerFunc(s.serve), httpguard.Config{Proxies: cfg.Proxies})
	s.mux.Handle("/v1/", s.calls)
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	s.mux.HandleFunc("GET /readyz", s.ready)
	scrape := metrics.Handler()
	s.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s.calls.CountTalk()
		scrape.ServeHTTP(w, r)
	})
	if s.console != nil {
		s.mux.Handle(console.Path, s.console.Handler())
	}
	if cfg.Page != nil {
		s.mux.Handle("/", cfg.Page)
	}
	if err := s.openPhones(begin); err != nil {
		return nil, errors.Join(fmt.Errorf("server: %w", err), s.Close(context.Background()))
	}
	return s, nil
}

// observe has the sessions report to the metrics, and to the recorders that the Config asks for.
func (s *Server) observe(sc *httpapi.Config, metrics *telemetry.Metrics) (err error) {
	if sc.Logbook, err = s.cfg.logbooks(); err != nil {
		return err
	}
	if s.cfg.Operators != nil {
		if err := checkOperators(s.cfg.Operators, s.cfg.Keys); err != nil {
			return err
		}
		s.console = console.New(s.cfg.console())
	}
	sc.Event, sc.Talked = metrics.Event, metrics.Talked
	if s.cfg.Record != nil {
		events := newRecorder("record", s.cfg.Record, s.cfg.Logger)
		s.recorders = append(s.recorders, events)
		sc.Record = events.event
	}
	sc.Timed, sc.Refused = metrics.Turn, metrics.Refused
	sc.Trace = func(_ string, step coord.Step) { metrics.Step(step) }
	if s.cfg.Trace != nil {
		steps := newRecorder("trace", s.cfg.Trace, s.cfg.Logger)
		s.recorders = append(s.recorders, steps)
		sc.Took, sc.Performed = steps.took, steps.performed
		sc.Trace = func(session string, step coord.Step) {
			metrics.Step(step)
			steps.step(session, step)
		}
	}
	if s.console != nil {
		s.showCalls(sc)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.guard.ServeHTTP(w, r) }

// serve answers a request, unless another host's page sent it: see httpapi.Handler.Misdirected. The API says so in its own form.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/v1/") && s.calls.Misdirected(r) {
		http.Error(w, "this server does not answer under this host name: open it as localhost", http.StatusForbidden)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Drain refuses new calls, and lets each call end at its next pause, after within in any case. It returns when there is no call any more,
// or with the error of ctx. /readyz answers 503 from then on; /healthz goes on. Close follows.
func (s *Server) Drain(ctx context.Context, within time.Duration) error {
	return s.calls.Drain(ctx, within)
}

// Reload replaces Config.Keys, Limits, Rates and Secrets for what begins from now on: see httpapi.Handler.Reload.
func (s *Server) Reload(to Rules) error {
	if s.console == nil {
		return s.calls.Reload(to)
	}
	err := checkOperators(to.Operators, to.Keys)
	if err == nil {
		err = s.calls.Reload(to)
	}
	if err == nil {
		s.console.SetKeys(to.Operators)
	}
	return err
}

// Close ends every call, joins all goroutines of the Server, and closes its ports. Calls that have not ended when ctx is done are cut
// off.
func (s *Server) Close(ctx context.Context) error {
	err := s.calls.Close(ctx)
	if s.phones != nil {
		err = errors.Join(err, s.phones.Close())
	}
	err = errors.Join(err, s.engine.Close())
	if s.turn != nil {
		err = errors.Join(err, s.turn.Close())
	}
	for _, r := range s.recorders {
		err = errors.Join(err, r.close(ctx))
	}
	if s.console != nil {
		err = errors.Join(err, s.console.Close(ctx))
	}
	return err
}

// Standing returns how many calls the Server has, and whether it takes more.
func (s *Server) Standing() Standing { return s.calls.Standing() }

// OthersUsed takes from the budget of a principal what other servers of the cluster have used.
func (s *Server) OthersUsed(principal string, requests, tokens uint64) {
	s.calls.OthersUsed(principal, requests, tokens)
}

// Calls returns how many calls there are now and how many there were in all.
func (s *Server) Calls() (now int, total uint64) { return s.calls.Calls() }

// firstSettings returns the settings with which a session begins. The error names what is wrong in Config.Session.
func firstSettings(cfg Config) (wire.Session, error) {
	set := wire.DefaultSession()
	set.Model, set.Instructions, set.Audio.Output.Voice = cfg.Model, cfg.Instructions, cfg.Voice
	if set.Model == "" {
		set.Model = cfg.Pipeline.Name
	}
	if set.Audio.Output.Voice == "" {
		set.Audio.Output.Voice = "alloy"
	}
	return set, merge(cfg, &set)
}

// CheckSession returns an error if New would refuse Config.Session with this pipeline. The error names the field.
func CheckSession(p *pipeline.Pipeline, session json.RawMessage) error {
	_, err := firstSettings(Config{Pipeline: p, Session: session})
	return err
}

// CheckStreams returns an error if New would refuse Config.Streams with this pipeline. The error names the stream.
func CheckStreams(cfg Config) error {
	if err := stream.Check(cfg.Streams); err != nil {
		return fmt.Errorf("server: Config.Streams: %w", err)
	}
	for _, s := range cfg.Streams {
		if cfg.Keys != nil && !cfg.Keys.Has(s.Principal) {
			return fmt.Errorf("server: Config.Streams: %s: principal %q has no key: the calls count for a principal of the server", s.Name, s.Principal)
		}
		set, err := firstSettings(cfg)
		if err == nil && len(s.Session) > 0 {
			err = conversation.Merge(cfg.Pipeline, mcp.New(cfg.MCP), &set, wire.Raw(s.Session))
		}
		if err != nil {
			return fmt.Errorf("server: Config.Streams: %s: session: %w", s.Name, err)
		}
	}
	return nil
}

// merge merges Config.Session into set.
func merge(cfg Config, set *wire.Session) error {
	if len(cfg.Session) == 0 {
		return nil
	}
	err := conversation.Merge(cfg.Pipeline, mcp.New(cfg.MCP), set, wire.Raw(cfg.Session))
	var wrong *wire.DecodeError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("%s: %s", wrong.Param, wrong.Message) // without the code and the byte, which say nothing about a configuration
	}
	return err
}

// ready answers whether the pipeline can answer: with 503 if a component loads or has failed. A missing component does not count,
// because the page says what its absence means.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	if s.calls.Draining() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "draining\n")
		return
	}
	for _, c := range s.cfg.Pipeline.Components() {
		if c.State == pipeline.StateLoading || c.State == pipeline.StateFailed {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = fmt.Fprintf(w, "%s %s: %s\n", c.Stage, c.Name, c.State) // the log says more: everybody may ask
			return
		}
	}
	_, _ = io.WriteString(w, "ready\n")
}

// snapshot returns what the metrics say of the server at a scrape.
func (s *Server) snapshot() telemetry.Snapshot {
	now, total := s.calls.Calls()
	load := s.calls.Load()
	relayed := 0
	if s.turn != nil {
		relayed = s.turn.Allocations()
	}
	var recordings []telemetry.Recording
	for _, r := range s.recorders {
		recordings = append(recordings, telemetry.Recording{Name: r.name, Waiting: r.bytes.Load(), Dropped: r.lost.Load()})
	}
	nodes, passed := 0, map[string]uint64(nil)
	if s.cfg.Cluster != nil {
		nodes, passed = s.cfg.Cluster.Stats()
	}
	found := telemetry.Snapshot{
		Nodes: nodes, Passed: passed,
		Stuck: s.engine.Stuck(), Relayed: relayed,
		Calls: now, TotalCalls: total, HalfOpen: load.HalfOpen, Draining: s.calls.Draining(), Media: s.engine.Stats(),
		Components: s.cfg.Pipeline.Components(), FullestQueue: load.FullestQueue, QueueSize: load.QueueSize,
		FreeMemory: load.FreeMemory, Secrets: load.Secrets,
		FreeMessages: load.FreeMessages, MostTurns: load.MostTurns, Kept: load.Kept, Abandoned: load.Abandoned, Recordings: recordings,
	}
	if j := s.cfg.Journal; j != nil {
		taken, _ := j.Counts()
		found.Journal = &telemetry.Journal{TakenOver: taken, Unjournalled: j.Without()}
	}
	return found
}
