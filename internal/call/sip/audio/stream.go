package audio

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/incoming"
	"github.com/antiphon-rt/antiphon/internal/call/link"
)

// The stream of one call: its socket, its descriptions, and the end of a call whose far end sends nothing.

// Rate is the sample rate of all PCM of this package.
const Rate = 24_000

// dropsWithin bounds Drop. It is enough for what a socket keeps.
const dropsWithin = 5 * time.Millisecond

// Config says how a Stream works.
type Config struct {
	// Bind is the address of this machine on which the far end's packets arrive; unspecified for all.
	Bind netip.Addr
	// Public is the address that descriptions name.
	Public netip.Addr
	// Signalling is the address from which the call's signalling comes.
	Signalling netip.Addr
	// Taken is where this machine takes signalling: no audio goes there.
	Taken netip.AddrPort
	// FirstPort and LastPort bound the port; 0 takes any.
	FirstPort, LastPort uint16
	// Secure has offers want encryption (RFC 4568).
	Secure bool
	// Quiet is how long the far end may send nothing, unless it holds the call; 0 takes 30 s.
	Quiet time.Duration
	// Held is how long the far end may hold the call; 0 takes 30 min.
	Held time.Duration
}

// Listener gets what comes in. A phone.Link is one.
type Listener interface {
	incoming.Listener
	// Digit brings one key.
	Digit(d byte)
	// Ended says that the far end has sent nothing for too long.
	Ended(err error)
}

// Stream is the audio of one call. Its methods are safe for concurrent use; one goroutine calls Send.
type Stream struct {
	cfg   Config
	conn  *net.UDPConn
	stats incoming.Stats
	done  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	local  local
	far    *description // nil before the first description
	epoch  uint64       // counts the descriptions of the far end that change the audio
	from   netip.AddrPort
	blind  int // frames that were sent where no packet had come from, in the whole call
	in     receiving
	out    sending
}

// Open opens the socket of a call.
func Open(cfg Config) (*Stream, error) {
	if cfg.Quiet == 0 {
		cfg.Quiet = 30 * time.Second
	}
	if cfg.Held == 0 {
		cfg.Held = 30 * time.Minute
	}
	conn, err := listen(cfg)
	if err != nil {
		return nil, err
	}
	s := &Stream{cfg: cfg, conn: conn, out: newSending()}
	s.local = local{at: netip.AddrPortFrom(cfg.Public, localPort(conn)), id: randomID()}
	return s, nil
}

// localPort returns the port of a socket.
func localPort(conn *net.UDPConn) uint16 {
	at, _ := conn.LocalAddr().(*net.UDPAddr) // of a UDP socket it is one
	return uint16(at.Port)
}

// listen opens a socket on a port of the range, beginning anywhere in it.
func listen(cfg Config) (*net.UDPConn, error) {
	open := func(port uint16) (*net.UDPConn, error) {
		return net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(cfg.Bind, port)))
	}
	if cfg.FirstPort == 0 {
		return open(0)
	}
	ports := int(cfg.LastPort) - int(cfg.FirstPort) + 1
	first := rand.IntN(ports)
	for i := range ports {
		if conn, err := open(cfg.FirstPort + uint16((first+i)%ports)); err == nil {
			return conn, nil
		}
	}
	return nil, fmt.Errorf("audio: no UDP port from %d to %d is free", cfg.FirstPort, cfg.LastPort)
}

// read reads a description of the far end.
func (s *Stream) read(text []byte) (*description, error) {
	d, err := read(text)
	if err == nil && d.remote == s.cfg.Taken {
		err = fmt.Errorf("the SDP's address %v is where this server takes signalling", d.remote)
	}
	return d, err
}

