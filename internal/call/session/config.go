package session

// The configuration of a session.

import (
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/coord/playout"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/survival"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Config is the configuration of a session. Pipeline and Settings are required.
type Config struct {
	Pipeline *pipeline.Pipeline
	// Settings are the session's first settings; the session fills in ID and ExpiresAt.
	Settings wire.Session
	Logger   *slog.Logger
	// Record, when not nil, sees every event: dir is "client" or "server". It must not keep text after it returns.
	Record func(session, dir string, text []byte)
	// Trace, when not nil, sees every transition of the machines. Took sees each event before its transitions, with how far
	// the response on air was sent and the state before the event, and Performed each effect after the session has performed it.
	Trace     func(session string, step coord.Step)
	Took      func(session string, at playout.Position, e coord.Event, met coord.State)
	Performed func(session string, f coord.Effect)
	// Timed, when not nil, sees the times of each turn that was answered, and the end of the user's speech.
	Timed func(session string, t *wire.AntiphonTurnMetrics, spoke time.Time)
	// AnswerAhead has the session begin to answer when the end of the user's turn is likely and not certain. An answer that turns out to be wrong is
	// thrown away: it costs work of the model and the synthesizer, two answers a turn at most.
	AnswerAhead bool
	// Options say what the agent can do in addition to answering.
	Options Options
	// CheckInvariants evaluates the invariants of coord/session after every event. A broken invariant is logged as an
	// error. For tests, and for finding faults.
	CheckInvariants bool
	// Env is the machine that the session runs on; nil is the real one.
	Env env.Env
	// Grace is how long a lost transport may take to come back; 0 takes 20 s.
	Grace time.Duration
	// Keep is Grace for a client that knows our extensions, which may reconnect over another connection; 0 takes 60 s.
	Keep time.Duration
	// Kept keeps the session when its client's connection, or its process, is lost.
	Kept Kept
	// Longest is how long the session may be; 0 takes the protocol's 60 minutes.
	Longest time.Duration
	Shared
	// Logbook, when not nil, says where the session is recorded, so that Replay can play it again.
	Logbook *logbook.Recording
	deck    *logbook.Deck // plays a logbook to the session; nil does not
	// Locks are the settings that Message may not change; Control may.
	Locks conversation.Locks
}

// Shared has what the sessions of a server share. The zero value shares nothing.
type Shared struct {
	// Limits is the budget of the session's responses. With nil the session has its own budget, which is larger than any
	// conversation needs.
	Limits ratelimit.Limiter
	// Guard bounds the calls into the Pipeline. Sessions that share a Pipeline share its Guard; with nil the session has its own.
	Guard *watchdog.Guard
	// Memory is the server's budget for the items of conversations; nil is none.
	Memory *conversation.Memory
	// Waiting is the server's budget for audio that waits.
	Waiting account.Purse
}

// Kept keeps a session when its client's connection, or its process, is lost. The zero value does neither.
type Kept struct {
	// Token is the token that the client gets to reconnect with; empty for none.
	Token string
	// Journal keeps what another process needs in order to go on with the session; nil for none. Call says whose call it is: the session fills in the id of the
	// conversation.
	Journal survival.Journal
	Call    journal.Call
	// Restore is what the journal knows of a session that goes on here; nil begins one. Config.Settings do not count then.
	Restore *journal.State
	// Longest is how long the call may be, with all its sessions; 0 takes 12 h. A session whose time is nearly over ends, and its client goes on with the call in
	// a fresh one. If Longest is not above Config.Longest, none follows the first.
	Longest time.Duration
}

// Options say what the agent can do in addition to answering.
type Options struct {
	// Tools are the tools that the server runs.
	Tools pipeline.ServerTools
	// MCP has the MCP servers that the session may use; nil: those that its client names.
	MCP *mcp.Directory
	// Principal is whose session it is, for tools whose work outlives the session; "" if the server has no keys.
	Principal string
	// TakeBack has the session take the end of a turn back if the user goes on, for clients that have not asked for it, too.
	TakeBack bool
	// Runs say how the client acts on runs.
	Runs runs.Access
	// Summaries say when the beginning of a long conversation is summarised.
	Summaries conversation.SummaryLimits
	// Digits say what the session does with keys of a telephone; "" takes DigitsToModel.
	Digits Digits
}
