package rtc

import (
	"context"
	"errors"
	"fmt"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/offer"
)

// The ICE restart: finds a new network path to a client that has lost its path or changed its network.

// Restart negotiates a new network path. The offer comes from the same peer connection as the call's first offer, made with
// iceRestart. All else stays as it is, and queued events wait. Restart returns the SDP answer, which contains all addresses of the
// server. The Handler gets Lost, if it has not had it before, and Restored when the client is reached. ctx bounds Restart itself.
// Restarts of one call happen one at a time.
//
// Errors wrap ErrBadSDP, ErrNoAudio, link.ErrClosed if the call is over, or the error of ctx. After an error the call stands as
// before, or is over.
func (p *Peer) Restart(ctx context.Context, text string) (string, error) {
	o, err := offer.Read(text, p.engine.remotes())
	if err != nil {
		return "", err
	}
	select {
	case p.restarting <- struct{}{}:
		defer func() { <-p.restarting }()
	case <-p.life.stop:
		return "", fmt.Errorf("rtc: restart: %w", link.ErrClosed)
	case <-ctx.Done():
		return "", fmt.Errorf("rtc: restart: %w", ctx.Err())
	}
	if state := p.link.State(); p.life.closing() || state == webrtc.PeerConnectionStateFailed || state == webrtc.PeerConnectionStateClosed {
		return "", fmt.Errorf("rtc: restart: %w", link.ErrClosed)
	}
	if err := offer.SameCall(p.pc.RemoteDescription(), &o.Desc); err != nil {
		return "", err
	}
	p.changePath()
	answer, err := p.renegotiate(ctx, o)
	if err != nil && p.life.closing() {
		return "", errors.Join(fmt.Errorf("rtc: restart: %w", link.ErrClosed), err)
	}
	return answer, err
}

func (p *Peer) renegotiate(ctx context.Context, o offer.Offer) (string, error) {
	if err := p.pc.SetRemoteDescription(o.Desc); err != nil {
		p.keepPath()
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
	return offer.Complete(p.pc.LocalDescription().SDP, o.Desc.SDP)
}
