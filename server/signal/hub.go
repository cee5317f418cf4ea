package signal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxSides is how many may control one call from the side at a time.
const maxSides = 8

// transport is one connection of a call's client.
type transport interface {
	call.Link
	// abandon ends a connection whose client is gone: nobody takes leave. It joins its goroutines, and gives back what should
	// have been called when events were sent.
	abandon() (owed []func())
}

// hub is the link of a call: what the session sends goes to the caller, over the connection that there is at the time, and to
// those who control the call from the side. It implements call.Reconnectable.
type hub struct {
	speaker call.Output // nil for a client that plays by itself
	// keeps says whether the caller may come back over another connection.
	keeps func() bool

	mu     sync.Mutex
	line   transport // nil while the caller is away
	gone   chan struct{}
	owed   []func() // what waits for events to be sent, while the caller is away
	tape   tape
	coming bool // the caller is coming back
	sides  map[*side]struct{}
	latest *wire.Session // as the last session.created or session.updated had it; nil before
	closed bool
}

// side is one who controls a call from the side.
type side struct {
	who  call.SidebandController
	link *socketLink
	done chan struct{} // closed when nothing of it is left
}

// newSide is a side that has not joined; rules: no lock holds it.
func newSide(rules bool) *side {
	s := &side{link: newSocketLink(), done: make(chan struct{})}
	s.who.Rules, s.who.Answer = rules, s.tell
	return s
}

// tell gives it an event. One that does not read is cut off.
func (s *side) tell(e call.Event) {
	if errors.Is(s.link.Send(e, nil), call.ErrBackpressure) {
		s.link.cut()
	}
}

func newHub(line transport, keeps func() bool) *hub {
	h := &hub{line: line, speaker: line.Output(), keeps: keeps, sides: map[*side]struct{}{}, gone: make(chan struct{})}
	close(h.gone)
	h.tape = tape{maxItems: maxKept, maxBytes: maxKeptBytes}
	if h.speaker == nil {
		h.tape = tape{maxItems: maxKeptSocket, maxBytes: maxKeptSocketBytes}
	}
	return h
}

// Output implements call.Link.
func (h *hub) Output() call.Output { return h.speaker }

// RoundTrip is the connection's, 0 where it is not known.
func (h *hub) RoundTrip() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t, ok := h.line.(interface{ RoundTrip() time.Duration }); ok {
		return t.RoundTrip()
	}
	return 0
}

// extensionPrefix begins the types of our extension events: they are for those who have said that they know them.
const extensionPrefix = "antiphon."

// Send implements call.Link. A side that does not read is cut off; the call goes on.
func (h *hub) Send(e call.Event, sent func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	extension := strings.HasPrefix(e.Type, extensionPrefix)
	if !extension || h.keeps() {
		err = h.toCaller(e, sent)
	}
	if e.Session != nil {
		h.latest = e.Session
	}
	for s := range h.sides {
		if !extension || s.who.Extended() {
			s.tell(e)
		}
	}
	return err
}

// SendToPrimary implements call.Shared.
func (h *hub) SendToPrimary(e call.Event, sent func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.toCaller(e, sent)
}

// toCaller needs mu.
func (h *hub) toCaller(e call.Event, sent func()) error {
	err := call.ErrUnreachable
	if h.line != nil {
		err = h.line.Send(e, sent)
	}
	if errors.Is(err, call.ErrUnreachable) && h.keeps() { // the caller is away, or about to be
		err = nil
		if sent != nil {
			h.owed = append(h.owed, sent)
		}
	}
	h.tape.add(e, h.keeps())
	return err
}

// join lets s hear everything from now on. Its first event is session.created, as every client's is, with the session as it
// is now.
func (h *hub) join(s *side) *problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed || h.speaker == nil: // a client that plays by itself is in control itself
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
		_ = s.link.Send(call.Encode(hello), nil) // its queue is empty
	}
	return nil
}

func (h *hub) leave(s *side) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sides, s)
}

// DropConnection implements call.Reconnectable.
func (h *hub) DropConnection() { h.letGo() }

// letGo is DropConnection; gone is closed when nothing of any former connection is left.
func (h *hub) letGo() (gone <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line, before, now := h.line, h.gone, make(chan struct{})
	if line == nil {
		return before
	}
	h.line, h.gone = nil, now
	go func() {
		defer close(now)
		owed := line.abandon()
		<-before
		h.mu.Lock()
		defer h.mu.Unlock()
		h.owed = append(owed, h.owed...)
	}()
	return now
}

// begin reserves the call for one who comes back and has seen the event seen.
func (h *hub) begin(seen string) *problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, there := h.tape.after(seen)
	switch {
	case h.closed || !h.keeps():
		return noResume()
	case h.coming:
		return &problem{
			status: http.StatusConflict, code: "resume_in_progress", message: "the call is being resumed by another request: wait for its answer",
		}
	case !there:
		return &problem{
			status: http.StatusGone, code: "resume_lost",
			message: "more has happened in the call than is kept for one who comes back: call without Antiphon-Resume",
		}
	}
	h.coming = true
	return nil
}

// settle ends what begin began.
func (h *hub) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.coming = false
}

// attach gives the caller another connection, over which comes first what was sent since the event seen. It reports false when
// the call has ended meanwhile.
func (h *hub) attach(line transport, seen string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	events, there := h.tape.after(seen)
	if h.closed || h.line != nil || !there {
		return false
	}
	owed := h.owed
	settle := func() {
		for _, sent := range owed {
			sent()
		}
	}
	for i, e := range events {
		var sent func()
		if i == len(events)-1 {
			sent = settle
		}
		if line.Send(e, sent) != nil {
			return false // the connection is gone already
		}
	}
	if len(events) == 0 {
		settle() // nothing is on its way that could
	}
	h.line, h.owed = line, nil
	return true
}

// transport is the connection that there is now; nil when the caller is away.
func (h *hub) transport() transport {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.line
}

// ExplainClose implements call.CloseExplainer. The end of a WebRTC call has no reason; that of its control has.
func (h *hub) ExplainClose(why conn.Reason) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, is := h.line.(*socketLink); is {
		l.because(why)
	}
	for s := range h.sides {
		s.link.because(why)
	}
}

// Close implements call.Link: the call has ended, and with it the control of it.
func (h *hub) Close() error {
	h.mu.Lock()
	h.closed = true
	line, gone := h.line, h.gone
	left := make([]*side, 0, len(h.sides))
	for s := range h.sides {
		s.link.end()
		left = append(left, s)
	}
	h.mu.Unlock()
	var err error
	if line != nil {
		err = line.Close()
	}
	<-gone
	for _, s := range left {
		<-s.done
	}
	return err
}
