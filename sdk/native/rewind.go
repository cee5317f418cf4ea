//go:build !js

package native

// Holding and rewinding the playback of a call over a WebSocket: the native sdk.Rewinder.

import "github.com/antiphon-rt/antiphon/sdk"

// rewindingPeer is a peer with a detector. It is an sdk.Rewinder and an sdk.VolumeSetter.
type rewindingPeer struct{ *socketPeer }

// SetGain implements sdk.Rewinder.
func (p rewindingPeer) SetGain(gain float32) {
	p.gain.setGain(gain)
}

// SetVolume implements sdk.VolumeSetter.
func (p rewindingPeer) SetVolume(volume float32) error {
	p.gain.setVolume(volume)
	return nil
}

// Position implements sdk.Rewinder.
func (p rewindingPeer) Position() (sdk.PlayedPosition, bool) { return p.player.position() }

// Hold implements sdk.Rewinder.
func (p rewindingPeer) Hold() { p.player.hold() }

// Resume implements sdk.Rewinder.
func (p rewindingPeer) Resume(from sdk.PlayedPosition) { p.player.resume(from) }
