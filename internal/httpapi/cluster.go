package httpapi

// Several servers: gives requests about calls of other servers, and new calls, to Config.Cluster.

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
)

// Cluster are the servers that share a store, with this one. Package internal/cluster has one, which this package does not import: it stands on a store.
type Cluster interface{ fleet.Cluster }

// Standing is how many calls a Handler has, and whether it takes more. Use is what a principal uses of a Handler.
type (
	Standing = fleet.Standing
	Use      = fleet.Use
)

// mark returns a random text with the mark of this server, if there are others.
func (h *Handler) mark(text string) string {
	if h.cfg.Cluster == nil {
		return text
	}
	return h.cfg.Cluster.Mark(text)
}

// elsewhere has another server answer a request about one of its calls. It returns the request as its client has sent it. A request that this server refuses stays here:
// its body is not read.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) (as *http.Request, answered bool) {
	if h.cfg.Cluster == nil {
		return r, false
	}
	r = h.cfg.Cluster.Arrived(w, r)
	id, token := fleet.About(r)
	if id == "" && token == "" {
		return r, false
	}
	who, p := h.identify(r)
	if p != nil {
		return r, false
	}
	done, p := h.count(r, who)
	if p != nil {
		return r, false // h.serve refuses it
	}
	defer done()
	epoch := h.epoch(id, token)
	if id != "" {
		return r, h.cfg.Cluster.Pass(w, r, fleet.MarkOf(id), epoch, nil)
	}
	return r, h.cfg.Cluster.Pass(w, r, token, epoch, func(ctx context.Context) string { return h.taking.Owner(ctx, token) })
}

// placed returns an endpoint that begins a call on the server that has most room. A call over a WebSocket stays here while there is room, because all its audio would pass
// through both servers.
func (h *Handler) placed(next endpoint) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if h.cfg.Cluster != nil && h.cfg.Cluster.Place(w, r, r.Method == http.MethodGet) {
			return nil
		}
		return next(w, r, who)
	}
}

// epoch returns the epoch of this server as the owner of the call with that id, or with that token if the id is empty. It is 0 if this server does not have the call.
func (h *Handler) epoch(id, token string) uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != "" {
		return h.calls[id].epoch()
	}
	for _, c := range h.calls {
		if c.token == token {
			return c.epoch()
		}
	}
	return 0
}

// epoch returns the epoch of this server as the owner of the call; 0 for nil. The first owner has 1.
func (c *callEntry) epoch() uint32 {
	switch {
	case c == nil:
		return 0
	case c.journal == nil:
		return 1
	}
	return c.journal.Epoch()
}

// sharesOfCalls returns how many calls each client secret and each client address has. The caller holds mu.
func (h *Handler) sharesOfCalls() map[string]int {
	all := map[string]int{}
	for _, c := range h.calls {
		for _, s := range c.shares {
			if s.of.kind != ofPrincipal && !c.evicted {
				all[s.of.String()]++
			}
		}
	}
	return all
}

// adopted returns the calls that this server has taken over, the newest first. The caller holds mu.
func (h *Handler) adopted() (all []fleet.Adopted) {
	var calls []*callEntry
	for _, c := range h.calls {
		if c.former != nil {
			calls = append(calls, c)
		}
	}
	slices.SortFunc(calls, func(one, other *callEntry) int {
		return cmp.Or(other.since.Compare(one.since), cmp.Compare(one.id, other.id))
	})
	for _, c := range calls {
		all = append(all, fleet.Adopted{Mark: fleet.MarkOf(c.id), Epoch: c.epoch()}, fleet.Adopted{Mark: c.token, Epoch: c.epoch()})
	}
	return all
}
