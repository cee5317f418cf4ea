package signal

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/session"
)

// inlet is where a WebSocket's events go.
type inlet struct {
	message func(data []byte, text bool)
	refuse  func(code, message string)
	gone    func(err error)
}

// socket is what a WebSocket is opened for: a call, or the control of one from the side.
func (h *Handler) socket(w http.ResponseWriter, r *http.Request, who caller) *problem {
	if p := notASocket(r); p != nil {
		return p
	}
	if r.URL.Query().Has("call_id") {
		return h.control(w, r, who)
	}
	return h.opens(h.talk, h.talkOn)(w, r, who)
}

// notASocket is what is wrong with a request for a WebSocket, or nil.
func notASocket(r *http.Request) *problem {
	query := r.URL.Query()
	offered := protocols(r)
	switch {
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return (&problem{
			status: http.StatusUpgradeRequired, code: "upgrade_required",
			message: "open this address as a WebSocket; for a call over WebRTC, POST its offer to /v1/realtime/calls",
		}).with("Upgrade", "websocket")
	case len(offered) > 0 && !slices.Contains(offered, realtimeProtocol):
		return &problem{
			status: http.StatusBadRequest, code: "invalid_subprotocol",
			message: "this server speaks the subprotocol realtime: offer it beside those that carry the key",
		}
	case query.Has("call_id") && query.Has("intent"):
		return &problem{
			status: http.StatusBadRequest, code: "unsupported_parameter", param: "intent",
			message: "a call that there is has its intent already: leave intent out",
		}
	}
	return nil
}

// talk is a call over a WebSocket: events both ways, audio inside them.
func (h *Handler) talk(w http.ResponseWriter, r *http.Request, who caller) *problem {
	settings, p := h.settings(r, who)
	if p != nil {
		return p
	}
	id := "ws_" + rand.Text()
	c, p := h.newCall(id, settings, who)
	if p != nil {
		return p
	}
	w.Header().Set(resumeHeader, c.token)
	ws, err := accept(w, r)
	if err != nil {
		h.abandon(id, c)
		return nil // Accept has answered
	}
	s, l := c.session, newSocketLink()
	link := newHub(l, s.Resumable)
	h.began(c, link)
	l.run(context.WithoutCancel(r.Context()), ws, h, inletOf(s))
	s.Start(link)
	<-l.over
	return nil
}

// inletOf is where the events of a call's client go.
func inletOf(s *session.Session) inlet {
	return inlet{message: s.Message, refuse: s.Refuse, gone: s.Failed}
}

// control lets the caller rule a WebRTC call from the side.
func (h *Handler) control(w http.ResponseWriter, r *http.Request, who caller) *problem {
	controlled, hub, p := h.find(r.URL.Query().Get("call_id"), who)
	switch {
	case p != nil:
		return p
	case hub == nil:
		return noCall()
	}
	s := newSide(who.secret == nil)
	l := s.link
	if p := hub.join(s); p != nil {
		return p
	}
	defer close(s.done)
	defer hub.leave(s)
	ws, err := accept(w, r)
	if err != nil {
		return nil // Accept has answered
	}
	l.run(context.WithoutCancel(r.Context()), ws, h, inlet{
		message: func(data []byte, text bool) { controlled.Control(&s.who, data, text) },
		refuse:  func(code, message string) { controlled.RefuseSide(&s.who, code, message) },
		gone:    func(error) { l.end() },
	})
	<-l.ended
	_ = l.Close() // the other side may be gone: that is fine too
	return nil
}

// accept answers a request for a WebSocket.
func accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{realtimeProtocol},
		InsecureSkipVerify: true, // guarded has checked the origin by our own rules
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1) // read bounds each message itself, so that a large one costs an error and not the call
	return ws, nil
}

// read takes the client's events until the connection ends.
func (h *Handler) read(ctx context.Context, ws *websocket.Conn, to inlet) {
	flow := newSluice(h.cfg.EventsPerSecond, to.refuse)
	for {
		kind, reader, err := ws.Reader(ctx)
		if err != nil {
			to.gone(parted(err))
			return
		}
		text, err := io.ReadAll(io.LimitReader(reader, h.cfg.MaxMessage+1))
		size := int64(len(text))
		if err == nil && size > h.cfg.MaxMessage {
			var rest int64
			rest, err = io.Copy(io.Discard, io.LimitReader(reader, 64*h.cfg.MaxMessage))
			size += rest
			to.refuse("message_too_large", fmt.Sprintf("an event may have %d bytes: send audio in smaller pieces", h.cfg.MaxMessage))
			text = nil
		}
		if err != nil {
			to.gone(parted(err))
			return
		}
		flow.pass(int(size), ctx.Done())
		if text != nil {
			to.message(text, kind == websocket.MessageText)
		}
	}
}

// peerLink is a WebRTC call as a session sees it.
type peerLink struct{ peer *rtc.Peer }

// Send implements call.Link.
func (l peerLink) Send(e call.Event, sent func()) error {
	err := l.peer.Send(e.Text)
	if err == nil && sent != nil {
		sent()
	}
	return err
}

// Output implements call.Link.
func (l peerLink) Output() call.Output { return l.peer.Speaker() }

// RoundTrip tells the session how long its client's answers are on the way.
func (l peerLink) RoundTrip() time.Duration { return l.peer.RoundTrip() }

// Close implements call.Link.
func (l peerLink) Close() error { return l.peer.Close() }

// abandon implements transport: what a data channel takes counts as sent at once.
func (l peerLink) abandon() (owed []func()) {
	_ = l.peer.Abandon() // of use to a log only
	return nil
}
