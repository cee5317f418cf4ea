package signal

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/ws"
	"github.com/antiphon-rt/antiphon/wire"
)

// The headers of a call that goes on over another connection. A page that opens a WebSocket cannot set headers: it sends the
// token and the event in the query.
const (
	resumeHeader = "Antiphon-Resume"       // the token: given with a call, and shown to come back to it
	afterHeader  = "Antiphon-Resume-After" // event_id of the server's last event that the client has seen
	seenHeader   = "Antiphon-Resume-Seen"  // event_id of the client's last event that the server has taken

	resumeQuery = "antiphon_resume"
	afterQuery  = "antiphon_resume_after"
)

// resumed is what a request resumes: the token, and the last event that was seen. The token is empty for a new call.
func resumed(r *http.Request) (token, after string) {
	if token = r.Header.Get(resumeHeader); token != "" {
		return token, r.Header.Get(afterHeader)
	}
	query := r.URL.Query()
	return query.Get(resumeQuery), query.Get(afterQuery)
}

// opens is an endpoint that begins a call, or goes on with one where the request shows a token. For that a client secret may
// have had its only use, or have expired: the call is its own.
func (h *Handler) opens(anew, again endpoint) endpoint {
	begins := h.begins(anew)
	return func(w http.ResponseWriter, r *http.Request, who caller) *problem {
		if token, _ := resumed(r); token == "" {
			return begins(w, r, who)
		}
		if p := h.budgets.charge(who.principal); p != nil {
			return p
		}
		return again(w, r, who)
	}
}

// noResume is the answer to every token with which nothing can be resumed, whatever is wrong with it.
func noResume() *problem {
	return &problem{
		status: http.StatusNotFound, code: "resume_not_found", param: resumeHeader,
		message: "there is no call that this token resumes, or it has ended: call without " + resumeHeader,
	}
}

// comeBack takes the caller of a call off its old connection, and names the call. done must be called when there is another
// one, or none.
func (h *Handler) comeBack(r *http.Request, who caller, overWebRTC bool) (id string, c *callEntry, seen string, done func(), p *problem) {
	token, after := resumed(r)
	id, c = h.byToken(token, who)
	if c == nil {
		return "", nil, "", nil, noResume()
	}
	if webRTC := h.peerOf(c) != nil; webRTC != overWebRTC {
		return "", nil, "", nil, &problem{
			status: http.StatusBadRequest, code: "resume_transport", param: resumeHeader,
			message: "a call is resumed the way it was begun: over WebRTC, or over a WebSocket",
		}
	}
	if err := c.hub.Reserve(after); err != nil {
		return "", nil, "", nil, notReserved(err)
	}
	<-c.hub.Detach()
	seen, ok := c.session.Leave()
	if !ok {
		c.hub.Unreserve()
		return "", nil, "", nil, noResume()
	}
	return id, c, seen, sync.OnceFunc(c.hub.Unreserve), nil
}

// notReserved is the answer to a client whose call cannot be reserved for it.
func notReserved(err error) *problem {
	switch {
	case errors.Is(err, call.ErrReconnecting):
		return &problem{
			status: http.StatusConflict, code: "resume_in_progress", message: "the call is being resumed by another request: wait for its answer",
		}
	case errors.Is(err, call.ErrReplayLost):
		return &problem{
			status: http.StatusGone, code: "resume_lost",
			message: "more has happened in the call than is kept for one who comes back: call without Antiphon-Resume",
		}
	}
	return noResume()
}

// byToken is the call with that token, if it is who's; nil for none.
func (h *Handler) byToken(token string, who caller) (string, *callEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, c := range h.calls {
		if c.token == token && c.hub != nil && who.rules(c.owner) {
			return id, c
		}
	}
	return "", nil
}

// callOn is call for a caller that comes back.
func (h *Handler) callOn(w http.ResponseWriter, r *http.Request, who caller) *problem {
	offer, p := readSDP(w, r)
	if p != nil {
		return p
	}
	id, c, seen, done, p := h.comeBack(r, who, true)
	if p != nil {
		return p
	}
	defer done()
	peer, answer, err := h.cfg.Engine.Reconnect(r.Context(), offer, &reconnected{h.limited(c.session)}, h.peerOf(c))
	if err != nil {
		return badOffer(err)
	}
	_, after := resumed(r)
	if !c.hub.Attach(peer, after) {
		peer.Abandon() // no client has its answer
		return noResume()
	}
	h.nowOver(c, peer)
	c.tell(w, seen)
	w.Header().Set("Location", "/v1/realtime/calls/"+id)
	writeSDP(w, http.StatusCreated, answer)
	return nil
}

