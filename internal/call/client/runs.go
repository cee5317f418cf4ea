package client

// The events with which a client answers and cancels runs. They are carried out one after the other, in their order.

import (
	"context"

	"github.com/antiphon-rt/antiphon/internal/call/action"
	"github.com/antiphon-rt/antiphon/internal/call/fault"
	"github.com/antiphon-rt/antiphon/wire"
)

// RunAccess says how a client acts on the runs of the session's principal.
type RunAccess struct {
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
	by    Origin
	event wire.ClientEvent
}

// actOnRun takes a request for a run. Its answer comes from RunActed.
func (c *Client) actOnRun(o Origin, e wire.ClientEvent) action.List {
	extended, keyed := c.extended, c.Runs.Keyed
	if o.Side != nil {
		extended, keyed = o.Side.Extended(), o.Side.Rules
	}
	_, follows := e.(*wire.AntiphonRunFollow)
	switch {
	case !extended:
		return failed(&fault.Failure{Code: "unsupported_event", Param: "type", Message: e.Type() + " is an extension: send antiphon.hello first"})
	case !keyed:
		return failed(&fault.Failure{Code: "client_secret_not_allowed", Message: "a client secret does not act on runs: begin the call with an API key"})
	case follows && !c.Runs.Keyed:
		return failed(&fault.Failure{Code: "client_secret_not_allowed", Message: "the call is one of a client secret, whose holder would hear of all runs that it follows: read the events of the run over HTTP"})
	case c.Runs.Act == nil:
		return failed(&fault.Failure{Code: CodeNoBackgroundTools, Message: NoBackgroundTools})
	case len(c.acts) == maxActs:
		return failed(&fault.Failure{Code: "rate_limit_exceeded", Message: "too many requests for runs wait in this session: send this one again when they are answered"})
	}
	c.acts = append(c.acts, act{o, e})
	if len(c.acts) == 1 {
		c.Act(e)
	}
	return nil
}

// RunActed returns the answer to the request for a run that has ended, and who has sent it. refused says why it was refused; nil if it was carried out. The
// next request begins.
func (c *Client) RunActed(refused *wire.Error) (o Origin, out action.List) {
	o = c.acts[0].by
	c.acts = c.acts[1:]
	if len(c.acts) > 0 {
		c.Act(c.acts[0].event)
	}
	if refused != nil {
		return o, failed(&fault.Failure{Type: refused.Type, Code: refused.Code, Message: refused.Message})
	}
	return o, counted(o)
}
