package httpapi

// Runs: gives the requests under /v1/runs, and the events of calls that act on runs, to Config.Runs.

import (
	"context"
	"net/http"

	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/wire"
)

// Runs answers the requests for the runs of a principal. Package internal/runs/runsapi has one, which this package does not import, because it needs a store.
type Runs interface {
	// Serve answers an HTTP request.
	Serve(w http.ResponseWriter, r *http.Request, principal string)
	// Act carries out an event of a call that acts on a run, within the time of ctx, which has the session (tool.CallerOf). It returns nil once that is done.
	Act(ctx context.Context, principal string, e wire.ClientEvent) *wire.Error
}

// serveRuns is the endpoint of all requests for runs. It refuses client secrets: they are for calls, and a run belongs to a principal.
func (h *Handler) serveRuns(w http.ResponseWriter, r *http.Request, who requester) *problem {
	switch {
	case who.secret != nil:
		return keyWanted("is for calls")
	case h.cfg.Runs == nil:
		return &problem{Status: http.StatusNotFound, Code: runs.CodeNoBackgroundTools, Message: runs.NoBackgroundTools}
	}
	h.cfg.Runs.Serve(w, r, who.principal)
	return nil
}

// runsOf returns how the events of a call act on the runs of its principal. A principal whose keys are gone may not act any more, although its calls go on.
func (h *Handler) runsOf(who requester) runs.Access {
	access := runs.Access{Keyed: who.secret == nil}
	if h.cfg.Runs == nil {
		return access
	}
	access.Act = func(ctx context.Context, e wire.ClientEvent) *wire.Error {
		if keys := h.rules.Load().keys; keys != nil && !keys.Has(who.principal) {
			return &wire.Error{Code: "invalid_api_key", Message: "the API key of this call is not valid any more: call again with another one"}
		}
		return h.cfg.Runs.Act(ctx, who.principal, e)
	}
	return access
}
