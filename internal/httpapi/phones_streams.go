package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/wire"
)

// Telephones that come over a WebSocket: each kind has a door of its own, with a key of its own.

// streamsPath begins the paths of the doors. The name of a door follows, and then perhaps its key.
const streamsPath = "/v1/antiphon/phones/"

// streamCalls is how many calls a door has at a time where the configuration does not say it.
const streamCalls = 30

// doors are the doors of a Handler, by their names.
type doors struct {
	h   *Handler
	all map[string]*door
}

type door struct {
	stream.Config
	calls atomic.Int64
}

// newDoors returns the doors for Config.Streams.
func newDoors(h *Handler) *doors {
	d := &doors{h, map[string]*door{}}
	for _, c := range h.cfg.Streams {
		if c.Calls == 0 {
			c.Calls = streamCalls
		}
		d.all[c.Name] = &door{Config: c}
	}
	return d
}

// ServeHTTP answers the request of a telephone. It returns when the call is over.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, key := r.PathValue("name"), r.PathValue("key")
	r.URL.Path, r.URL.RawPath = streamsPath+name, "" // no log gets the key
	if p := d.open(w, r, name, key); p != nil {
		d.h.refuse(w, r, p)
	}
}

func (d *doors) open(w http.ResponseWriter, r *http.Request, name, key string) *problem {
	h, at := d.h, d.all[name]
	w.Header().Set("Antiphon-Version", h.cfg.Version)
	switch {
	case r.Header.Get("Origin") != "":
		return &problem{Status: http.StatusForbidden, Code: "origin_not_allowed", Message: "this address is for telephones, and not for pages"}
	case at == nil || !at.Admits(r, key):
		return (&problem{
			Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "no telephone may connect here with this key or signature: see phones, streams in the server's configuration",
		}).With("WWW-Authenticate", `Basic realm="telephones"`)
	}
	if p := notASocket(r); p != nil && p.Code != "invalid_subprotocol" { // telephones have subprotocols of their own
		return p
	}
	who := requester{principal: at.Principal, address: httpguard.Client(r)}
	if p := h.charge(who); p != nil {
		return p
	}
	defer at.calls.Add(-1)
	if at.calls.Add(1) > int64(at.Calls) {
		return tooManyCalls("this door for telephones has as many calls as it may: end one of them", fullRetry)
	}
	conn, err := ws.Accept(w, r, at.Kind.Protocol(), h.socketLimits(who))
	if err != nil {
		return nil // Accept has answered
	}
	s, err := stream.Open(context.WithoutCancel(r.Context()), conn, at.Kind)
	if err != nil {
		h.cfg.Logger.Info("telephone refused", "stream", name, "why", err)
		return nil
	}
	d.serve(r.Context(), s, at, who)
	return nil
}

// serve has a session answer the telephone, and returns when the session is over.
func (d *doors) serve(ctx context.Context, s *stream.Stream, at *door, who requester) {
	h := d.h
	set, err := h.phoneSettings(at.Session)
	if err != nil {
		s.Refuse(err.Error())
		return
	}
	id := rtcPrefix + h.mark(rand.Text())
	c, l, p := h.beginPhone(ctx, id, set, who, s.Transport())
	if p != nil {
		h.cfg.Logger.Info("telephone refused", "stream", at.Name, "code", p.Code, "why", p.Message)
		s.Refuse(p.Message)
		return
	}
	h.cfg.Logger.Info("telephone call", "call", id, "stream", at.Name, "format", s.Start().Format, "telephone_call", fmt.Sprintf("%.100q", s.Start().Call))
	l.Begin()
	s.Run(l)
	<-c.session.Done()
}

// phoneSettings returns the settings of a call by telephone: those of the server, changed by a session object.
func (h *Handler) phoneSettings(session []byte) (wire.Session, error) {
	set := h.cfg.Settings.Clone()
	if len(session) == 0 {
		return set, nil
	}
	return set, conversation.Merge(h.cfg.Pipeline, h.cfg.Options.MCP, &set, session)
}
