//go:build !js

package native

import "github.com/antiphon-rt/antiphon/sdk"

// holdingPeer is a peer with a voice detector. It is an sdk.Rewinder and an sdk.VolumeSetter.
type holdingPeer struct{ *socketPeer }

// SetLevel implements sdk.Rewinder.
func (p holdingPeer) SetLevel(level sdk.Level) {
	p.loud.Lock()
	defer p.loud.Unlock()
	p.gain.level = level
}

// SetVolume implements sdk.VolumeSetter.
func (p holdingPeer) SetVolume(volume float32) error {
	p.loud.Lock()
	defer p.loud.Unlock()
	p.gain.volume = min(max(volume, 0), 1)
	return nil
}

// Position implements sdk.Rewinder.
func (p holdingPeer) Position() (sdk.PlayedPosition, bool) { return p.player.position() }

// Hold implements sdk.Rewinder.
func (p holdingPeer) Hold() { p.player.hold() }

// Resume implements sdk.Rewinder.
func (p holdingPeer) Resume(from sdk.PlayedPosition) { p.player.resume(from) }
