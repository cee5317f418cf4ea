package signal

import "net/http"

// Runs: gives the requests under /v1/runs to Config.Runs.

// Runs answers the requests for the runs of a principal. Package server/runs/runsapi has one, which this package does not import: it stands on a store.
type Runs interface {
	Serve(w http.ResponseWriter, r *http.Request, principal string)
}

// background is the endpoint of all requests for runs. A client secret sees none: it is for calls, and a run belongs to a principal.
func (h *Handler) background(w http.ResponseWriter, r *http.Request, who requester) *problem {
	switch {
	case who.secret != nil:
		return keyWanted("is for calls")
	case h.cfg.Runs == nil:
		return &problem{
			status: http.StatusNotFound, code: "no_background_tools",
			message: "this server has no tools that work in the background: give a tool of antiphon.yaml background: true",
		}
	}
	h.cfg.Runs.Serve(w, r, who.principal)
	return nil
}
