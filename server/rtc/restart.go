package rtc

import (
	"context"
	"errors"
	"fmt"

	"github.com/pion/sdp/v3"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

// The ICE restart: finds a new network path to a client that has lost its path or changed its network.

// Restart negotiates a new network path. The offer comes from the same peer connection as the call's first offer, made with
// iceRestart. All else stays as it is, and queued events wait. Restart returns the SDP answer, which contains all addresses of the
// server. If Handler.Lost was called, Handler.Restored follows when the client is reached. ctx bounds Restart itself. Restarts
// of one call happen one at a time.
//
// Errors wrap ErrBadSDP, ErrNoAudio, call.ErrClosed if the call is over, or the error of ctx. After an error the call stands as
// before, or is over.
func (p *Peer) Restart(ctx context.Context, text string) (string, error) {
	o, err := readOffer(text)
	if err != nil {
		return "", err
	}
	select {
	case p.restarting <- struct{}{}:
		defer func() { <-p.restarting }()
	case <-p.life.stop:
		return "", fmt.Errorf("rtc: restart: %w", call.ErrClosed)
	case <-ctx.Done():
		return "", fmt.Errorf("rtc: restart: %w", ctx.Err())
	}
	if state := p.pc.ConnectionState(); p.life.closing() || state == webrtc.PeerConnectionStateFailed || state == webrtc.PeerConnectionStateClosed {
		return "", fmt.Errorf("rtc: restart: %w", call.ErrClosed)
	}
	if err := sameCall(p.pc.RemoteDescription(), &o.desc); err != nil {
		return "", err
	}
	answer, err := p.renegotiate(ctx, o)
	if err != nil && p.life.closing() {
		return "", errors.Join(fmt.Errorf("rtc: restart: %w", call.ErrClosed), err)
	}
	return answer, err
}

func (p *Peer) renegotiate(ctx context.Context, o offer) (string, error) {
	if err := p.pc.SetRemoteDescription(o.desc); err != nil {
		return "", fmt.Errorf("%w: %w; send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc) // gathering began with SetRemoteDescription
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: it cannot be answered: %w", ErrBadSDP, err)
	}
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("rtc: local description: %w", err)
	}
	if err := p.await(ctx, gathered); err != nil {
		return "", err
	}
	return withFormat(p.pc.LocalDescription().SDP)
}

// sameCall checks that the offer now is a restart of the call of the offer before: the same sections and certificate, and new
// ICE credentials.
func sameCall(before, now *webrtc.SessionDescription) error {
	was, err := before.Unmarshal()
	if err != nil {
		return fmt.Errorf("rtc: the call's offer: %w", err)
	}
	is, err := now.Unmarshal()
	if err != nil {
		return fmt.Errorf("%w: it cannot be read (%w)", ErrBadSDP, err)
	}
	switch {
	case firstOf(was, "fingerprint") != firstOf(is, "fingerprint"):
		return fmt.Errorf("%w: it is another peer connection's; a restart comes from the one that the call was begun with", ErrBadSDP)
	case len(was.MediaDescriptions) != len(is.MediaDescriptions):
		return fmt.Errorf("%w: it has other sections than the call's; a restart changes nothing but the way", ErrBadSDP)
	case firstOf(is, "ice-ufrag") == "" || firstOf(was, "ice-ufrag") == firstOf(is, "ice-ufrag"):
		return fmt.Errorf("%w: it restarts nothing; make it with createOffer({iceRestart: true})", ErrBadSDP)
	}
	for i, m := range is.MediaDescriptions {
		before, _ := was.MediaDescriptions[i].Attribute("mid")
		if mid, _ := m.Attribute("mid"); mid != before {
			return fmt.Errorf("%w: its section %d has the mid %q, the call's %q", ErrBadSDP, i, mid, before)
		}
	}
	return nil
}

// firstOf returns the value of an attribute of the whole description, or of the first section that has it; "" if there is none.
func firstOf(d *sdp.SessionDescription, key string) string {
	if v, ok := d.Attribute(key); ok {
		return v
	}
	for _, m := range d.MediaDescriptions {
		if v, ok := m.Attribute(key); ok {
			return v
		}
	}
	return ""
}
