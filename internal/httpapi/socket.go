package httpapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/bearer"
)

// WebSockets: begins calls over a WebSocket, and connects side-band controllers to calls over WebRTC.

// socket answers a request for a WebSocket: for a call of its own, or with a call_id for the side-band control of a call.
func (h *Handler) socket(w http.ResponseWriter, r *http.Request, who requester) *problem {
	if p := notASocket(r); p != nil {
		return p
	}
	if r.URL.Query().Has("call_id") {
		return h.control(w, r, who)
	}
	return h.opensCall(h.socketCall, h.reconnectSocket)(w, r, who)
}

// notASocket returns what is wrong with a request for a WebSocket, or nil.
func notASocket(r *http.Request) *problem {
	query := r.URL.Query()
	offered := bearer.Protocols(r)
	switch {
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return (&problem{
			Status: http.StatusUpgradeRequired, Code: "upgrade_required",
			Message: "open this address as a WebSocket; for a call over WebRTC, POST its offer to /v1/realtime/calls",
		}).With("Upgrade", "websocket")
	case len(offered) > 0 && !slices.Contains(offered, realtimeProtocol):
		return badField("invalid_subprotocol", "", "this server speaks the subprotocol realtime: offer it beside those that carry the key")
	case query.Has("call_id") && query.Has("intent"):
		return badField("unsupported_parameter", "intent", "a call that there is has its intent already: leave intent out")
	}
	return nil
}

// socketCall begins a call over a WebSocket: events go both ways and contain the audio. It returns when the connection has ended.
func (h *Handler) socketCall(w http.ResponseWriter, r *http.Request, who requester) *problem {
	settings, p := h.settings(r, who)
	if p != nil {
		return p
	}
	id := "ws_" + h.mark(rand.Text())
	c, p := h.newCall(r.Context(), id, settings, who)
	if p != nil {
		return p
	}
	w.Header().Set(resumeHeader, c.token)
	conn, err := ws.Accept(w, r, realtimeProtocol, h.socketLimits(who))
	if err != nil {
		h.abandon(id, c)
		return nil // Accept has answered
	}
	socket := ws.NewLink(h.socketLimits(who))
	hub := h.began(c, socket, nil)
	socket.Open(context.WithoutCancel(r.Context()), conn, receiver(c.session))
	socket.Begin()
	c.session.Start(hub)
	<-socket.Gone()
	return nil
}

// socketLimits returns the limits of the clients of a WebSocket.
func (h *Handler) socketLimits(who requester) ws.Limits {
	limits := h.rules.Load()
	return ws.Limits{Env: h.env, EventsPerSecond: limits.EventsPerSecond, MaxMessage: limits.MaxMessage, Memory: h.purse(who)}
}

// receiver returns a Receiver that gives the events of a call's client to its session.
func receiver(s *session.Session) ws.Receiver {
	return ws.Receiver{Message: s.Message, AwaitHandled: s.AwaitHandled, Tab: s.Tab(), Refuse: s.Refuse, Gone: s.Failed}
}

// control connects a side-band controller to a call over WebRTC. It returns when the connection has ended.
func (h *Handler) control(w http.ResponseWriter, r *http.Request, who requester) *problem {
	controlled, hub, p := h.find(r.URL.Query().Get("call_id"), who, false)
	switch {
	case p != nil:
		return p
	case hub == nil:
		return noCall()
	}
	socket := ws.NewLink(h.socketLimits(who))
	sideband := link.NewSideband(who.secret == nil, socket)
	if err := hub.Join(sideband); err != nil {
		return notJoined(err)
	}
	defer hub.Leave(sideband)
	conn, err := ws.Accept(w, r, realtimeProtocol, h.socketLimits(who))
	if err != nil {
		return nil // Accept has answered
	}
	controller := &sideband.Controller
	socket.Open(context.WithoutCancel(r.Context()), conn, ws.Receiver{
		Message:      func(data []byte, text bool) { controlled.Control(controller, data, text) },
		AwaitHandled: controlled.AwaitHandled,
		Tab:          controller.Tab,
		Refuse:       func(code, message string) { controlled.RefuseSideband(controller, code, message) },
		Gone:         func(error) { socket.End() },
	})
	socket.Begin()
	<-socket.Ended()
	_ = socket.Close() // the controller may be gone, which is fine
	return nil
}

// notJoined returns the response to a controller that could not join a call.
func notJoined(err error) *problem {
	if errors.Is(err, link.ErrTooManyControllers) {
		return &problem{
			Status: http.StatusTooManyRequests, Code: "too_many_controllers",
			Message: fmt.Sprintf("%d connections control this call already: close one of them", link.MaxControllers),
		}
	}
	return noCall()
}
