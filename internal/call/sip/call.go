package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/sip/audio"
)

// A call: from its INVITE to its end.

const (
	// ringsFor is how long a call may ring.
	ringsFor = 3 * time.Minute
	// acksWithin is how long a caller may take to confirm the answer (RFC 3261 section 13.3.1.4).
	acksWithin = 32 * time.Second
	// endsWithin bounds a BYE.
	endsWithin = 2 * time.Second
	// refersWithin bounds a REFER, and connectsWithin how long the transfer itself may take.
	refersWithin, connectsWithin = 10 * time.Second, time.Minute
)

// newest is the newest change of a call: its CSeq, and what the next change closes; nil before the first.
type newest struct {
	n    uint32
	over chan struct{}
}

// Call is one telephone call. It is a phone.Transport. Its methods are safe for concurrent use.
type Call struct {
	server *Server
	trunk  *Trunk
	signalling
	stream *audio.Stream
	first  []byte // the description with which the call is answered
	late   bool   // it is an offer, and the ACK has the answer

	contact sip.ContactHeader
	peer    netip.AddrPort
	acked   chan uint32   // the numbers of the ACKs of changes
	agreed  chan struct{} // closed by the first ACK
	over    chan struct{} // closed when nothing of the call is left
	ended   chan struct{} // closed by HangUp
	once    sync.Once

	mu      sync.Mutex
	link    Line // nil until the call is answered
	decided bool
	id      string // under which the server has the call; the lock of the server guards it
	newest  newest
	timer   timer
	changes sync.Mutex // held while a change is answered
}

// dialog is the state of a call's signalling: sipgo has one type for calls that come, and one for calls out.
type dialog interface {
	LoadState() sip.DialogState
	Context() context.Context
	ReadRequest(r *sip.Request, tx sip.ServerTransaction) error
	ReadBye(r *sip.Request, tx sip.ServerTransaction) error
	Do(ctx context.Context, r *sip.Request) (*sip.Response, error)
	Bye(ctx context.Context) error
}

// signalling is the signalling of a call.
type signalling struct {
	dialog dialog
	invite *sip.Request
	early  chan *sip.Response         // provisional answers in their order; nil for a call that comes
	in     *sipgo.DialogServerSession // nil for a call out
	tx     sip.ServerTransaction      // nil for a call out
}

// Line is the link of a call that was accepted: a phone.Link is one.
type Line interface {
	audio.Listener
	// Begin is called when the caller has confirmed the call.
	Begin()
	// Hold is told whether the caller holds the call.
	Hold(on bool)
}

// newCall makes the call of an INVITE. An error comes with the status that refuses the call.
func (s *Server) newCall(t *Trunk, r *sip.Request, tx sip.ServerTransaction) (c *Call, status int, err error) {
	peer := peerOf(r)
	public := s.reach(peer.Addr())
	c = &Call{
		server: s, trunk: t, signalling: signalling{tx: tx}, peer: peer, contact: s.contact(public, r.Transport()),
		acked: make(chan uint32, 1), agreed: make(chan struct{}), over: make(chan struct{}), ended: make(chan struct{}),
	}
	ua := &sipgo.DialogUA{Client: s.clientWithin(t, r, peer), ContactHDR: c.contact, RewriteContact: true}
	if c.in, err = ua.ReadInvite(r, tx); err != nil {
		return nil, sip.StatusBadRequest, err
	}
	c.dialog, c.invite = c.in, c.in.InviteRequest
	if c.stream, err = audio.Open(s.audio(public, peer.Addr())); err != nil {
		return nil, sip.StatusServiceUnavailable, err
	}
	if c.late = len(r.Body()) == 0; c.late {
		c.first = c.stream.Offer()
	} else if c.first, err = c.stream.Answer(r.Body()); err != nil {
		c.stream.Close()
		return nil, sip.StatusNotAcceptableHere, err
	}
	c.timer = newTimer(r)
	return c, 0, nil
}

// contact returns where requests of a call reach this server.
func (s *Server) contact(public netip.Addr, transport string) sip.ContactHeader {
	at := s.at
	if strings.EqualFold(transport, TLS) && s.tlsAt.IsValid() { // else the far side's requests come over the connection of the call
		at = s.tlsAt
	}
	uri := sip.Uri{Scheme: "sip", User: "antiphon", Host: public.String(), Port: int(at.Port())}
	if public.Is6() {
		uri.Host = "[" + uri.Host + "]"
	}
	if !strings.EqualFold(transport, UDP) {
		uri.UriParams = sip.NewParams()
		uri.UriParams.Add("transport", strings.ToLower(transport))
	}
	return sip.ContactHeader{Address: uri}
}

// Trunk returns the name of the call's trunk, and Peer the address from which its signalling comes.
func (c *Call) Trunk() string    { return c.trunk.Name }
func (c *Call) Peer() netip.Addr { return c.peer.Addr() }

// Number returns the number or the name that was called.
func (c *Call) Number() string { return c.invite.Recipient.User }

// maxHeaders is how many headers of an INVITE are told to others, and maxHeader the length of the longest.
const maxHeaders, maxHeader = 64, 1024

// Headers returns the names and values of the INVITE's headers, without credentials.
func (c *Call) Headers() (all [][2]string) {
	for _, h := range c.invite.Headers() {
		name := h.Name()
		if strings.HasSuffix(strings.ToLower(name), "authorization") || len(h.Value()) > maxHeader || len(all) == maxHeaders {
			continue
		}
		all = append(all, [2]string{name, h.Value()})
	}
	return all
}

