// Package linkstate says whether a WebRTC connection stands.
//
// pion's PeerConnection.ConnectionState can stay at "connecting" for good while everything works: two goroutines of pion compute the state,
// one after the ICE transport has changed and one after the DTLS handshake, and the one that has read the older states may store its result
// last (webrtc v4.2.20, updateConnectionState). So this package computes the state anew from the transports, each time it is asked.
package linkstate

import (
	"sync/atomic"

	"github.com/pion/webrtc/v4"
)

// Link knows the state of one connection. It is safe for concurrent use.
type Link struct {
	pc   *webrtc.PeerConnection
	ice  *webrtc.ICETransport
	dtls atomic.Int32 // a webrtc.DTLSTransportState; asking pion for it waits for a lock that pion may hold while it closes

	changed chan struct{} // has a token when the state may have changed
}

// Watch observes a connection that has not begun. It takes the place of other handlers for the states of the connection and of its transports.
func Watch(pc *webrtc.PeerConnection) *Link {
	dtls := pc.SCTP().Transport()
	l := &Link{pc: pc, ice: dtls.ICETransport(), changed: make(chan struct{}, 1)}
	l.dtls.Store(int32(webrtc.DTLSTransportStateNew))
	pc.OnConnectionStateChange(func(webrtc.PeerConnectionState) { l.Wake() })
	l.ice.OnConnectionStateChange(func(webrtc.ICETransportState) { l.Wake() })
	dtls.OnStateChange(func(s webrtc.DTLSTransportState) {
		l.dtls.Store(int32(s))
		l.Wake()
	})
	return l
}

// Changed returns a channel that has a token when the state may have changed since the last token was taken. The channel is always the same and is never closed.
func (l *Link) Changed() <-chan struct{} { return l.changed }

// Wake puts a token into the channel of Changed. It does not block.
func (l *Link) Wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// State returns the state of the connection as it is now: connecting, connected, disconnected, failed or closed. A connection that has
// not begun is connecting. State does not wait for pion.
func (l *Link) State() webrtc.PeerConnectionState {
	if l.pc.ConnectionState() == webrtc.PeerConnectionStateClosed {
		return webrtc.PeerConnectionStateClosed
	}
	return of(l.ice.State(), webrtc.DTLSTransportState(l.dtls.Load()))
}

// of returns the state of a connection by the states of its two transports.
func of(ice webrtc.ICETransportState, dtls webrtc.DTLSTransportState) webrtc.PeerConnectionState {
	switch {
	case ice == webrtc.ICETransportStateClosed, dtls == webrtc.DTLSTransportStateClosed:
		return webrtc.PeerConnectionStateClosed
	case ice == webrtc.ICETransportStateFailed, dtls == webrtc.DTLSTransportStateFailed:
		return webrtc.PeerConnectionStateFailed
	case ice == webrtc.ICETransportStateDisconnected:
		return webrtc.PeerConnectionStateDisconnected
	case dtls == webrtc.DTLSTransportStateConnected &&
		(ice == webrtc.ICETransportStateConnected || ice == webrtc.ICETransportStateCompleted):
		return webrtc.PeerConnectionStateConnected
	}
	return webrtc.PeerConnectionStateConnecting
}
