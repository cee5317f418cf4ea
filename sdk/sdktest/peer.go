package sdktest

// The peer of a call to the server in memory.

import (
	"context"
	"sync"

	"github.com/antiphon-rt/antiphon/sdk"
)

// peer is one call. Methods of Server show what the session has asked of it.
type peer struct {
	server *Server
	sink   func(sdk.PeerEvent)

	mu       sync.Mutex
	closed   bool
	muted    bool
	gain     float32
	volume   float32
	heard    uint32 // Tracks: an RTP timestamp; Messages: milliseconds of the item
	played   bool   // something was played
	awaited  sdk.PlayedPosition
	awaiting bool
	mutes    int

	response string // Messages: the response that is played; "" for none
	at       sdk.PlayedPosition
	given    int // bytes of the item
}

// tell reports an event to the session, until the call is closed.
func (p *peer) tell(e sdk.PeerEvent) {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		p.sink(e)
	}
}

// Send implements sdk.Peer.
func (p *peer) Send(message []byte) error { return p.server.took(p, message) }

// SetMuted implements sdk.Peer.
func (p *peer) SetMuted(muted bool) { p.set(func() { p.muted = muted }) }

// SetMicrophone implements sdk.Peer.
func (p *peer) SetMicrophone(_ context.Context, id string) error {
	if err := p.server.MicrophoneErr; err != nil {
		return err
	}
	p.tell(sdk.MicrophoneOpened{ID: id})
	return nil
}

// SetSpeaker implements sdk.SpeakerChooser.
func (p *peer) SetSpeaker(context.Context, string) error { return nil }

// SetVolume implements sdk.VolumeSetter.
func (p *peer) SetVolume(volume float32) error {
	p.set(func() { p.volume = volume })
	return nil
}

// Antiphon implements sdk.Peer.
func (p *peer) Antiphon() bool { return !p.server.Plain }

// Close implements sdk.Peer.
func (p *peer) Close() error {
	p.set(func() { p.closed = true })
	return nil
}

func (p *peer) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// trackPeer is a call whose sound comes in tracks.
type trackPeer struct{ *peer }

// SetGain implements sdk.Ducker.
func (p trackPeer) SetGain(gain float32) { p.set(func() { p.gain = gain }) }

// Position implements sdk.Ducker.
func (p trackPeer) Position() (at sdk.PlayedPosition, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sdk.PlayedPosition{Timestamp: p.heard}, p.played
}

// AwaitPosition implements sdk.Ducker.
func (p trackPeer) AwaitPosition(at sdk.PlayedPosition) {
	p.set(func() { p.awaited, p.awaiting = at, true })
	p.reached()
}

// Mute implements sdk.Ducker.
func (p trackPeer) Mute() { p.set(func() { p.mutes++ }) }

// play makes the user hear this position now.
func (p *peer) play(at uint32) {
	p.set(func() { p.heard, p.played = at, true })
	p.reached()
}

// reached tells once that the awaited position has passed.
func (p *peer) reached() {
	p.mu.Lock()
	now := p.awaiting && p.played && int32(p.heard-p.awaited.Timestamp) >= 0
	p.awaiting = p.awaiting && !now
	at := p.awaited
	p.mu.Unlock()
	if now {
		p.tell(sdk.PositionPassed{At: at})
	}
}

// playerPeer is a call whose sound comes in messages. It plays nothing by itself: the user hears the position that
// Server.Heard has set last, in milliseconds of the latest item.
type playerPeer struct{ *peer }

// Play implements sdk.Player.
func (p playerPeer) Play(response, item string, index int, pcm []byte) {
	p.mu.Lock()
	begins := p.response != response
	if begins || p.at.ItemID != item || p.at.ContentIndex != index {
		p.at, p.given = sdk.PlayedPosition{ItemID: item, ContentIndex: index}, 0
		p.heard = 0
	}
	p.response = response
	p.given += len(pcm)
	p.mu.Unlock()
	if begins {
		p.tell(sdk.PlaybackStarted{ResponseID: response})
	}
}

// Finish implements sdk.Player. Reply.Stopped ends the playback.
func (p playerPeer) Finish(string) {}

// Stop implements sdk.Player.
func (p playerPeer) Stop() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, was := p.position()
	p.response = ""
	return at, was
}

func (p playerPeer) position() (sdk.PlayedPosition, bool) {
	const bytesPerMS = 48
	at := p.at
	at.MS = min(int(p.heard), p.given/bytesPerMS)
	return at, p.response != ""
}

// SetGain implements sdk.Rewinder.
func (p playerPeer) SetGain(gain float32) { p.set(func() { p.gain = gain }) }

// Position implements sdk.Rewinder.
func (p playerPeer) Position() (sdk.PlayedPosition, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position()
}

// Hold implements sdk.Rewinder.
func (p playerPeer) Hold() {}

// Resume implements sdk.Rewinder.
func (p playerPeer) Resume(from sdk.PlayedPosition) {
	p.set(func() {
		if from.ItemID == p.at.ItemID {
			p.heard = uint32(max(from.MS, 0))
		}
	})
}
