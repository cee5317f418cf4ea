package rtc

import (
	"errors"
	"net"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/rtc/internal/incoming"
	"github.com/antiphon-rt/antiphon/server/rtc/internal/opus"
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

// rtcpRead reads one RTCP packet.
type rtcpRead func(b []byte) (int, interceptor.Attributes, error)

// onTrack takes the client's first audio track. The offer has no other one.
func (p *Peer) onTrack(t *webrtc.TrackRemote, r *webrtc.RTPReceiver) {
	if t.Kind() != webrtc.RTPCodecTypeAudio || !p.taken.takeTrack() {
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

// listen gives the client's audio to the Handler until the transport closes.
func (p *Peer) listen(t voiceTrack) {
	dec, err := opus.NewDecoder()
	if err != nil {
		p.fail(err)
		return
	}
	receiver := incoming.New(dec, &p.counts.received, p.handler.Audio)
	buf := make([]byte, maxUDP)
	var header rtp.Header
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
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			if by := now.Sub(wake); by > oversleep {
				receiver.Extend(by)
			}
		case err != nil:
			return // the transport is closed
		default:
			p.reachable(true)
			if payload, ok := payloadOf(&header, buf[:n]); ok {
				receiver.Push(incoming.Packet{Seq: header.SequenceNumber, TS: header.Timestamp, Payload: payload, At: now})
			}
		}
		receiver.Tick(now)
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
