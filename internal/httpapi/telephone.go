package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpapi/telephones"
	"github.com/antiphon-rt/antiphon/wire"
)

// Telephone calls: package telephones decides on them, and then they are calls like all others.

// Ring decides on a telephone call, and returns when it is refused or when it was accepted and is over. ctx is done when the caller gives up, or when the call has rung for too long.
func (h *Handler) Ring(ctx context.Context, t telephones.Telephone, plan telephones.Plan) {
	h.phones.Ring(ctx, t, plan)
}

// phoneCalls are the calls of a Handler as package telephones begins them.
type phoneCalls struct{ h *Handler }

func ownerOf(o telephones.Owner) requester {
	return requester{principal: o.Principal, address: o.Address}
}

// NewID implements telephones.Calls.
func (c phoneCalls) NewID() string { return rtcPrefix + c.h.mark(rand.Text()) }

// Settings implements telephones.Calls.
func (c phoneCalls) Settings(patches ...wire.Raw) (wire.Session, *problem) {
	set := c.h.cfg.Settings.Clone()
	for _, p := range patches {
		if len(p) == 0 {
			continue
		}
		if err := conversation.Merge(c.h.cfg.Pipeline, c.h.cfg.Options.MCP, &set, p); err != nil {
			return set, badSession(err)
		}
	}
	return set, nil
}

// Begin implements telephones.Calls. The caller has the link begin.
func (c phoneCalls) Begin(ctx context.Context, id string, set wire.Session, of telephones.Owner, t phone.Transport) (*phone.Link, <-chan struct{}, *problem) {
	entry, p := c.h.newCall(ctx, id, set, ownerOf(of))
	if p != nil {
		return nil, nil, p
	}
	l, err := phone.NewLink(t, entry.session)
	if err != nil {
		c.h.abandon(id, entry)
		return nil, nil, internal("internal", err)
	}
	entry.session.Start(c.h.began(entry, l, nil))
	return l, entry.session.Done(), nil
}

// Charge implements telephones.Calls.
func (c phoneCalls) Charge(of telephones.Owner) *problem { return c.h.charge(ownerOf(of)) }

// SocketLimits implements telephones.Calls.
func (c phoneCalls) SocketLimits(of telephones.Owner) ws.Limits { return c.h.socketLimits(ownerOf(of)) }

// Refuse implements telephones.Calls.
func (c phoneCalls) Refuse(w http.ResponseWriter, r *http.Request, p *problem) { c.h.refuse(w, r, p) }

// phoneOf returns the telephone call with that id if the requester may control it, or nil.
func (h *Handler) phoneOf(id string, who requester) *telephones.Call {
	if c := h.phones.Find(id); c != nil && who.mayControl(ownerOf(c.Owner())) {
		return c
	}
	return nil
}

// decidesPhone returns the endpoint of a request about a telephone call. It wants a key.
func (h *Handler) decidesPhone(next func(c *telephones.Call, r *http.Request, body []byte) *problem) endpoint {
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if who.secret != nil {
			return keyWanted("decides on no telephone call")
		}
		c := h.phoneOf(r.PathValue("id"), who)
		if c == nil {
			return telephones.NoCall(r.PathValue("id"))
		}
		body, p := telephones.Body(w, r)
		if p == nil {
			p = next(c, r, body)
		}
		if p != nil {
			return p
		}
		answer.JSON(w, http.StatusOK, struct{}{})
		return nil
	}
}
