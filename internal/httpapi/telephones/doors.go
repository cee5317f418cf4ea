package telephones

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/call/ws"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/wire"
)

// Telephones that come over a WebSocket: each kind has a door of its own, with a key of its own.

// StreamsPath begins the paths of the doors. The name of a door follows, and then perhaps its key.
const StreamsPath = "/v1/antiphon/phones/"

// streamCalls is how many calls a door has at a time where the configuration does not say it.
const streamCalls = 30

// fullRetry is when a telephone may try again at a door that is full.
const fullRetry = 10 * time.Second

// Doors are the doors for telephones over a WebSocket, by their names. They are an http.Handler for StreamsPath with the path values name and key.
type Doors struct {
	desk    *Desk
	version string
	all     map[string]*door
}

type door struct {
	stream.Config
	calls atomic.Int64
}

// NewDoors returns the doors for some streams. Each answer names the version of the server.
func NewDoors(desk *Desk, version string, streams []stream.Config) *Doors {
	d := &Doors{desk, version, map[string]*door{}}
	for _, c := range streams {
		if c.Calls == 0 {
			c.Calls = streamCalls
		}
		d.all[c.Name] = &door{Config: c}
	}
	return d
}

// ServeHTTP answers the request of a telephone. It returns when the call is over.
func (d *Doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, key := r.PathValue("name"), r.PathValue("key")
	r.URL.Path, r.URL.RawPath = StreamsPath+name, "" // no log gets the key
	if p := d.open(w, r, name, key); p != nil {
		d.desk.calls.Refuse(w, r, p)
	}
}

func (d *Doors) open(w http.ResponseWriter, r *http.Request, name, key string) *answer.Problem {
	at := d.all[name]
	w.Header().Set("Antiphon-Version", d.version)
	switch {
	case r.Header.Get("Origin") != "":
		return &answer.Problem{Status: http.StatusForbidden, Code: "origin_not_allowed", Message: "this address is for telephones, and not for pages"}
	case at == nil || !at.Admits(r, key):
		return (&answer.Problem{
			Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "no telephone may connect here with this key or signature: see phones, streams in the server's configuration",
		}).With("WWW-Authenticate", `Basic realm="telephones"`)
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return (&answer.Problem{Status: http.StatusUpgradeRequired, Code: "upgrade_required", Message: "this address takes WebSockets of telephones"}).With("Upgrade", "websocket")
	}
	who := Owner{at.Principal, httpguard.Client(r)}
	if p := d.desk.calls.Charge(who); p != nil {
		return p
	}
	defer at.calls.Add(-1)
	if at.calls.Add(1) > int64(at.Calls) {
		return (&answer.Problem{
			Status: http.StatusTooManyRequests, Code: "too_many_calls", Message: "this door for telephones has as many calls as it may: end one of them",
		}).After(fullRetry)
	}
	limits := d.desk.calls.SocketLimits(who)
	conn, err := ws.Accept(w, r, at.Kind.Protocol(), limits)
	if err != nil {
		return nil // Accept has answered
	}
	limiter := link.NewEventLimiter(limits.Env, limits.EventsPerSecond, &link.EventTab{}, func(string, string) {
		d.desk.logger.Warn("a telephone sends too much: its messages wait", "stream", name, "messages_per_second", limits.EventsPerSecond)
	})
	s, err := stream.Open(context.WithoutCancel(r.Context()), conn, at.Kind, limiter)
	if err != nil {
		d.desk.logger.Info("telephone refused", "stream", name, "why", err)
		return nil
	}
	d.serve(r.Context(), s, at, who)
	return nil
}

// serve has a session answer the telephone, and returns when the session is over.
func (d *Doors) serve(ctx context.Context, s *stream.Stream, at *door, who Owner) {
	set, p := d.desk.calls.Settings(wire.Raw(at.Session))
	if p != nil {
		s.Refuse(p.Message)
		return
	}
	id := d.desk.calls.NewID()
	l, over, p := d.desk.calls.Begin(ctx, id, set, who, s.Transport())
	if p != nil {
		d.desk.logger.Info("telephone refused", "stream", at.Name, "code", p.Code, "why", p.Message)
		s.Refuse(p.Message)
		return
	}
	d.desk.logger.Info("telephone call", "call", id, "stream", at.Name, "format", s.Start().Format, "telephone_call", fmt.Sprintf("%.100q", s.Start().Call))
	l.Greets(at.Greeting)
	l.Begin()
	s.Run(l)
	<-over
}
