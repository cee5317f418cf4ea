//go:build !js

package native

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// reached takes off what the loudspeaker has not played yet.
func (p *socketPeer) reached(given sdk.Heard) sdk.Heard {
	if d, ok := p.opts.Speaker.(Delayer); ok {
		given.MS = max(given.MS-int(d.Delay()/time.Millisecond), 0)
	}
	return given
}

// holdingPeer is a peer with a voice detector. It is an sdk.Holder and an sdk.VolumeSetter.
type holdingPeer struct{ *socketPeer }

// SetLevel implements sdk.Holder.
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

// Position implements sdk.Holder.
func (p holdingPeer) Position() (sdk.Heard, bool) {
	given, playing := p.player.position()
	return p.reached(given), playing
}

// Hold implements sdk.Holder.
func (p holdingPeer) Hold() { p.player.hold() }

// Resume implements sdk.Holder.
func (p holdingPeer) Resume(from sdk.Heard) { p.player.resume(from) }
