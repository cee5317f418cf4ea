package sip

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"

	"github.com/antiphon-rt/antiphon/internal/call/sip/audio"
	"github.com/antiphon-rt/antiphon/internal/call/sip/outbound"
)

// The server: its sockets, and what it does with each kind of request.

// Config configures a Server. Ring and Trunks are required.
type Config struct {
	// Listen are the HOST:PORT of SIP over UDP and TCP, and of SIP over TLS; empty for none.
	Listen, ListenTLS string
	// TLS is for ListenTLS.
	TLS *tls.Config
	// Trunks are who may call.
	Trunks []Trunk
	Audio
	// Ring decides on a call. It is called in a goroutine of the call, and calls Accept or Reject. ctx is done when the caller gives up.
	Ring   func(ctx context.Context, c *Call)
	Logger *slog.Logger
}

// Server takes telephone calls.
type Server struct {
	cfg    Config
	door   *door
	ua     *sipgo.UserAgent
	server *sipgo.Server

	sockets []interface{ Close() error }
	serving sync.WaitGroup // the sockets and the calls
	udp     net.PacketConn

	tcpOut, tlsOut *outbound.Lines // that this server opens

	registering sync.WaitGroup
	unregister  context.CancelFunc
	at          netip.AddrPort // where UDP and TCP listen
	tlsAt       netip.AddrPort

	mu     sync.Mutex
	calls  map[string]*Call // by dialog
	busy   map[string]int   // calls of each trunk
	closed bool
}

// largestUDP is the size of the largest message over UDP: an answer with many Record-Route is split by IP.
const largestUDP = 8 << 10

// quiet takes the log of sipgo, which logs whole messages of anybody as errors.
var quiet = slog.New(slog.DiscardHandler)

func init() { //nolint:gochecknoinits // variables of sipgo, which all its goroutines read
	sip.UDPMTUSize = largestUDP
	sip.SetDefaultLogger(quiet) // transports that others make have no other
}

// New opens the sockets and takes calls. The caller closes the Server.
func New(cfg Config) (*Server, error) {
	if err := Check(cfg.Trunks); err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	if i := slices.IndexFunc(cfg.Trunks, func(t Trunk) bool { return t.Register != nil || t.Out != nil }); i >= 0 && cfg.Listen == "" {
		return nil, fmt.Errorf("sip: trunk %s: register and out need SIP over UDP: listen for it, too", cfg.Trunks[i].Name)
	}
	s := &Server{cfg: cfg, door: newDoor(cfg.Trunks, time.Now), calls: map[string]*Call{}, busy: map[string]int{}}
	ua, err := sipgo.NewUA(sipgo.WithUserAgent("antiphon"), sipgo.WithUserAgentDNSResolver(outbound.Resolver()),
		sipgo.WithUserAgentTransportLayerOptions(sip.WithTransportLayerLogger(quiet), sip.WithTransportLayerTransports(outbound.Transports()), func(l *sip.TransportLayer) { l.OnMessage(s.early) }),
		sipgo.WithUserAgentTransactionLayerOptions(sip.WithTransactionLayerLogger(quiet), sip.WithTransactionLayerTerminateOnConnClose()))
	if err != nil {
		return nil, fmt.Errorf("sip: %w", err)
	}
	s.ua = ua
	if s.server, err = sipgo.NewServer(ua, sipgo.WithServerLogger(quiet)); err != nil {
		return nil, errors.Join(err, ua.Close())
	}
	s.route()
	var ctx context.Context
	ctx, s.unregister = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for i := range cfg.Trunks {
		if t := &cfg.Trunks[i]; t.Register != nil {
			s.registering.Go(func() { s.register(ctx, t) })
		}
	}
	return s, nil
}

// route says what answers each kind of request.
func (s *Server) route() {
	s.server.OnInvite(s.invite)
	s.server.OnAck(s.ack)
	s.server.OnBye(s.inDialog((*Call).bye))
	s.server.OnInfo(s.inDialog((*Call).info))
	s.server.OnUpdate(s.inDialog((*Call).update))
	s.server.OnNotify(s.inDialog((*Call).notify))
	s.server.OnCancel(s.inDialog(func(_ *Call, r *sip.Request, tx sip.ServerTransaction) { answer(tx, r, sip.StatusOK) })) // too late: sipgo has found no call that rings
	s.server.OnOptions(func(r *sip.Request, tx sip.ServerTransaction) {
		if s.trunk(r, tx) != nil {
			answer(tx, r, sip.StatusOK, allows(), sip.NewHeader("Accept", "application/sdp"))
		}
	})
	s.server.OnNoRoute(func(r *sip.Request, tx sip.ServerTransaction) {
		if s.trunk(r, tx) != nil {
			answer(tx, r, sip.StatusMethodNotAllowed, allows())
		}
	})
}

func allows() sip.Header {
	return sip.NewHeader("Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, NOTIFY")
}

