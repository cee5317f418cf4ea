// Package runs has what a call knows of runs, which are work in the background. Their news reach the client and the conversation, the agent answers the news if nobody
// speaks, and the client acts on runs. The server asks the user the question of a run itself, and takes the answer from a turn of the user.
//
// A Runs belongs to the session's goroutine. Its timers and requests post Events, which the actor gives to Handle. Files: news.go (news of runs), asks.go and
// approvals.go (questions and answers by speech), words.go (the words of a language), acts.go (requests of the client), followed.go (the runs that the session follows).
package runs

import (
	"context"
	"log/slog"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// Parts are what a Runs works with. They belong to the session's goroutine, as the Runs does.
type Parts struct {
	Env          env.Env
	Log          *slog.Logger
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	Generator    *speaking.Generator
	Player       *speaking.Player
	// Access says how the client acts on runs.
	Access Access
	// SpokenApproval: the server asks by speech for the approval of calls of remote tools.
	SpokenApproval bool
	// Caller is the session, for the runs that it begins or follows.
	Caller *tool.Caller
	// Context ends with the session; Workers are its goroutines.
	Context context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	Workers *env.Group
	// Post takes the Events, from any goroutine. It reports false when the session has ended.
	Post func(Event) bool
}

// Runs are the runs of one call. See the package comment.
type Runs struct {
	Parts
	informed  bool // the model has got news that nobody has answered yet
	approvals Approvals
	question  question // of the approvals, that was asked last
	followed  followed
	held      []heldNews // news that came while the model wrote a response, at most maxHeldNews
	acts      []act      // the requests of the client that have not ended, in order; the first one is under way
}

// New returns a Runs without runs.
func New(p Parts) *Runs { return &Runs{Parts: p} }

// Event is something that a Runs or a tool has posted: one of News, Followed, FollowedAgain, FollowAgainDue, Acted, SpokenActed.
//
//sumtype:decl
type Event interface{ event() }

type (
	// News is what work says that a tool call of this session has begun.
	News struct{ tool.News }
	// Followed: the session follows a run from now on, or there are no more news of it.
	Followed struct {
		Run     string
		Follows bool
	}
	// FollowedAgain: the session of before has followed a run, and this one does so now; Refused says why not.
	FollowedAgain struct {
		Run     string
		Refused *wire.Error
	}
	// FollowAgainDue: it is time to try again to follow a run.
	FollowAgainDue struct{ Run string }
	// Acted: the client's request for a run has ended. Refused says why it was refused; nil if it was carried out.
	Acted struct{ Refused *wire.Error }
	// SpokenActed: the user's spoken answer to a run was taken, or refused.
	SpokenActed struct {
		Run     string
		Refused *wire.Error
	}
)

func (News) event()           {}
func (Followed) event()       {}
func (FollowedAgain) event()  {}
func (FollowAgainDue) event() {}
func (Acted) event()          {}
func (SpokenActed) event()    {}

// Handle takes an event. o is the client's event that the actions answer; the zero Origin is none.
func (r *Runs) Handle(e Event, s *coord.State) (o room.Origin, out room.List) {
	switch e := e.(type) {
	case News:
		out = r.news(e.News, s)
	case Followed:
		r.followed.set(e.Run, e.Follows)
	case FollowedAgain:
		r.followedAgain(e)
	case FollowAgainDue:
		r.followAgain(e.Run)
	case Acted:
		return r.acted(e.Refused)
	case SpokenActed:
		out = r.spokenActed(e)
	}
	return o, out
}

// Strict reports whether a turn of the user may answer a question now. Its voice must be asked about.
func (r *Runs) Strict() bool { return r.approvals.Open() }

// Informed reports whether the model has got news that nobody has answered yet.
func (r *Runs) Informed() bool { return r.informed }