// Answer takes an offer and returns the answer to it. A later offer changes the address, the codec or the direction of the audio.
func (s *Stream) Answer(offer []byte) ([]byte, error) {
	d, err := s.read(offer)
	if err != nil {
		return nil, err
	}
	if s.cfg.Secure && d.crypto == nil {
		return nil, errors.New("the offer is not encrypted, and this call is: offer RTP/SAVP with a=crypto")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local.direction = answered(d.direction)
	s.local.formats = []payload{d.audio}
	s.local.events = map[uint32]uint8{d.audio.codec.clock: d.events}
	if d.crypto == nil {
		s.local.key = nil
	} else if s.local.tag = d.crypto.tag; s.local.key == nil {
		s.local.key = newKey()
	}
	if err := s.take(d); err != nil {
		return nil, err
	}
	s.local.version++
	return s.local.write(d.lines, d.line), nil
}

// Numbers of the telephone events in our offers.
const eventsNarrow, eventsWide = 101, 102

// Offer returns an offer of all codecs. Answered takes the answer.
func (s *Stream) Offer() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local.formats = nil
	for _, c := range codecs {
		s.local.formats = append(s.local.formats, payload{c.static, c})
	}
	s.local.events = map[uint32]uint8{narrow: eventsNarrow, 48_000: eventsWide}
	s.local.direction = sendRecv
	if s.cfg.Secure && s.local.key == nil {
		s.local.key, s.local.tag = newKey(), "1"
	}
	s.local.version++
	return s.local.write([]string{""}, 0)
}

// Answered takes the answer to Offer.
func (s *Stream) Answered(text []byte) error {
	d, err := s.read(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case d.crypto != nil && s.local.key == nil:
		return errors.New("the answer is encrypted, and the offer was not")
	case d.crypto == nil && s.local.key != nil:
		return errors.New("the answer is not encrypted, and the offer was")
	}
	return s.take(d)
}

// take makes d the description of the far end. The caller holds mu.
func (s *Stream) take(d *description) error {
	was := s.far
	rekeyed := was == nil || (was.crypto == nil) != (d.crypto == nil) || d.crypto != nil && string(was.crypto.key) != string(d.crypto.key)
	if rekeyed { // else the far end's packets go on to be counted: their key is of the count, too
		if err := s.in.key(d.crypto); err != nil {
			return err
		}
	}
	if rekeyed || was.remote != d.remote || was.audio.codec != d.audio.codec {
		if err := s.out.begin(d, s.local.key); err != nil {
			return err
		}
		s.from = netip.AddrPort{}
		s.epoch++
	}
	s.far, s.out.number, s.out.events = d, d.audio.number, d.events
	if d.events == 0 {
		s.out.keys = pressing{} // they cannot be sent any more
	}
	return nil
}

// Held reports whether the far end holds the call: it neither sends nor hears, or only sends music.
func (s *Stream) Held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.far != nil && !s.far.hears()
}

// Drop drops what has come in so far: the sound before a call was answered.
func (s *Stream) Drop() {
	buf := make([]byte, maxPacket)
	if s.conn.SetReadDeadline(time.Now().Add(dropsWithin)) != nil {
		return // it is closed
	}
	for {
		if _, _, err := s.conn.ReadFromUDPAddrPort(buf); err != nil {
			return
		}
	}
}

// Listen gives what comes in to l, until Close.
func (s *Stream) Listen(l Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.done.Go(func() { s.receive(l) })
	}
}

// Close closes the socket and waits for the end of Listen.
func (s *Stream) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.conn.Close() // it is closed in any case
	s.done.Wait()
}

// quiet ends a call whose far end has sent nothing since last. It reports whether it has.
func (s *Stream) quiet(l Listener, last, now time.Time) bool {
	limit := s.cfg.Quiet
	s.mu.Lock()
	if s.far != nil && (!s.far.sends() || !s.far.hears()) {
		limit = s.cfg.Held
	}
	s.mu.Unlock()
	if now.Sub(last) < limit {
		return false
	}
	l.Ended(fmt.Errorf("audio: no packet of the far end for %v: %w", limit, link.ErrUnreachable))
	return true
}

// event is a telephone event of RFC 4733.
type event struct {
	seen bool
	at   uint32 // the RTP timestamp of the last key
}

// digits are the keys of the events 0 to 15.
const digits = "0123456789*#ABCD"

// key returns the key of an event's packet, once for each key: with its first packet.
func (e *event) key(payload []byte, ts uint32) (d byte, ok bool) {
	if len(payload) < 4 || int(payload[0]) >= len(digits) || e.seen && int32(ts-e.at) <= 0 {
		return 0, false
	}
	e.seen, e.at = true, ts
	return digits[payload[0]], true
}

// Again returns our last description once more, for a change that has none.
func (s *Stream) Again() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local.version++
	return s.local.write([]string{""}, 0)
}