// tell puts what a caller that comes back must know into the answer.
func (c *callEntry) tell(w http.ResponseWriter, seen string) {
	w.Header().Set(resumeHeader, c.token)
	w.Header().Set(seenHeader, seen)
}

// reconnected is a session whose client comes back over WebRTC: it is there once its data channel is open.
type reconnected struct{ *limitedHandler }

// Opened implements call.Handler.
func (r *reconnected) Opened() { r.Restored() }

// talkOn is talk for a caller that comes back.
func (h *Handler) talkOn(w http.ResponseWriter, r *http.Request, who caller) *problem {
	_, c, seen, done, p := h.comeBack(r, who, false)
	if p != nil {
		return p
	}
	defer done()
	c.tell(w, seen)
	conn, err := ws.Accept(w, r, realtimeProtocol)
	if err != nil {
		return nil // Accept has answered
	}
	link := h.newLink()
	_, after := resumed(r)
	if r.Header.Get(resumeHeader) == "" { // a page sees no headers
		ack := &wire.AntiphonAck{Acknowledges: seen, Resume: c.token}
		ack.SetID("event_" + rand.Text())
		_ = link.Send(call.Encode(ack), nil) // its queue is empty
	}
	link.Open(context.WithoutCancel(r.Context()), conn, receiver(c.session))
	if !c.hub.Attach(link, after) {
		_ = link.Close() // the session has ended
		return nil
	}
	done()
	c.session.Restored() // before anything is read: the end of this connection comes after its beginning
	link.Begin()
	<-link.Gone()
	return nil
}

// restart looks for a new way to the caller of a call over WebRTC.
func (h *Handler) restart(w http.ResponseWriter, r *http.Request, who caller) *problem {
	peer, p := h.findPeer(r.PathValue("id"), who)
	if p != nil {
		return p
	}
	offer, p := readSDP(w, r)
	if p != nil {
		return p
	}
	answer, err := peer.Restart(r.Context(), offer)
	switch {
	case errors.Is(err, call.ErrClosed):
		return noRestart()
	case err != nil:
		return badOffer(err)
	}
	writeSDP(w, http.StatusOK, answer)
	return nil
}

// findPeer returns the peer of a call over WebRTC that who may control and whose client is connected.
func (h *Handler) findPeer(id string, who caller) (*rtc.Peer, *problem) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.calls[id]
	switch {
	case c == nil || !who.rules(c.owner) || c.hub == nil:
		return nil, noCall()
	case c.peer == nil || !c.hub.Connected():
		return nil, noRestart()
	}
	return c.peer, nil
}

func noRestart() *problem {
	return &problem{
		status: http.StatusConflict, code: "restart_not_possible",
		message: "the call has no connection over WebRTC that could be restarted: offer another one with " + resumeHeader,
	}
}

// readSDP reads an offer that comes alone.
func readSDP(w http.ResponseWriter, r *http.Request) (offer string, p *problem) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/sdp" {
		return "", &problem{
			status: http.StatusUnsupportedMediaType, code: "unsupported_media_type", message: "send the SDP offer as application/sdp",
		}
	}
	defer bounded(w, r)()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", badBody(err)
	}
	return string(body), nil
}

func writeSDP(w http.ResponseWriter, status int, sdp string) {
	w.Header().Set("Content-Type", "application/sdp")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, sdp) // an error here is a client that went away: the call waits for it, or ends
}

// badOffer is what is wrong with an offer, or with the server.
func badOffer(err error) *problem {
	if !errors.Is(err, rtc.ErrBadSDP) && !errors.Is(err, rtc.ErrNoAudio) {
		return internal("call_failed", err)
	}
	return &problem{status: http.StatusBadRequest, code: "invalid_offer", message: err.Error(), param: "sdp"}
}