// open opens the sockets and begins to read them.
func (s *Server) open() error {
	s.tcpOut, s.tlsOut = outbound.New(), outbound.New()
	if s.cfg.Listen != "" {
		udp, err := net.ListenPacket("udp", s.cfg.Listen)
		if err != nil {
			return fmt.Errorf("sip: %w", err)
		}
		s.udp, s.at = udp, addressOf(udp.LocalAddr())
		ready := make(chan struct{})
		read := sync.OnceFunc(func() { close(ready) })
		s.serve(udp, func() error {
			defer read()
			return s.server.ServeUDP(newDatagrams(udp, s.door, read))
		})
		<-ready                                       // else a request would go out over a socket of its own
		host, _, _ := net.SplitHostPort(s.cfg.Listen) // ListenPacket has read it
		tcp, err := net.Listen("tcp", net.JoinHostPort(host, fmt.Sprint(s.at.Port())))
		if err != nil {
			return fmt.Errorf("sip: %w", err)
		}
		s.serve(tcp, func() error { return s.server.ServeTCP(newConnections(tcp, s.door, s.tcpOut.Has)) })
	}
	if s.cfg.ListenTLS != "" {
		tcp, err := net.Listen("tcp", s.cfg.ListenTLS)
		if err != nil {
			return fmt.Errorf("sip: %w", err)
		}
		s.tlsAt = addressOf(tcp.Addr())
		s.serve(tcp, func() error {
			return s.server.ServeTLS(tls.NewListener(newConnections(tcp, s.door, s.tlsOut.Has), s.cfg.TLS))
		})
	}
	s.serve(s.tcpOut, func() error { return s.server.ServeTCP(s.tcpOut) })
	s.serve(s.tlsOut, func() error { return s.server.ServeTLS(s.tlsOut) })
	return nil
}

func (s *Server) serve(socket interface{ Close() error }, read func() error) {
	s.sockets = append(s.sockets, socket)
	s.serving.Go(func() { _ = read() }) // it ends with the socket
}

// Address returns where UDP and TCP listen, and TLSAddress where TLS does; the zero AddrPort for none.
func (s *Server) Address() netip.AddrPort    { return s.at }
func (s *Server) TLSAddress() netip.AddrPort { return s.tlsAt }

// closeWithin bounds how long Close waits for calls that the caller of Close has not ended.
const closeWithin = 5 * time.Second

// Close ends every call and closes the sockets.
func (s *Server) Close() error {
	s.unregister()
	s.registering.Wait() // it has a bound
	s.mu.Lock()
	s.closed = true
	var all []*Call
	for _, c := range s.calls {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		go c.HangUp() // it has a bound
	}
	limit := time.NewTimer(closeWithin)
	defer limit.Stop()
	for _, c := range all {
		select {
		case <-c.over:
		case <-limit.C:
		}
	}
	var err error
	for _, l := range s.sockets {
		err = errors.Join(err, l.Close())
	}
	err = errors.Join(err, s.ua.Close())
	s.serving.Wait()
	return err
}

// trunk returns the trunk of a request. It answers a stranger, and returns nil. Each new call shows its credentials: the address of an earlier one is not enough.
func (s *Server) trunk(r *sip.Request, tx sip.ServerTransaction) *Trunk {
	from, to := peerOf(r), r.To()
	if !from.IsValid() {
		answer(tx, r, sip.StatusBadRequest)
		return nil
	}
	if t, always := s.door.known(from); t != nil && (always || !r.IsInvite() || to != nil && to.Params.Has("tag")) {
		return t
	}
	t, stale := s.door.verify(r, from, true)
	if t == nil {
		_ = tx.Respond(s.door.ask(r, from.Addr(), stale)) // a stranger that is gone gets no answer
	}
	return t
}

// answer answers a request.
func answer(tx sip.ServerTransaction, r *sip.Request, status int, headers ...sip.Header) {
	res := sip.NewResponseFromRequest(r, status, reason(status), nil)
	for _, h := range headers {
		res.AppendHeader(h)
	}
	_ = tx.Respond(res) // the peer repeats its request if it gets no answer
}

// reason returns the text beside a status.
func reason(status int) string {
	switch status {
	case sip.StatusOK:
		return "OK"
	case sip.StatusRinging:
		return "Ringing"
	case sip.StatusBadRequest:
		return "Bad Request"
	case sip.StatusForbidden:
		return "Forbidden"
	case sip.StatusNotFound:
		return "Not Found"
	case sip.StatusMethodNotAllowed:
		return "Method Not Allowed"
	case sip.StatusBadExtension:
		return "Bad Extension"
	case 422:
		return "Session Interval Too Small"
	case sip.StatusTemporarilyUnavailable:
		return "Temporarily Unavailable"
	case sip.StatusCallTransactionDoesNotExists:
		return "Call/Transaction Does Not Exist"
	case sip.StatusBusyHere:
		return "Busy Here"
	case sip.StatusNotAcceptableHere:
		return "Not Acceptable Here"
	case sip.StatusServiceUnavailable:
		return "Service Unavailable"
	case sip.StatusGlobalDecline:
		return "Decline"
	}
	return "Refused"
}

