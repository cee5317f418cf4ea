package httpapi

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/budget"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/load"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/observe"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/origin"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/takeover"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/speechapi"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// The HTTP handler and the calls that it serves: it begins, finds and ends them.

// Config is what a Handler serves. Engine, Pipeline and Settings are required.
type Config struct {
	Engine   *rtc.Engine
	Pipeline *pipeline.Pipeline
	Settings wire.Session // the settings of a new session, before the client's own settings
	Version  string       // sent as Antiphon-Version
	Logger   *slog.Logger
	// Keys are the API keys; nil asks for no key.
	Keys apikey.Keys
	// Secrets say what client secrets allow.
	Secrets SecretRules
	// Rates bound what each principal uses.
	Rates Rates
	// Origins are the origins of pages that may call, such as "https://example.org"; "*" is every page. Pages of the server's own
	// host may always call. On a loopback address, pages of every loopback address may call.
	Origins []string
	// Limits limit what the server and its clients take.
	Limits
	// ICE are the STUN and TURN servers of clients.
	ICE ICEServers
	// Stored has the parts that need a store.
	Stored

	Observers
	// AnswerAhead has every session begin to answer before the end of a turn is certain.
	AnswerAhead bool
	// Options say what the agent can do in addition to answering.
	Options session.Options
	// Streams are the telephones that may come over a WebSocket.
	Streams []stream.Config
	// Out says which telephone calls the server places.
	Out telephones.Out
	// CheckInvariants has every session check its machines after every event.
	CheckInvariants bool
}

// Stored has the parts of a Handler that need a store. This package does not import the store.
type Stored struct {
	// Once lets a request with the header Idempotency-Key count once, however often its client sends it; nil does not read the header. A once.Handler of package
	// internal/once is one.
	Once Once
	// Runs answers the requests for runs at /v1/runs, and the events of calls that act on runs; nil for none. A runsapi.Handler of package internal/runs/runsapi is one.
	Runs Runs
	// SecretBucket keeps client secrets, so that other servers and a later process know them; nil keeps them in memory. A cluster.SecretBucket of package
	// internal/cluster is one.
	SecretBucket SecretBucket
	// Cluster are the servers that share a store with this one; nil for none. A cluster.Node of package internal/cluster is one.
	Cluster Cluster
	// Journal keeps the calls for the time after the end of this process; nil: they end with it. Package internal/journal/logstore has its log.
	Journal *journal.Book
}

// Observers get what happens in the sessions. nil for none.
type Observers = observe.Observers

// fullRetry is how long a client is told to wait when the server is full or stops.
const fullRetry = 10 * time.Second

// Handler answers the requests under /v1/realtime and /v1/antiphon. It is safe for concurrent use.
type Handler struct {
	cfg      Config // rules has the keys and limits that hold now
	rules    atomic.Pointer[rules]
	env      env.Env
	mux      *http.ServeMux
	secrets  *secrets.Store
	origins  origin.Policy
	budgets  *budget.Budgets
	guard    *watchdog.Guard // bounds the calls of all sessions into the pipeline
	memory   *conversation.Memory
	messages *account.Budget
	speech   *speechapi.Handler

	taking *takeover.Taking

	attempts struct {
		calls budget.Attempts[shareOf]
		keyed budget.Attempts[secrets.ID] // requests with an idempotency key
	}
	load load.Meter

	mu     sync.Mutex
	calls  map[string]*callEntry // by call id
	total  uint64
	joined sync.WaitGroup
	phones *telephones.Desk
	ending
}

// ending says what a Handler that stops does.
type ending struct {
	// draining: new calls are refused. closed: all calls were asked to end.
	draining, closed bool
}

// callEntry is one call that the server serves.
type callEntry struct {
	id      string
	session *session.Session
	owner   requester
	token   string    // the token with which its client reconnects
	hub     *link.Hub // nil for a call that has not begun
	peer    *rtc.Peer // the newest; nil for a call over a WebSocket

	journal *journal.Writer // nil: the call ends with its process
	former  *journal.State  // of a call that another process has begun; nil for other calls

	shares    []share
	since     time.Time // the request that began it
	talk      *observe.Talk
	connected bool // its client has connected once
	evicted   bool // it was ended to make room, and does not count any more
	hungUp    bool // it was ended by a request: it is over, although its session may still end
}

