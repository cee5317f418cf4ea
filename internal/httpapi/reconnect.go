package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/offers"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/takeover"
	"github.com/antiphon-rt/antiphon/wire"
)

// Reconnecting clients: gives a call another connection, or a WebRTC call another network path (ICE restart).

// seenHeader has the event_id of the client's last event that the server has accepted. resumeHeader has the token of the call, in both directions.
const (
	resumeHeader = fleet.ResumeHeader
	seenHeader   = "Antiphon-Resume-Seen"
)

// opensCall returns an endpoint that begins a call with anew, or reconnects one with again if the request has a token. To
// reconnect, a client secret may be used up or expired, because the call was begun with it.
func (h *Handler) opensCall(anew, again endpoint) endpoint {
	begins := fresh(h.placed(h.begins(anew)))
	return func(w http.ResponseWriter, r *http.Request, who requester) *problem {
		if p := h.attempt(who); p != nil {
			return p
		}
		token, _ := fleet.Reconnection(r)
		if token == "" {
			return begins(w, r, who)
		}
		return h.charges(h.payer(token, who), func() *problem { return again(w, r, who) })
	}
}

// payer returns who pays for a request that reconnects a call: who has begun the call. An expired client secret does not say whose it was.
func (h *Handler) payer(token string, who requester) requester {
	if c := h.findByToken(token, who); c != nil {
		return c.owner
	}
	return who
}

// notReconnectable returns the response to every token that reconnects no call, whatever is wrong with it.
func notReconnectable() *problem {
	return &problem{Status: http.StatusNotFound, Code: "resume_not_found", Param: resumeHeader, Message: "there is no call that this token resumes, or it has ended: call without " + resumeHeader}
}

// reconnect finds the call that a request reconnects, ends its old connection, and reserves the call for this request. seen is the id of the client's last event that the
// session has accepted. The caller calls done once the call has another connection, or once the attempt has failed.
func (h *Handler) reconnect(r *http.Request, who requester, overWebRTC bool) (c *callEntry, seen string, done func(), p *problem) {
	token, after := fleet.Reconnection(r)
	c = h.findByToken(token, who)
	if c == nil {
		return nil, "", nil, notReconnectable()
	}
	if webRTC := h.peerOf(c) != nil; webRTC != overWebRTC {
		return nil, "", nil, otherTransport()
	}
	owns, unknown := takeover.Owns(r.Context(), c.journal)
	if !owns {
		return nil, "", nil, notReconnectable()
	}
	if err := h.reserve(r.Context(), c.hub, after); errors.Is(err, link.ErrReplayLost) && unknown != nil {
		return nil, "", nil, h.notTaken(unknown) // perhaps another process owns the call, and has sent this event
	} else if err != nil {
		return nil, "", nil, notReserved(err)
	}
	<-c.hub.Detach()
	seen, ok := c.session.Leave()
	if !ok {
		c.hub.Unreserve()
		return nil, "", nil, notReconnectable()
	}
	return c, seen, sync.OnceFunc(c.hub.Unreserve), nil
}

// otherTransport returns the response to a client that reconnects over the other transport.
func otherTransport() *problem {
	return badField("resume_transport", resumeHeader, "a call is resumed the way it was begun: over WebRTC, or over a WebSocket")
}

// reserveTimeout is how long a request that reconnects a call waits for another one to be done. A client that loses its connection just
// after the server has accepted it comes back before the server is done with the first request.
const reserveTimeout = 2 * time.Second

