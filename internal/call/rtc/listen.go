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

	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/incoming"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/opus"
)

// The reading of the client's audio track: hands RTP packets to the receiver and keeps its time.

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

// Bytes of packets that wait in one stream to be read: some seconds of audio.
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

// onTrack takes the client's newest audio track: a client may send its audio as another stream (SSRC) from some moment on.
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

// listen gives the client's audio to the Handler until the transport closes, or until a newer track is there.
func (p *Peer) listen(t voiceTrack) {
	p.taken.takeTrack(t)
	dec, err := opus.NewDecoder()
	if err != nil {
		p.fail(err)
		return
	}
	receiver := incoming.New(dec, &p.counts.received, p.handler)
	buf := make([]byte, maxUDP)
	var header rtp.Header
	var last arrivals
	for {
		wake, ok := receiver.Wake() // the zero time is no deadline
		if next := time.Now().Add(heartbeat); ok && wake.After(next) {
			wake = next
		}
		if err := t.SetReadDeadline(wake); err != nil {
			return
		}
		n, _, err := t.Read(buf)
		now := time.Now()
		if !p.enterHearing(t) {
			return
		}
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			if by := now.Sub(wake); by > oversleep {
				receiver.Extend(by)
			}
		case err != nil:
			<-p.hearing
			return // the transport is closed
		default:
			payload, ok := payloadOf(&header, buf[:n])
			if ok {
				if quiet := last.next(header.SequenceNumber, now); quiet > 0 {
					p.wasCut(quiet)
				}
			}
			p.reachable(true)
			if ok {
				receiver.Push(incoming.Packet{Seq: header.SequenceNumber, TS: header.Timestamp, Payload: payload, At: now})
			}
		}
		receiver.Tick(now)
		<-p.hearing
	}
}

// enterHearing begins to handle a packet of t once no packet of another track is handled. It reports false if a newer track is there, or
// if the peer closes. The caller takes the token out of hearing again.
func (p *Peer) enterHearing(t voiceTrack) bool {
	select {
	case p.hearing <- struct{}{}:
	case <-p.life.stop:
		return false
	}
	if p.taken.newest(t) {
		return true
	}
	<-p.hearing
	return false
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
