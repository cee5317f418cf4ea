package runs

// The events with which a client answers and cancels runs. They are carried out one after the other, in their order.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// Access says how a client acts on the runs of the session's principal.
type Access struct {
	// Act carries out an antiphon.run.reply, an antiphon.run.cancel or an antiphon.run.follow, within the time of ctx, which has the session (tool.CallerOf). It returns nil once that is done. It is safe for concurrent use.
	// nil: the server has no tools that work in the background.
	Act func(ctx context.Context, e wire.ClientEvent) *wire.Error
	// Keyed: the call was begun with an API key, or the server asks for no keys. A call of a client secret may not act on runs.
	Keyed bool
}

// The error for a request for runs to a server that has none.
const (
	CodeNoBackgroundTools = "no_background_tools"
	NoBackgroundTools     = "this server has no tools that work in the background: give a tool of antiphon.yaml background: true"
)

// maxActs is how many requests for runs a session keeps.
const maxActs = 16

// act is a request for a run, and who has sent it.
type act struct {
	by    room.Origin
	event wire.ClientEvent
}

// Act takes a request of the client, or of a side-band controller, for a run. Its answer comes when it has ended.
func (r *Runs) Act(o room.Origin, e wire.ClientEvent) room.List {
	extended, keyed := r.Settings.Client.Extended, r.Access.Keyed
	if o.Side != nil {
		extended, keyed = o.Side.Extended(), o.Side.Rules
	}
	_, follows := e.(*wire.AntiphonRunFollow)
	switch {
	case !extended:
		return room.Failed(&room.Failure{Code: "unsupported_event", Param: "type", Message: e.Type() + " is an extension: send antiphon.hello first"})
	case !keyed:
		return room.Failed(&room.Failure{Code: "client_secret_not_allowed", Message: "a client secret does not act on runs: begin the call with an API key"})
	case follows && !r.Access.Keyed:
		return room.Failed(&room.Failure{Code: "client_secret_not_allowed", Message: "the call is one of a client secret, whose holder would hear of all runs that it follows: read the events of the run over HTTP"})
	case r.Access.Act == nil:
		return room.Failed(&room.Failure{Code: CodeNoBackgroundTools, Message: NoBackgroundTools})
	case len(r.acts) == maxActs:
		return room.Failed(&room.Failure{Code: "rate_limit_exceeded", Message: "too many requests for runs wait in this session: send this one again when they are answered"})
	}
	r.acts = append(r.acts, act{o, e})
	if len(r.acts) == 1 {
		r.begin(e)
	}
	return nil
}

// acted returns the answer to the request for a run that has ended, and who has sent it. refused says why it was refused; nil if it was carried out. The
// next request begins.
func (r *Runs) acted(refused *wire.Error) (o room.Origin, out room.List) {
	o = r.acts[0].by
	r.acts = r.acts[1:]
	if len(r.acts) > 0 {
		r.begin(r.acts[0].event)
	}
	if refused != nil {
		return o, room.Failed(&room.Failure{Type: refused.Type, Code: refused.Code, Message: refused.Message})
	}
	return o, o.Counted()
}

// Acting reports whether requests of the client have not ended yet. If their process ends now, the client sends them again.
func (r *Runs) Acting() bool { return len(r.acts) > 0 }