// reserve reserves a call for a client that has seen the event with the id after. While another request has the call, it waits, for at most reserveTimeout.
func (h *Handler) reserve(ctx context.Context, hub *link.Hub, after string) error {
	due := make(chan struct{})
	limit := h.env.AfterFunc(reserveTimeout, func() { close(due) })
	defer limit.Stop()
	for {
		other := hub.Reserved()
		err := hub.Reserve(after)
		if !errors.Is(err, link.ErrReconnecting) {
			return err
		}
		if other == nil {
			continue // the other request has begun meanwhile
		}
		select {
		case <-other:
		case <-due:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// notReserved returns the response to a client whose call cannot be reserved for it.
func notReserved(err error) *problem {
	switch {
	case errors.Is(err, link.ErrReconnecting):
		return &problem{Status: http.StatusConflict, Code: "resume_in_progress", Message: "the call is being resumed by another request: wait for its answer"}
	case errors.Is(err, link.ErrReplayLost):
		return &problem{Status: http.StatusGone, Code: "resume_lost", Message: "more has happened in the call than is kept for one who comes back: call without Antiphon-Resume"}
	}
	return notReconnectable()
}

// findByToken returns the call with that token. It returns nil if there is no such call, or if the requester may not control it.
func (h *Handler) findByToken(token string, who requester) *callEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if c.token == token && c.hub != nil && who.mayControl(c.owner) {
			return c
		}
	}
	return nil
}

// reconnectCall is call for a client that reconnects.
func (h *Handler) reconnectCall(w http.ResponseWriter, r *http.Request, who requester) *problem {
	sdp, p := offers.Read(w, r)
	if p != nil {
		return p
	}
	if err := h.cfg.Engine.Check(sdp); err != nil { // before the call loses its connection, or its owner
		return badOffer(err)
	}
	c, seen, done, p := h.reconnect(r, who, true)
	if h.unknownHere(p) {
		return h.takeOverCall(w, r, who, sdp)
	}
	if p != nil {
		return p
	}
	defer done()
	peer, answer, err := h.cfg.Engine.Reconnect(r.Context(), sdp, h.purse(c.owner).Open(rtc.OwnUnread), &reconnected{h.limited(c)}, h.peerOf(c))
	if err != nil {
		return badOffer(err)
	}
	_, after := fleet.Reconnection(r)
	if !c.hub.Attach(peer, after) {
		peer.Abandon() // no client has its answer
		return notReconnectable()
	}
	h.setPeer(c, peer)
	h.answerReconnected(w, r, c, seen, answer)
	return nil
}

// answerReconnected answers the offer of a client that reconnects.
func (h *Handler) answerReconnected(w http.ResponseWriter, r *http.Request, c *callEntry, seen, answer string) {
	c.writeReconnectHeaders(w, seen)
	w.Header().Set("Location", "/v1/realtime/calls/"+c.id)
	h.linkICE(w, r, c.owner)
	offers.Write(w, http.StatusCreated, answer)
}

// writeReconnectHeaders writes the token, and the id of the client's last event that the server has accepted.
func (c *callEntry) writeReconnectHeaders(w http.ResponseWriter, seen string) {
	w.Header().Set(resumeHeader, c.token)
	w.Header().Set(seenHeader, seen)
}

// reconnected is a session whose client reconnects over WebRTC. The client is back once its data channel is open.
type reconnected struct{ *limitedHandler }

// Opened implements link.Handler.
func (r *reconnected) Opened() {
	r.connected()
	r.Restored()
}

// reconnectSocket is socketCall for a client that reconnects.
func (h *Handler) reconnectSocket(w http.ResponseWriter, r *http.Request, who requester) *problem {
	c, seen, done, p := h.reconnect(r, who, false)
	if h.unknownHere(p) {
		return h.takeOverSocket(w, r, who)
	}
	if p != nil {
		return p
	}
	defer done()
	c.writeReconnectHeaders(w, seen)
	conn, err := ws.Accept(w, r, realtimeProtocol, h.socketLimits(who))
	if err != nil {
		return nil // Accept has answered
	}
	socket := ws.NewLink(h.socketLimits(who))
	_, after := fleet.Reconnection(r)
	tellSeen(r, c, socket, seen)
	socket.Open(context.WithoutCancel(r.Context()), conn, receiver(c.session))
	if !c.hub.Attach(socket, after) {
		_ = socket.Close() // the session has ended
		return nil
	}
	done()
	c.session.Restored() // before the link reads: it reports the end of this connection after Restored
	socket.Begin()
	<-socket.Gone()
	return nil
}

// tellSeen tells a page, which cannot read the headers of the response, what writeReconnectHeaders writes.
func tellSeen(r *http.Request, c *callEntry, socket *ws.Link, seen string) {
	if r.Header.Get(resumeHeader) != "" {
		return
	}
	ack := &wire.AntiphonAck{Acknowledges: seen, Resume: c.token}
	ack.SetID("event_" + rand.Text())
	_ = socket.Send(link.Encode(ack), nil) // its queue is empty
}

// restart negotiates a new network path to the client of a call over WebRTC (ICE restart).
func (h *Handler) restart(w http.ResponseWriter, r *http.Request, who requester) *problem {
	peer, p := h.findPeer(r.PathValue("id"), who)
	if p != nil {
		return p
	}
	sdp, p := offers.Read(w, r)
	if p != nil {
		return p
	}
	answer, err := peer.Restart(r.Context(), sdp)
	switch {
	case errors.Is(err, link.ErrClosed):
		return notRestartable()
	case err != nil:
		return badOffer(err)
	}
	h.linkICE(w, r, who)
	offers.Write(w, http.StatusOK, answer)
	return nil
}

// findPeer returns the peer of a call over WebRTC whose client is connected. It returns an error response if there is no such call, or if the requester may not control it.
func (h *Handler) findPeer(id string, who requester) (*rtc.Peer, *problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[id]
	switch {
	case c == nil || !who.mayControl(c.owner) || c.hub == nil:
		return nil, noCall()
	case c.peer == nil || !c.hub.Connected():
		return nil, notRestartable()
	}
	return c.peer, nil
}

// notRestartable returns the response for a call that has no peer to restart.
func notRestartable() *problem {
	return &problem{Status: http.StatusConflict, Code: "restart_not_possible", Message: "the call has no connection over WebRTC that could be restarted: offer another one with " + resumeHeader}
}

// badOffer returns the response to an offer that was refused with err, or that the server failed to answer.
func badOffer(err error) *problem {
	if !errors.Is(err, rtc.ErrBadSDP) && !errors.Is(err, rtc.ErrNoAudio) {
		return internal("call_failed", err)
	}
	return &problem{Status: http.StatusBadRequest, Code: "invalid_offer", Message: err.Error(), Param: "sdp"}
}
