package httpapi

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/takeover"
	"github.com/antiphon-rt/antiphon/internal/journal"
)

// Taking over: a client reconnects, and this process goes on with a call that another process has served.

// unknownHere reports whether a reconnect was refused because this process does not have the call. The journal may have it.
func (h *Handler) unknownHere(p *problem) bool {
	return p != nil && p.Code == notReconnectable().Code && h.cfg.Journal != nil
}

// takeOver makes this process the owner of the call that a request reconnects. The call is entered, and has not begun.
func (h *Handler) takeOver(r *http.Request, who requester, overWebRTC bool) (c *callEntry, former link.Former, p *problem) {
	if h.Draining() {
		h.mu.Lock()
		defer h.mu.Unlock()
		return nil, former, h.stopping()
	}
	token, after := fleet.Reconnection(r)
	taken, err := h.taking.Take(r.Context(), takeover.Request{
		Token: token, After: after, Principal: who.principal, Secret: secretName(who), WebRTC: overWebRTC, Longest: h.rules.Load().LongestCall, Logger: h.cfg.Logger,
	})
	if err != nil {
		return nil, former, h.notTaken(err)
	}
	state := taken.State
	who.principal = state.Call.Principal // an expired client secret does not say whose it was
	c, p = h.enter(beginning{id: state.Call.ID, token: token, who: who, settings: state.Settings, locks: state.Call.Locks, journal: taken.Journal, former: state})
	if p != nil {
		taken.Journal.Close()
		return nil, former, p
	}
	h.cfg.Logger.Info("a call is taken over", "call", c.id, "epoch", taken.Journal.Epoch())
	if h.cfg.Cluster != nil {
		h.cfg.Cluster.TookOver()
	}
	return c, taken.Former, nil
}

// notTaken returns the response to a client whose call cannot be taken over.
func (h *Handler) notTaken(err error) *problem {
	switch {
	case errors.Is(err, takeover.ErrTransport):
		return otherTransport()
	case errors.Is(err, takeover.ErrUnavailable):
		h.cfg.Logger.Warn("a call cannot be taken over", "err", err)
		return (&problem{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: "the server cannot read the call from its store now: try again"}).After(fullRetry)
	}
	return notReserved(err)
}

// secretName returns the name of the client secret of a requester in the journal; "" for an API key.
func secretName(who requester) string {
	if who.secret == nil {
		return ""
	}
	return hex.EncodeToString(who.secret.ID[:])
}

// kept returns how the session of a call outlives its process.
func (h *Handler) kept(b beginning) session.Kept {
	k := session.Kept{Token: b.token, Restore: b.former, Longest: h.rules.Load().LongestCall, Call: journal.Call{
		ID: b.id, Principal: b.who.principal, Secret: secretName(b.who), Locks: b.locks, WebRTC: strings.HasPrefix(b.id, rtcPrefix), Began: h.env.Now().Unix(),
	}}
	if b.former != nil {
		k.Call = b.former.Call
	}
	if b.journal != nil {
		k.Journal = b.journal
	}
	return k
}

// rtcPrefix begins the id of a call over WebRTC.
const rtcPrefix = "rtc_"

// watch has the journal of a call tell its hub what is stored.
func (c *callEntry) watch(hub *link.Hub) {
	if c.journal == nil {
		return
	}
	hub.WithholdUncommitted()
	c.journal.Start(journal.Watch{Committed: hub.Committed, Fenced: func() {
		hub.Mute()
		c.session.Close(conn.Failed)
	}})
}

// takenOver returns the hub of a call that goes on here, with the client's new connection. It returns nil if the connection is gone already.
func (h *Handler) takenOver(c *callEntry, f link.Former, on link.Connection, peer *rtc.Peer, after string) *link.Hub {
	hub := link.NewRestoredHub(h.env, on.Output(), c.session.Resumable, f)
	if !hub.Attach(on, after) {
		return nil
	}
	return h.beganWith(c, hub, peer)
}

// takeOverSocket is reconnectSocket for a call of another process.
func (h *Handler) takeOverSocket(w http.ResponseWriter, r *http.Request, who requester) *problem {
	c, former, p := h.takeOver(r, who, false)
	if p != nil {
		return p
	}
	seen := c.former.Taken
	c.writeReconnectHeaders(w, seen)
	accepted, err := ws.Accept(w, r, realtimeProtocol, h.socketLimits(who))
	if err != nil {
		h.abandon(c.id, c)
		return nil // Accept has answered
	}
	link := ws.NewLink(h.socketLimits(who))
	tellSeen(r, c, link, seen)
	link.Open(context.WithoutCancel(r.Context()), accepted, receiver(c.session))
	_, after := fleet.Reconnection(r)
	hub := h.takenOver(c, former, link, nil, after)
	if hub == nil {
		h.abandon(c.id, c)
		link.Abandon()
		return nil
	}
	c.session.Start(hub)
	c.session.Returned()
	link.Begin()
	<-link.Gone()
	return nil
}

// takeOverCall is reconnectCall for a call of another process.
func (h *Handler) takeOverCall(w http.ResponseWriter, r *http.Request, who requester, offer string) *problem {
	c, former, p := h.takeOver(r, who, true)
	if p != nil {
		return p
	}
	peer, answer, err := h.cfg.Engine.Answer(r.Context(), offer, h.purse(c.owner).Open(rtc.OwnUnread), &returning{h.limited(c)})
	if err != nil {
		h.abandon(c.id, c)
		return badOffer(err)
	}
	_, after := fleet.Reconnection(r)
	hub := h.takenOver(c, former, peer, peer, after)
	if hub == nil {
		h.abandon(c.id, c)
		peer.Abandon() // no client has its answer
		return notReconnectable()
	}
	c.session.Start(hub)
	h.answerReconnected(w, r, c, c.former.Taken, answer)
	return nil
}

// returning is a session that goes on here, whose client connects over WebRTC.
type returning struct{ *limitedHandler }

// Opened implements link.Handler.
func (r *returning) Opened() {
	r.limitedHandler.Opened()
	r.Returned()
}
