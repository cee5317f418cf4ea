package signal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session"
	"github.com/antiphon-rt/antiphon/server/ws"
)

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
	conn, err := ws.Accept(w, r, realtimeProtocol)
	if err != nil {
		h.abandon(id, c)
		return nil // Accept has answered
	}
	link := h.newLink()
	hub := h.began(c, link, nil)
	link.Open(context.WithoutCancel(r.Context()), conn, receiver(c.session))
	link.Begin()
	c.session.Start(hub)
	<-link.Gone()
	return nil
}

// newLink returns a WebSocket link with the limits of the server.
func (h *Handler) newLink() *ws.Link {
	return ws.NewLink(ws.Limits{Env: h.env, EventsPerSecond: h.cfg.EventsPerSecond, MaxMessage: h.cfg.MaxMessage})
}

// receiver gives the events of a call's client to its session.
func receiver(s *session.Session) ws.Receiver {
	return ws.Receiver{Message: s.Message, Refuse: s.Refuse, Gone: s.Failed}
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
	link := h.newLink()
	sideband := call.NewSideband(who.secret == nil, link)
	if err := hub.Join(sideband); err != nil {
		return notJoined(err)
	}
	defer hub.Leave(sideband)
	conn, err := ws.Accept(w, r, realtimeProtocol)
	if err != nil {
		return nil // Accept has answered
	}
	controller := &sideband.Controller
	link.Open(context.WithoutCancel(r.Context()), conn, ws.Receiver{
		Message: func(data []byte, text bool) { controlled.Control(controller, data, text) },
		Refuse:  func(code, message string) { controlled.RefuseSide(controller, code, message) },
		Gone:    func(error) { link.End() },
	})
	link.Begin()
	<-link.Ended()
	_ = link.Close() // the controller may be gone, which is fine
	return nil
}

// notJoined is the answer to a controller that could not join a call.
func notJoined(err error) *problem {
	if errors.Is(err, call.ErrTooManyControllers) {
		return &problem{
			status: http.StatusTooManyRequests, code: "too_many_controllers",
			message: fmt.Sprintf("%d connections control this call already: close one of them", call.MaxControllers),
		}
	}
	return noCall()
}
