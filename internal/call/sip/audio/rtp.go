package audio

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/srtp/v3"

	"github.com/antiphon-rt/antiphon/internal/call/incoming"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// The packets of a stream, in both directions.

// maxPacket is the size of the largest packet that is read.
const maxPacket = 1500

// writeWithin bounds how long a packet may wait for the socket.
const writeWithin = 10 * time.Millisecond

// comfortNoise is the payload type of comfort noise (RFC 3389).
const comfortNoise = 13

// replayWindow is how many packets back a repeated one is noticed.
const replayWindow = 64

// newContext returns the encryption with a master key and its salt.
func newContext(key []byte) (*srtp.Context, error) {
	return srtp.CreateContext(key[:16], key[16:], srtp.ProtectionProfileAes128CmHmacSha1_80, srtp.SRTPReplayProtection(replayWindow))
}

// sending is the state of the packets that go out.
type sending struct {
	header  rtp.Header
	number  uint8 // the payload type of the audio
	codec   *codec
	enc     opus.Encoding
	secure  *srtp.Context // nil without encryption
	payload []byte
	packet  []byte
	voiced  bool  // the packet before was voiced
	events  uint8 // the payload type of keys
	keys    pressing
}

func newSending() sending {
	return sending{
		header:  rtp.Header{Version: 2, SSRC: rand.Uint32(), SequenceNumber: uint16(rand.Uint32()), Timestamp: rand.Uint32()},
		payload: make([]byte, opus.MaxBytes), packet: make([]byte, 0, maxPacket),
	}
}

// begin begins to send in the codec of a description, encrypted with key unless it is nil.
func (o *sending) begin(d *description, key []byte) (err error) {
	o.secure = nil
	if d.crypto != nil {
		if o.secure, err = newContext(key); err != nil {
			return err
		}
		o.header.SSRC = rand.Uint32() // the packets of the former stream used up its numbers
	}
	if o.codec != d.audio.codec || o.enc == nil {
		if o.enc, err = d.audio.codec.encode(); err != nil {
			return err
		}
		o.codec = d.audio.codec
	}
	return nil
}

// encode encodes a frame into payload. The codec delays: the first frame of silence brings out the end of the speech. pcm of silence is zero.
func (o *sending) encode(pcm []int16, voiced bool) (n int, err error) {
	if o.codec.silence != nil && !voiced && !o.voiced {
		return copy(o.payload, o.codec.silence), nil
	}
	if o.codec.silence != nil && voiced && !o.voiced {
		o.enc.Reset()
	}
	return o.enc.Encode(pcm, o.payload)
}

// frame returns the next packet; nil if the far end does not hear.
func (o *sending) frame(pcm []int16, voiced, heard bool) ([]byte, error) {
	if o.codec == nil {
		return nil, nil
	}
	o.header.SequenceNumber++
	o.header.Timestamp += o.codec.ticks()
	o.header.Marker = voiced && !o.voiced
	if !heard {
		o.voiced = false
		return nil, nil
	}
	header := o.header
	header.PayloadType = o.number
	if key, begins := o.keys.next(header.Timestamp, o.codec.ticks(), voiced); key != nil {
		o.voiced = false
		header.PayloadType, header.Timestamp, header.Marker = o.events, o.keys.at, begins
		return o.pack(&header, key)
	}
	n, err := o.encode(pcm, voiced)
	o.voiced = voiced
	if err != nil {
		return nil, err
	}
	return o.pack(&header, o.payload[:n])
}

// pack returns a packet, encrypted if the call is.
func (o *sending) pack(header *rtp.Header, payload []byte) ([]byte, error) {
	if o.secure != nil {
		plain, err := header.Marshal()
		if err != nil {
			return nil, err
		}
		return o.secure.EncryptRTP(nil, append(plain, payload...), header)
	}
	size := header.MarshalSize()
	o.packet = o.packet[:size+len(payload)]
	if _, err := header.MarshalTo(o.packet); err != nil {
		return nil, err
	}
	copy(o.packet[size:], payload)
	return o.packet, nil
}

// maxBlind is how many packets a call sends to the address of a description from which no packet has come: 5 s. The caller chooses that address, which may be somebody else's.
const maxBlind = 250