// run lets the call ring, and returns when nothing of it is left.
func (c *Call) run() {
	s := c.server
	closed := !s.lists(c, c.in.ID)
	defer close(c.over)
	defer s.strikes(c)
	defer c.stream.Close()
	defer c.timer.stop()
	if closed {
		_ = c.Reject(sip.StatusServiceUnavailable)
		return
	}
	if err := c.in.Respond(sip.StatusRinging, "Ringing", nil); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.dialog.Context(), ringsFor)
	go func() {
		select {
		case <-c.ended: // the server closes
			cancel()
		case <-ctx.Done():
		}
	}()
	s.cfg.Ring(ctx, c)
	cancel()
	if _, accepted := c.decision(); !accepted {
		_ = c.Reject(sip.StatusTemporarilyUnavailable) // it does nothing after a decision
		return
	}
	<-c.ended // the link ends every call that was accepted
}

// decision returns the link of a call that was accepted.
func (c *Call) decision() (Line, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link, c.link != nil
}

// ErrDecided means that a call was accepted or rejected already, or that its caller has given up.
var ErrDecided = errors.New("the call was decided already, or its caller has given up")

// hangsUp reports whether the call was answered. One that was not is never answered after this.
func (c *Call) hangsUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decided = c.decided || c.in == nil
	return c.link != nil
}

// decide makes a decision, once.
func (c *Call) decide(l Line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.decided || c.dialog.Context().Err() != nil {
		return ErrDecided
	}
	c.decided, c.link = true, l
	return nil
}

// Reject refuses the call with a status of 300 to 699.
func (c *Call) Reject(status int) error {
	if err := c.decide(nil); err != nil {
		return err
	}
	// The transaction repeats the answer until it is confirmed. The dialog would wait for that.
	if err := c.tx.Respond(sip.NewResponseFromRequest(c.invite, status, reason(status), nil)); err != nil {
		return fmt.Errorf("sip: %w", err)
	}
	return nil
}

// Accept answers the call: l is its link. It returns when the caller has confirmed it. After an error the call is over, too: l has heard of it.
func (c *Call) Accept(l Line) error {
	if err := c.decide(l); err != nil {
		return err
	}
	c.stream.Listen(l)
	limit := time.AfterFunc(acksWithin, c.tx.Terminate)
	defer limit.Stop()
	res := sip.NewSDPResponseFromRequest(c.invite, c.first)
	res.AppendHeader(&c.contact)
	res.AppendHeader(allows())
	c.timer.answer(res)
	if err := c.in.WriteResponse(res); err != nil {
		err = fmt.Errorf("sip: the caller has not confirmed the answer: %w: %w", link.ErrUnreachable, err)
		l.Ended(err)
		return err
	}
	c.timer.start(func() { l.Ended(fmt.Errorf("sip: the caller has not refreshed the call: %w", link.ErrUnreachable)) })
	l.Begin()
	c.changes.Lock()
	defer c.changes.Unlock()
	l.Hold(c.stream.Held())
	return nil
}

// Send implements phone.Transport.
func (c *Call) Send(pcm []int16, voiced bool) error { return c.stream.Send(pcm, voiced) }

// HangUp implements phone.Transport. It is bounded.
func (c *Call) HangUp() {
	c.once.Do(func() {
		defer close(c.ended)
		if !c.hangsUp() {
			return // it rings no more: see run and Place
		}
		c.stream.Close()
		ctx, cancel := context.WithTimeout(context.Background(), endsWithin)
		defer cancel()
		if c.in != nil && c.dialog.LoadState() < sip.DialogStateConfirmed {
			c.tx.Terminate() // the caller has not confirmed the call, and will not
		}
		if err := c.dialog.Bye(ctx); err != nil {
			c.server.cfg.Logger.Debug("the telephone did not confirm the end of its call", "trunk", c.trunk.Name, "error", err)
		}
	})
}

// Refer asks the caller's side to call target in place of this server. It returns when that side has taken the request.
func (c *Call) Refer(ctx context.Context, target string) error {
	l, accepted := c.decision()
	if !accepted || c.dialog.LoadState() != sip.DialogStateConfirmed {
		return errors.New("the caller has not confirmed the call yet, or has hung up")
	}
	ctx, cancel := context.WithTimeout(ctx, refersWithin)
	defer cancel()
	r := sip.NewRequest(sip.REFER, c.far())
	r.AppendHeader(sip.NewHeader("Refer-To", "<"+target+">"))
	r.AppendHeader(sip.NewHeader("Referred-By", "<"+c.contact.Address.String()+">"))
	res, err := c.dialog.Do(ctx, r)
	if err != nil {
		return fmt.Errorf("the telephone did not answer the request: %w", err)
	}
	if !res.IsSuccess() {
		return fmt.Errorf("the telephone refused the request: %d %s", res.StatusCode, strconv.Quote(res.Reason))
	}
	// The telephone reports how it goes. If it does not, the call ends all the same.
	limit := time.AfterFunc(connectsWithin, func() { l.Ended(fmt.Errorf("sip: the call was transferred: %w", link.ErrHungUp)) })
	go func() {
		<-c.over
		limit.Stop()
	}()
	return nil
}

// Press has keys sent to the telephone: see audio.Stream.Press.
func (c *Call) Press(keys string) error {
	if _, accepted := c.decision(); !accepted {
		return errors.New("the call is not answered yet")
	}
	return c.stream.Press(keys)
}