// New returns a Handler. The caller closes it.
func New(cfg Config) *Handler {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	limits := cfg.WithDefaults(shareOfAll(cfg.Keys))
	h := &Handler{
		cfg: cfg, env: env.System(), mux: http.NewServeMux(), secrets: secrets.NewStore(cfg.SecretBucket), budgets: budget.New(cfg.Rates),
		memory: conversation.NewMemory(limits.Memory, limits.MaxSessions), messages: account.New(limits.MessageMemory),
		calls: map[string]*callEntry{}, taking: takeover.New(cfg.Journal, env.System()), guard: watchdog.New(env.System(), watchdog.Defaults()),
	}
	h.phones = telephones.New(phoneCalls{h}, h.env, cfg.Logger, cfg.Out)
	h.speech = speechapi.New(speechapi.Config{Pipeline: cfg.Pipeline, Guard: h.guard.Logging(cfg.Logger), Voice: cfg.Settings.Audio.Output.Voice, Logger: cfg.Logger})
	h.setRules(Rules{Keys: cfg.Keys, Limits: cfg.Limits, Secrets: cfg.Secrets})
	h.origins = origin.Policy{Origins: cfg.Origins, Refused: origin.Log(cfg.Logger), Keyed: func() bool { return h.rules.Load().keys != nil }}
	h.route()
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		h.origins.Preflight(w, r)
		return
	}
	if r, answered := h.elsewhere(w, r); !answered {
		h.mux.ServeHTTP(w, r)
	}
}

// Drain refuses new calls, and asks every call to end at its next pause, and after within in any case. It returns when there is no call
// any more, or when ctx is done. A client that has lost its connection may still reconnect.
func (h *Handler) Drain(ctx context.Context, within time.Duration) error {
	h.mu.Lock()
	first, calls, began := !h.draining, len(h.calls), h.env.Now()
	h.draining = true
	for _, c := range h.calls {
		if first {
			go c.session.Drain(within) // it may wait for the queue of a busy session; h.joined waits until the session has ended
		}
	}
	h.mu.Unlock()
	if !first {
		return h.wait(ctx)
	}
	h.cfg.Logger.Info("drain begins", "calls", calls, "within", within)
	err := h.wait(ctx)
	left, _ := h.Calls()
	h.cfg.Logger.Info("drain ends", "calls_left", left, "took", h.env.Now().Sub(began).Round(time.Millisecond))
	return err
}

// Draining reports whether Drain or Close has begun.
func (h *Handler) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.draining || h.closed
}

// Close ends every call and waits until nothing of them is left, or until ctx is done. The Handler refuses new calls.
func (h *Handler) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	for _, c := range h.calls {
		go c.session.Close(conn.ServerStops) // it may wait for the queue of a busy session; h.joined waits until the session has ended
	}
	h.mu.Unlock()
	return h.wait(ctx)
}

// wait returns when nothing of the calls is left, or when ctx is done.
func (h *Handler) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		h.joined.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Calls returns how many calls there are now and how many there were in all.
func (h *Handler) Calls() (now int, total uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls), h.total
}

// newCall makes a session and adds it to h.calls under the call id. It returns an error response if there is no room, if the server stops, or if the requester's secret is used up.
func (h *Handler) newCall(ctx context.Context, id string, settings wire.Session, who requester) (*callEntry, *problem) {
	if p := h.useSecret(ctx, who); p != nil {
		return nil, p
	}
	b := beginning{id: id, token: h.mark(rand.Text()), who: who, settings: settings, locks: h.locks(who)}
	if h.cfg.Journal != nil {
		b.journal = h.cfg.Journal.Begin(b.token, h.cfg.Logger.With("call", id))
	}
	c, p := h.enter(b)
	if p != nil {
		h.returnSecret(who)
	}
	return c, p
}

// beginning has what a call begins with in this process.
type beginning struct {
	id, token string
	who       requester
	settings  wire.Session
	locks     conversation.Locks
	journal   *journal.Writer
	former    *journal.State
}

// stopping returns an error response if the server takes no calls any more. The caller holds mu.
func (h *Handler) stopping() *problem {
	if !h.closed && !h.draining {
		return nil
	}
	return (&problem{Status: http.StatusServiceUnavailable, Code: "server_stopping", Message: "the server is stopping: call again in a moment"}).After(fullRetry)
}

