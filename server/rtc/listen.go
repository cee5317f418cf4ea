package rtc

import (
	"errors"
	"net"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// maxUDP is the largest packet that pion reads.
const maxUDP = 1500

const (
	// oversleep is how late a timer may be that still counts as on time.
	oversleep = 20 * time.Millisecond
	// heartbeat is the longest sleep of one that waits for a late packet: so it notices when the machine stands still.
	heartbeat = 100 * time.Millisecond
)

// rtcpRead reads one RTCP packet.
type rtcpRead func(b []byte) (int, interceptor.Attributes, error)

// onTrack takes the caller's voice: the first audio track, for there is no more than one.
func (p *Peer) onTrack(t *webrtc.TrackRemote, r *webrtc.RTPReceiver) {
	p.mu.Lock()
	wanted := t.Kind() == webrtc.RTPCodecTypeAudio && !p.listening
	p.listening = p.listening || wanted
	p.mu.Unlock()
	if !wanted {
		p.engine.cfg.Logger.Debug("track refused", "kind", t.Kind().String(), "ssrc", uint32(t.SSRC()))
		return
	}
	p.start(func() { p.feedback(r.Read) })
	p.start(func() { p.listen(t) })
}

// voiceTrack is what listen needs of a pion track.
type voiceTrack interface {
	Read(b []byte) (int, interceptor.Attributes, error)
	SetReadDeadline(t time.Time) error
}

// listen hands the caller's voice to the handler until the transport closes.
func (p *Peer) listen(t voiceTrack) {
	dec, err := newOpusDecoder()
	if err != nil {
		p.fail(err)
		return
	}
	in := newIntake(dec, &p.counts.intake, p.handler.Audio)
	buf := make([]byte, maxUDP)
	var header rtp.Header
	for {
		wake, ok := in.wake() // the zero time is no deadline
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
				in.overslept(by)
			}
		case err != nil:
			return // the transport is closed
		default:
			p.reachable(true)
			if payload, ok := payloadOf(&header, buf[:n]); ok {
				in.push(voicePacket{seq: header.SequenceNumber, ts: header.Timestamp, payload: payload, at: now})
			}
		}
		in.tick(now)
	}
}

// payloadOf parses a packet. ok is false for garbage. The payload of padding is empty.
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
