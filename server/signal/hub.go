package signal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/antiphon-rt/antiphon/server/rtc"
	"github.com/antiphon-rt/antiphon/server/session"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxSides is how many may control one call from the side at a time.
const maxSides = 8

// hub is the link of a WebRTC call: what the session sends goes to the caller, and to those who control the call from the side.
// It implements session.Link.
type hub struct {
	session.Link // the caller's

	mu     sync.Mutex
	sides  map[*side]struct{}
	latest *wire.Session // as the last session.created or session.updated had it; nil before
	closed bool
}

// side is one who controls a call from the side.
type side struct {
	link *socketLink
	done chan struct{} // closed when nothing of it is left
}

func newHub(link session.Link) *hub { return &hub{Link: link, sides: map[*side]struct{}{}} }

// Send implements session.Link. A side that does not read is cut off; the call goes on.
func (h *hub) Send(text []byte, sent func()) error {
	err := h.Link.Send(text, sent)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remember(text)
	for s := range h.sides {
		if errors.Is(s.link.Send(text, nil), rtc.ErrBackpressure) {
			s.link.cut()
		}
	}
	return err
}

// ofSession begins the events that have the session in them: wire writes the type first.
var ofSession = []byte(`{"type":"session.`)

func (h *hub) remember(text []byte) {
	if !bytes.HasPrefix(text, ofSession) {
		return
	}
	e, err := wire.DecodeServer(text)
	if err != nil {
		return // it is our own text: there is none
	}
	switch e := e.(type) {
	case *wire.SessionCreated:
		h.latest = &e.Session
	case *wire.SessionUpdated:
		h.latest = &e.Session
	}
}

// join lets s hear everything from now on. Its first event is session.created, as every client's is, with the session as it
// is now.
func (h *hub) join(s *side) *problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return noCall()
	case len(h.sides) >= maxSides:
		return &problem{
			status: http.StatusTooManyRequests, code: "too_many_controllers",
			message: fmt.Sprintf("%d connections control this call already: close one of them", maxSides),
		}
	}
	h.sides[s] = struct{}{}
	if h.latest != nil {
		hello := &wire.SessionCreated{Session: *h.latest}
		hello.SetID("event_" + rand.Text())
		_ = s.link.Send(wire.AppendServer(nil, hello), nil) // its queue is empty
	}
	return nil
}

func (h *hub) leave(s *side) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sides, s)
}

// Close implements session.Link: the call has ended, and with it the control of it.
func (h *hub) Close() error {
	h.mu.Lock()
	h.closed = true
	left := make([]*side, 0, len(h.sides))
	for s := range h.sides {
		s.link.end()
		left = append(left, s)
	}
	h.mu.Unlock()
	err := h.Link.Close()
	for _, s := range left {
		<-s.done
	}
	return err
}
