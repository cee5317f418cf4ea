package signal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/session"
)

// Limits of what waits to be written to one WebSocket client.
const (
	maxQueued      = 4096
	maxQueuedBytes = 16 << 20
)

// socket is a call over a WebSocket: events both ways, audio inside them.
func (h *Handler) socket(w http.ResponseWriter, r *http.Request) {
	if p := h.notASocket(r); p != nil {
		if p.status == http.StatusUpgradeRequired {
			w.Header().Set("Upgrade", "websocket")
		}
		p.write(w)
		return
	}
	settings := h.cfg.Settings.Clone()
	if model := r.URL.Query().Get("model"); model != "" {
		settings.Model = model
	}
	id := "ws_" + rand.Text()
	s, p := h.newSession(id, settings)
	if p != nil {
		p.write(w)
		return
	}
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{"realtime"},
		InsecureSkipVerify: true, // guarded has checked the origin by our own rules
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		h.abandon(id, s) // Accept has answered
		return
	}
	h.began()
	ws.SetReadLimit(-1) // read bounds each message itself, so that a large one costs an error and not the call
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	l := &socketLink{ws: ws, cancel: cancel, wake: make(chan struct{}, 1)}
	l.joined.Go(func() { l.write(ctx, s) })
	l.joined.Go(func() { h.read(ctx, ws, s) })
	s.Start(l)
	<-s.Done()
}

// notASocket is what is wrong with a request for a WebSocket, or nil. What the protocol has and this server has not is
// refused: a session of its own is not what was asked for.
func (h *Handler) notASocket(r *http.Request) *problem {
	query := r.URL.Query()
	switch {
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return &problem{
			status: http.StatusUpgradeRequired, code: "upgrade_required",
			message: "open this address as a WebSocket; for a call over WebRTC, POST its offer to /v1/realtime/calls",
		}
	case query.Has("call_id"):
		return &problem{
			status: http.StatusBadRequest, code: "unsupported_parameter", param: "call_id",
			message: "this server has no control of a call beside it: use the call's own data channel",
		}
	case query.Has("intent") && query.Get("intent") != "realtime":
		return &problem{
			status: http.StatusBadRequest, code: "unsupported_parameter", param: "intent",
			message: "this server has no sessions for transcription alone: leave intent out and set audio.input.transcription",
		}
	}
	return nil
}

// read takes the client's events until the connection ends.
func (h *Handler) read(ctx context.Context, ws *websocket.Conn, s *session.Session) {
	for {
		kind, reader, err := ws.Reader(ctx)
		if err != nil {
			s.Failed(fmt.Errorf("%w: %w", rtc.ErrHungUp, err))
			return
		}
		text, err := io.ReadAll(io.LimitReader(reader, h.cfg.MaxMessage+1))
		if err == nil && int64(len(text)) > h.cfg.MaxMessage {
			_, err = io.Copy(io.Discard, io.LimitReader(reader, 64*h.cfg.MaxMessage))
			s.Refuse("message_too_large", fmt.Sprintf("an event may have %d bytes: send audio in smaller pieces", h.cfg.MaxMessage))
			text = nil
		}
		if err != nil {
			s.Failed(fmt.Errorf("%w: %w", rtc.ErrHungUp, err))
			return
		}
		if text != nil {
			s.Message(text, kind == websocket.MessageText)
		}
	}
}

// socketLink is a WebSocket call as a session sees it.
type socketLink struct {
	ws     *websocket.Conn
	cancel context.CancelFunc
	joined sync.WaitGroup
	wake   chan struct{}

	mu     sync.Mutex
	queue  []outgoing
	bytes  int
	closed bool
}

type outgoing struct {
	text []byte
	sent func()
}

func (l *socketLink) Speaker() session.Speaker { return nil }

func (l *socketLink) Send(text []byte, sent func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return rtc.ErrClosed
	case len(l.queue) >= maxQueued || l.bytes+len(text) > maxQueuedBytes:
		return rtc.ErrBackpressure
	}
	l.queue = append(l.queue, outgoing{text, sent})
	l.bytes += len(text)
	l.signal()
	return nil
}

func (l *socketLink) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// take is what waits, and whether more may come.
func (l *socketLink) take() ([]outgoing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.queue
	l.queue, l.bytes = nil, 0
	return out, !l.closed
}

// write sends what waits until the link is closed and everything is out, or the client is gone.
func (l *socketLink) write(ctx context.Context, s *session.Session) {
	for {
		out, open := l.take()
		for _, o := range out {
			if err := l.writeOne(ctx, o.text); err != nil {
				l.fail(ctx, s, err)
				return
			}
			if o.sent != nil {
				o.sent()
			}
		}
		if len(out) > 0 {
			continue
		}
		if !open {
			_ = l.ws.Close(websocket.StatusNormalClosure, "") // the other side may be gone: that is fine too
			return
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

// writeOne gives up on a client that takes nothing: the agent's voice waits for it, so that its queue may never be full.
func (l *socketLink) writeOne(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	return l.ws.Write(ctx, websocket.MessageText, text)
}

func (l *socketLink) fail(ctx context.Context, s *session.Session, err error) {
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		s.Failed(fmt.Errorf("%w: %w", rtc.ErrHungUp, err))
	}
}

// Close writes what waits, for as long as a client that reads needs, and ends the connection.
func (l *socketLink) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	stop := l.afterPatience()
	l.joined.Wait()
	stop()
	l.cancel()
	return l.ws.CloseNow()
}

// afterPatience cuts the connection when a client does not take the rest in time.
func (l *socketLink) afterPatience() (stop func()) {
	t := time.AfterFunc(closePatience, l.cancel)
	return func() { t.Stop() }
}

// writePatience is how long a client may take to read what is on its way before it counts as gone.
const writePatience = 20 * time.Second

// closePatience is how long a closing connection may take to write what waits.
const closePatience = 2 * time.Second