// enter makes a session and adds it to h.calls. The caller has marked the requester's secret as used.
func (h *Handler) enter(b beginning) (*callEntry, *problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.stopping(); p != nil {
		return nil, p
	}
	if b.former == nil || h.calls[b.id] == nil { // else the call has its place, and moves to a fresh session
		if p := h.admit(b.who, b.former != nil); p != nil {
			return nil, p
		}
	}
	who, logger := b.who, h.cfg.Logger.With("call", b.id)
	if who.principal != "" {
		logger = logger.With("principal", who.principal)
	}
	options := h.cfg.Options
	options.Principal, options.Runs = who.principal, h.runsOf(who)
	s, err := session.New(session.Config{
		Pipeline: h.cfg.Pipeline, Settings: b.settings, Logger: logger, Record: h.cfg.Recorder(who.principal), Trace: h.cfg.Trace, Logbook: h.cfg.Recording(),
		Took: h.cfg.Took, Performed: h.cfg.Performed, Timed: h.cfg.Timed,
		Grace: h.cfg.Grace, Keep: h.cfg.Keep, Longest: h.rules.Load().Longest, CheckInvariants: h.cfg.CheckInvariants,
		AnswerAhead: h.cfg.AnswerAhead, Options: options, Kept: h.kept(b),
		Locks: b.locks, Shared: session.Shared{Limits: h.budgets.Limiter(who.budget()), Guard: h.guard, Memory: h.memory, Waiting: h.purse(who)},
	})
	if err != nil {
		return nil, internal("internal", err)
	}
	c := &callEntry{id: b.id, session: s, owner: who, token: b.token, journal: b.journal, former: b.former, shares: h.shares(who), since: h.env.Now()}
	c.talk = h.cfg.Talk(who.principal, c.since)
	h.calls[c.id] = c
	h.joined.Go(func() {
		<-s.Done()
		if c.journal != nil {
			c.journal.Close()
		}
		h.cfg.Over(s.ID())
		h.mu.Lock()
		defer h.mu.Unlock()
		h.talked(c)
		if h.calls[c.id] == c { // another process may have had the call meanwhile, and this one again
			delete(h.calls, c.id)
		}
	})
	return c, nil
}

// abandon removes a call that never began; it does not count.
func (h *Handler) abandon(id string, c *callEntry) {
	c.session.Abandon()
	if c.former == nil {
		h.returnSecret(c.owner)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls[id] == c {
		delete(h.calls, id)
	}
}

// began counts a call that was set up on that connection, and opens it to side-band controllers. peer is that connection over WebRTC; nil over others. began returns the call's link.
func (h *Handler) began(c *callEntry, on link.Connection, peer *rtc.Peer) *link.Hub {
	return h.beganWith(c, link.NewHub(h.env, on, c.session.Resumable), peer)
}

// beganWith is began for a call that has its link already.
func (h *Handler) beganWith(c *callEntry, hub *link.Hub, peer *rtc.Peer) *link.Hub {
	hub.ShareMemory(h.purse(c.owner).Open(link.OwnWithheld), h.purse(c.owner).Spare().Open(link.OwnReplay))
	c.watch(hub)
	h.cfg.Begun(c.id, c.session.ID(), c.owner.principal, peer != nil, c.since)
	h.mu.Lock()
	defer h.mu.Unlock()
	c.hub, c.peer = hub, peer
	c.connected = c.connected || peer == nil // a WebSocket is connected
	h.total++
	return hub
}

// peerOf returns the newest peer of a call over WebRTC, and nil for a call over a WebSocket.
func (h *Handler) peerOf(c *callEntry) *rtc.Peer {
	h.mu.Lock()
	defer h.mu.Unlock()
	return c.peer
}

// setPeer notes the newest peer of a call over WebRTC.
func (h *Handler) setPeer(c *callEntry, peer *rtc.Peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.peer = peer
}

// find returns the session of the call with that id, and its hub if the call has begun. It returns an error response if there is no
// such call, or if the requester may not control it. hangsUp says that the request ends the call: find returns it to no later request.
func (h *Handler) find(id string, who requester, hangsUp bool) (*session.Session, *link.Hub, *problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[id]
	if c == nil || c.hungUp || !who.mayControl(c.owner) {
		return nil, nil, noCall()
	}
	c.hungUp = hangsUp
	return c.session, c.hub, nil
}

// hangup ends a call.
func (h *Handler) hangup(w http.ResponseWriter, r *http.Request, who requester) *problem {
	if c := h.phoneOf(r.PathValue("id"), who); c != nil && c.Decline() {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	s, _, p := h.find(r.PathValue("id"), who, true)
	if p != nil {
		return p
	}
	s.Close(conn.ByClient)
	w.WriteHeader(http.StatusOK)
	return nil
}

// components answers with the components of the pipeline and their states. A client on this machine also learns where their servers are.
func (h *Handler) components(w http.ResponseWriter, _ *http.Request, who requester) *problem {
	all := slices.Clone(h.cfg.Pipeline.Components())
	for i := range all {
		if !who.address.IsLoopback() {
			all[i].Detail = room.Public(all[i].Detail)
		}
	}
	answer.JSON(w, http.StatusOK, struct {
		Pipeline   string               `json:"pipeline"`
		Components []pipeline.Component `json:"components"`
	}{h.cfg.Pipeline.Name, all})
	return nil
}