// invite takes a call, or a change to a call that there is.
func (s *Server) invite(r *sip.Request, tx sip.ServerTransaction) {
	if to := r.To(); to != nil && to.Params.Has("tag") {
		s.inDialog((*Call).reinvite)(r, tx)
		return
	}
	t := s.trunk(r, tx)
	if t == nil {
		return
	}
	if wants := required(r); wants != "" {
		answer(tx, r, sip.StatusBadExtension, sip.NewHeader("Unsupported", wants))
		return
	}
	if status, header := tooShort(r); status != 0 {
		answer(tx, r, status, header)
		return
	}
	if !s.enter(t) {
		s.cfg.Logger.Info("telephone call refused: the trunk has as many calls as it may", "trunk", t.Name, "calls", t.limit())
		answer(tx, r, sip.StatusBusyHere)
		return
	}
	defer s.leave(t)
	c, status, err := s.newCall(t, r, tx)
	if err != nil {
		s.cfg.Logger.Info("telephone call refused", "trunk", t.Name, "status", status, "why", err)
		answer(tx, r, status)
		return
	}
	c.run()
}

// enter counts a call of a trunk. It reports false if the trunk has as many as it may, or if the server closes.
func (s *Server) enter(t *Trunk) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.busy[t.Name] >= t.limit() {
		return false
	}
	s.busy[t.Name]++
	s.serving.Add(1)
	return true
}

func (s *Server) leave(t *Trunk) {
	s.mu.Lock()
	s.busy[t.Name]--
	s.mu.Unlock()
	s.serving.Done()
}

// ack gives an ACK to its call, if it comes from the call's trunk. Nobody can be asked for the credentials of an ACK.
func (s *Server) ack(r *sip.Request, tx sip.ServerTransaction) {
	c, from := s.find(r), peerOf(r)
	if t, _ := s.door.known(from); c != nil && t == c.trunk {
		c.ack(r, tx)
	}
}

// peerOf returns the address that a request came from; the zero AddrPort for none.
func peerOf(r *sip.Request) netip.AddrPort {
	from, err := netip.ParseAddrPort(r.Source())
	if err != nil {
		return from
	}
	return netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
}

// inDialog returns a handler that gives a request to its call.
func (s *Server) inDialog(handle func(c *Call, r *sip.Request, tx sip.ServerTransaction)) sipgo.RequestHandler {
	return func(r *sip.Request, tx sip.ServerTransaction) {
		c := s.find(r)
		if c == nil {
			answer(tx, r, sip.StatusCallTransactionDoesNotExists)
			return
		}
		t := s.trunk(r, tx)
		switch {
		case t == c.trunk:
			handle(c, r, tx)
		case t != nil:
			answer(tx, r, sip.StatusCallTransactionDoesNotExists)
		}
	}
}

// find returns the call that a request belongs to, or nil.
func (s *Server) find(r *sip.Request) *Call {
	id, err := sip.DialogIDFromRequestUAS(r)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// required returns the extensions that a request requires and that this server does not have.
func required(r *sip.Request) string {
	var missing []string
	for _, h := range r.GetHeaders("Require") {
		for option := range strings.SplitSeq(h.Value(), ",") {
			if option = strings.TrimSpace(option); option != "" && option != "timer" {
				missing = append(missing, option)
			}
		}
	}
	return strings.Join(missing, ", ")
}

// lists has requests of a dialog go to a call. It reports false when the server closes.
func (s *Server) lists(c *Call, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	delete(s.calls, c.id)
	c.id, s.calls[id] = id, c
	return true
}

// strikes ends what lists began.
func (s *Server) strikes(c *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.id)
}

// reach returns the address under which a peer reaches this server.
func (s *Server) reach(peer netip.Addr) netip.Addr {
	if !peer.IsLoopback() && !peer.IsPrivate() {
		for _, public := range s.cfg.Public {
			if public.Is4() == peer.Is4() {
				return public
			}
		}
	}
	if at := s.at.Addr(); at.IsValid() && !at.IsUnspecified() {
		return at
	}
	c, err := net.Dial("udp", netip.AddrPortFrom(peer, 9).String()) // it sends nothing: it asks for the route
	if err != nil {
		return s.at.Addr()
	}
	defer func() { _ = c.Close() }() // it sent nothing
	return addressOf(c.LocalAddr()).Addr()
}

// audio returns how a call carries its sound.
func (s *Server) audio(public, peer netip.Addr) audio.Config {
	bind := netip.IPv4Unspecified()
	if at := s.at.Addr(); at.IsValid() && !at.IsUnspecified() {
		bind = at
	} else if public.Is6() {
		bind = netip.IPv6Unspecified()
	}
	return audio.Config{Bind: bind, Public: public, Signalling: peer, Taken: netip.AddrPortFrom(public, s.at.Port()), FirstPort: s.cfg.FirstPort, LastPort: s.cfg.LastPort, Quiet: s.cfg.Quiet}
}

// newID returns the id of a call.
func newID() string { return rand.Text() }