// Send sends one frame of 20 ms at Rate. voiced is false for silence. It is called every 20 ms.
func (s *Stream) Send(pcm []int16, voiced bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.far == nil {
		return nil
	}
	packet, err := s.out.frame(pcm, voiced, s.far.hears())
	if err != nil || packet == nil {
		return err
	}
	to := s.from
	if !to.IsValid() {
		if s.blind == maxBlind {
			return nil
		}
		s.blind++
		to = s.far.remote
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := s.conn.WriteToUDPAddrPort(packet, to); errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // a packet that the network refuses is lost, like one that it drops
}

// receiving is what the packets that come in are read with.
type receiving struct {
	secure *srtp.Context // nil without encryption
}

// key sets the key of the packets that come in; nil for none.
func (r *receiving) key(c *crypto) (err error) {
	r.secure = nil
	if c != nil {
		r.secure, err = newContext(c.key)
	}
	return err
}

// reader is the state of the goroutine that receives.
type reader struct {
	stream   *Stream
	to       Listener
	receiver *incoming.Receiver // nil before the first packet of an epoch
	epoch    uint64
	clock    uint32 // of the codec
	keys     event
	header   rtp.Header
	last     time.Time // when the last good packet came
	plain    []byte
}

// receive reads packets until the socket is closed or the far end is quiet for too long.
func (s *Stream) receive(to Listener) {
	r := &reader{stream: s, to: to, last: time.Now(), plain: make([]byte, 0, maxPacket)}
	buf := make([]byte, maxPacket)
	for {
		wake := time.Now().Add(time.Second)
		if r.receiver != nil {
			if due, ok := r.receiver.Wake(); ok && due.Before(wake) {
				wake = due
			}
		}
		if err := s.conn.SetReadDeadline(wake); err != nil {
			return
		}
		n, from, err := s.conn.ReadFromUDPAddrPort(buf)
		now := time.Now()
		if late, is := errors.AsType[net.Error](err); err != nil && !(is && late.Timeout()) {
			return // the socket is closed
		}
		if err == nil {
			r.packet(buf[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), now)
		} else if by := now.Sub(wake); by > 20*time.Millisecond && r.receiver != nil {
			r.receiver.Extend(by)
		}
		if r.receiver != nil {
			r.receiver.Tick(now)
		}
		if s.quiet(to, r.last, now) {
			return
		}
	}
}

// packet takes a packet that came from an address.
func (r *reader) packet(b []byte, from netip.AddrPort, now time.Time) {
	far, payload, ok := r.open(b, from)
	if !ok {
		return
	}
	r.last = now
	r.begin(far)
	h := &r.header
	ts := h.Timestamp * (48_000 / r.clock)
	switch {
	case far.events != 0 && h.PayloadType == far.events:
		if d, ok := r.keys.key(payload, h.Timestamp); ok {
			r.to.Digit(d)
		}
		payload = nil // it has a number, and no audio
	case h.PayloadType == comfortNoise && r.clock == narrow:
		payload = payload[:min(len(payload), 1)]
	case h.PayloadType != far.audio.number:
		return
	case r.clock == narrow && len(payload) <= 2:
		return
	}
	r.receiver.Push(incoming.Packet{Seq: h.SequenceNumber, TS: ts, Payload: payload, At: now})
}

// begin begins a new receiver if the far end has changed its audio.
func (r *reader) begin(far *description) {
	epoch := r.stream.epochNow()
	if r.receiver != nil && r.epoch == epoch && r.clock == far.audio.codec.clock {
		return
	}
	dec, err := far.audio.codec.decode()
	if err != nil {
		return // its parts are constants: it never fails
	}
	r.receiver, r.epoch, r.clock, r.keys = incoming.New(dec, &r.stream.stats, r.to), epoch, far.audio.codec.clock, event{}
}

func (s *Stream) epochNow() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// open returns the far end and the payload of one of its packets. ok is false for a packet of somebody else, and for garbage.
func (r *reader) open(b []byte, from netip.AddrPort) (far *description, payload []byte, ok bool) {
	s := r.stream
	n, err := r.header.Unmarshal(b)
	if err != nil || r.header.Version != 2 {
		return nil, nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	far = s.far
	if far == nil || !s.mayCome(from) {
		return nil, nil, false
	}
	if s.in.secure != nil {
		if b, err = s.in.secure.DecryptRTP(r.plain, b, &r.header); err != nil {
			return nil, nil, false
		}
	}
	payload = b[n:]
	if r.header.Padding && len(payload) > 0 {
		pad := int(payload[len(payload)-1])
		if pad > len(payload) {
			return nil, nil, false
		}
		payload = payload[:len(payload)-pad]
	}
	if t := r.header.PayloadType; t != far.audio.number && t != far.events && t != comfortNoise {
		return nil, nil, false
	}
	s.from = from
	return far, payload, true
}

// mayCome reports whether a packet from this address can be the far end's: it comes from where all packets came from, or it is the first one and comes from the
// address of the SDP or of the signalling. Encrypted, the first one may come from anywhere, because its key says whose it is. The caller holds mu.
func (s *Stream) mayCome(from netip.AddrPort) bool {
	if s.from.IsValid() {
		return s.from == from
	}
	return s.in.secure != nil || from.Addr() == s.far.remote.Addr() || from.Addr() == s.cfg.Signalling.Unmap()
}
