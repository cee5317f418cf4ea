package rtc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/transport/v4/packetio"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/incoming"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// This file reads the client's audio tracks. It gives the RTP packets to the receiver, and wakes the receiver when something is due without a packet.

// maxUDP is the size of the largest packet that pion reads, in bytes.
const maxUDP = 1500

const (
	// oversleep is how late a timer may be and still count as on time.
	oversleep = 20 * time.Millisecond
	// heartbeat is the longest sleep while a packet is late: so listen notices when the machine stands still.
	heartbeat = 100 * time.Millisecond
)

// maxStreams is how many streams of audio and of reports (SSRCs) a client may begin in one call. Each costs memory as long as the call.
const maxStreams = 64

// The most bytes of packets that wait in one stream until they are read: some seconds of audio.
const maxUnreadAudio, maxUnreadReports = 64 << 10, 16 << 10

// streamBuffer returns the buffer of a stream that the client begins. A client that begins too many fails.
func (p *Peer) streamBuffer(kind packetio.BufferPacketType, _ uint32) io.ReadWriteCloser {
	if p.streams.Add(1) > maxStreams {
		p.fail(fmt.Errorf("rtc: the client sends more than %d streams (SSRCs): send one, and reports of that one", maxStreams))
	}
	b := packetio.NewBuffer()
	if kind == packetio.RTCPBufferPacket {
		b.SetLimitSize(maxUnreadReports)
	} else {
		b.SetLimitSize(maxUnreadAudio)
	}
	return b
}

// rtcpRead reads one RTCP packet.
type rtcpRead func(b []byte) (int, interceptor.Attributes, error)

// onTrack begins to read an audio track of the client. A client may change to another stream (SSRC) during the call: taken says which one the peer hears.
func (p *Peer) onTrack(t *webrtc.TrackRemote, r *webrtc.RTPReceiver) {
	if t.Kind() != webrtc.RTPCodecTypeAudio {
		p.engine.cfg.Logger.Debug("track refused", "kind", t.Kind().String(), "ssrc", uint32(t.SSRC()))
		return
	}
	p.life.start(func() { p.feedback(r.Read) })
	p.life.start(func() { p.listen(t) })
}

// voiceTrack is the part of a pion track that listen uses.
type voiceTrack interface {
	Read(b []byte) (int, interceptor.Attributes, error)
	SetReadDeadline(t time.Time) error
}

// listen gives the client's audio to the Handler until the transport closes, as long as the client sends it in the track t.
func (p *Peer) listen(t voiceTrack) {
	p.taken.takeTrack(t)
	buf := make([]byte, maxUDP)
	var s *stream // nil while another track is heard
	for {
		wake := s.wake()
		if err := t.SetReadDeadline(wake); err != nil {
			return
		}
		n, _, err := t.Read(buf)
		now := time.Now()
		if late, is := errors.AsType[net.Error](err); err != nil && !(is && late.Timeout()) {
			return // the transport is closed
		}
		if !p.enterHearing() {
			return
		}
		if !p.taken.hears(t, err == nil, now) {
			s = nil
		} else {
			if s == nil {
				if s = p.newStream(); s == nil {
					<-p.hearing
					return
				}
			}
			if err == nil {
				p.packet(s, buf[:n], now)
			} else if by := now.Sub(wake); by > oversleep {
				s.receiver.Extend(by)
			}
			s.receiver.Tick(now)
		}
		<-p.hearing
	}
}

// stream is what the peer knows of the track that it hears.
type stream struct {
	receiver *incoming.Receiver
	header   rtp.Header
	last     arrivals
}

// newStream returns a stream that begins. It returns nil without a decoder: the call fails.
func (p *Peer) newStream() *stream {
	dec, err := opus.NewDecoder()
	if err != nil {
		p.fail(err)
		return nil
	}
	return &stream{receiver: incoming.New(dec, &p.counts.received, p.handler)}
}

// wake returns the next time at which the stream has work without a packet; the zero time if it only waits for a packet.
func (s *stream) wake() time.Time {
	if s == nil {
		return time.Time{}
	}
	wake, ok := s.receiver.Wake()
	if next := time.Now().Add(heartbeat); ok && wake.After(next) {
		return next
	}
	return wake
}

// packet handles a packet of the stream s that came at now.
func (p *Peer) packet(s *stream, b []byte, now time.Time) {
	payload, ok := payloadOf(&s.header, b)
	if ok {
		if quiet := s.last.next(s.header.SequenceNumber, now); quiet > 0 {
			p.wasCut(quiet)
		}
	}
	p.reachable(true)
	if ok {
		s.receiver.Push(incoming.Packet{Seq: s.header.SequenceNumber, TS: s.header.Timestamp, Payload: payload, At: now})
	}
}

// enterHearing begins to handle a packet once no packet of another track is handled. It reports false if the peer closes. The caller takes
// the token out of hearing again.
func (p *Peer) enterHearing() bool {
	select {
	case p.hearing <- struct{}{}:
		return true
	case <-p.life.stop:
		return false
	}
}

// payloadOf parses an RTP packet into h and returns its payload, which is empty for padding. ok is false for garbage.
func payloadOf(h *rtp.Header, b []byte) (payload []byte, ok bool) {
	n, err := h.Unmarshal(b)
	if err != nil {
		return nil, false
	}
	payload = b[n:]
	if h.Padding && len(payload) > 0 {
		pad := int(payload[len(payload)-1])
		if pad > len(payload) {
			return nil, false
		}
		payload = payload[:len(payload)-pad]
	}
	return payload, true
}
