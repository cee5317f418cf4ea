//go:build !js

package native

// A connection that comes back: ICE restarts, and what a new peer takes over from the former one.

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/sdk"
)

// The headers of a call that goes on with a conversation: see docs/protocol.md.
const (
	resumeHeader = "Antiphon-Resume"
	afterHeader  = "Antiphon-Resume-After"
	seenHeader   = "Antiphon-Resume-Seen"
)

// withResume adds the headers that name the conversation to go on with.
func withResume(h http.Header, r sdk.Resume) http.Header {
	if r.Token != "" {
		h.Set(resumeHeader, r.Token)
		h.Set(afterHeader, r.After)
	}
	return h
}

// resumption returns what the server has said about keeping the conversation.
func resumption(h http.Header, asked sdk.Resume) sdk.Resumption {
	token := h.Get(resumeHeader)
	return sdk.Resumption{Token: token, Resumed: asked.Token != "" && token == asked.Token, Seen: h.Get(seenHeader)}
}

// takePlayback takes over the sound that the former peer has not played yet.
func (p *socketPeer) takePlayback(former sdk.Peer) {
	from, ok := former.(interface{ playback() *player })
	if !ok {
		return
	}
	p.kept.Sound = true
	old := from.playback()
	old.mu.Lock()
	defer old.mu.Unlock()
	p.player.mu.Lock()
	defer p.player.mu.Unlock()
	p.player.playerState, old.playerState = old.playerState, playerState{}
}

// playback returns the player that a new peer takes over.
func (p *socketPeer) playback() *player { return &p.player }

// Restart implements sdk.Restarter. After an error other than sdk.ErrUnavailable the call does not come back.
func (p *peer) Restart(ctx context.Context) error {
	if !p.antiphon || p.location == "" {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "no restart"}
	}
	p.restarting.Store(true)
	defer p.restarting.Store(false)
	offer, err := p.pc.CreateOffer(&webrtc.OfferOptions{ICERestart: true})
	if err == nil {
		err = p.pc.SetLocalDescription(offer)
	}
	if err != nil {
		return connectionError(err)
	}
	p.server.client.CloseIdleConnections() // they may go the path that is gone
	asking, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	answer, _, err := p.server.request(asking, http.MethodPost, p.location+"/restart", sdpType, nil, []byte(offer.SDP))
	if err != nil {
		return err
	}
	err = p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)})
	if err != nil {
		return badAnswer(err)
	}
	return p.awaitCandidatePair(ctx)
}

// Lost implements sdk.Restarter. An empty offer is refused, and changes nothing.
func (p *peer) Lost(ctx context.Context) bool {
	if !p.antiphon || p.location == "" {
		return false
	}
	p.server.client.CloseIdleConnections() // they may be those of a process that has ended
	_, _, err := p.server.request(ctx, http.MethodPost, p.location+"/restart", sdpType, nil, nil)
	refused, is := errors.AsType[*sdk.RefusedError](err)
	return is && refused.Status == http.StatusNotFound || errors.Is(err, syscall.ECONNREFUSED)
}

// answerTime is how long the server may take to answer a restart.
const answerTime = 3 * time.Second

// awaitCandidatePair waits until packets have a path again. A restart drops the old path at once.
func (p *peer) awaitCandidatePair(ctx context.Context) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		pair, err := p.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
		switch {
		case err != nil:
			return connectionError(err)
		case pair != nil:
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.workers.stop:
			return sdk.ErrServerGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// badAnswer returns the error of an answer that was not accepted; nil for nil.
func badAnswer(err error) error {
	if err == nil {
		return nil
	}
	return &sdk.Error{Kind: sdk.ErrServerGone, Detail: "its answer is not a description of a call", Cause: err}
}
