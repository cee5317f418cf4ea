package sdk

// Fake dialers and peers, which write down what the session asks of them.

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/wire"
)

// fakeDialer is a Dialer that returns the test's peer, or an error.
type fakeDialer struct {
	peer     *fakePeer
	player   bool
	ducker   bool
	rewinder bool
	err      error
	greets   bool          // the server makes its session at once
	hold     chan struct{} // Dial waits for it, when it is not nil
	devices  Devices
	dialed   []CallConfig
}

func (d *fakeDialer) Dial(ctx context.Context, c CallConfig, sink func(PeerEvent)) (Peer, error) {
	d.dialed = append(d.dialed, c)
	d.peer.sink = sink
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if d.greets {
		tell(d.peer, &wire.SessionCreated{EventID: "e", Session: wire.DefaultSession()})
	}
	switch {
	case d.rewinder:
		return &fakeRewinder{fakePlayer{fakePeer: d.peer}}, nil
	case d.player:
		return &fakePlayer{fakePeer: d.peer}, nil
	case d.ducker:
		return fakeDucker{d.peer}, nil
	}
	return d.peer, nil
}

func (d *fakeDialer) Devices(context.Context) (Devices, error) { return d.devices, nil }

func (d *fakeDialer) Pipeline(context.Context) (Pipeline, error) {
	return Pipeline{Name: "scripted", Components: []Component{{Stage: "model", Name: "script", State: "ready"}}}, nil
}

// fakePeer is a Peer that writes down each call of its methods.
type fakePeer struct {
	antiphon bool
	sink     func(PeerEvent)
	note     func(string) // gets a line for each thing that the session does
	// noteClosed is called for Close, which comes from a goroutine of its own.
	noteClosed func()
	gain       func(float32) // gets each gain that the session sets; may be nil
	sendErr    error
	micErr     error
	held       bool // a Rewinder holds
	// at is what is heard now: a Ducker's timestamp, a Rewinder's milliseconds. playing says that a player plays. Timers of the session read both.
	at      atomic.Uint32
	playing atomic.Bool

	mu     sync.Mutex
	closed int
}

func (p *fakePeer) Send(message []byte) error {
	p.note("> " + sentText(message))
	return p.sendErr
}

func (p *fakePeer) SetMuted(muted bool) {
	if muted {
		p.note("> (muted)")
	}
}

func (p *fakePeer) SetMicrophone(_ context.Context, id string) error {
	if p.micErr != nil {
		return p.micErr
	}
	p.sink(MicrophoneOpened{ID: id})
	return nil
}

func (p *fakePeer) Antiphon() bool { return p.antiphon }

func (p *fakePeer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	p.noteClosed()
	return nil
}

// fakePlayer is a fakePeer that is a Player. It plays nothing: the test reports what was played.
type fakePlayer struct {
	*fakePeer
	item  string
	given int // bytes
}

func (p *fakePlayer) Play(response, item string, _ int, pcm []byte) {
	p.item, p.given = item, p.given+len(pcm)
	if !p.playing.Swap(true) {
		p.sink(PlaybackStarted{ResponseID: response})
	}
}

func (p *fakePlayer) Finish(response string) { p.note("> (all sound of " + response + " given)") }

// Stop returns the position in the middle of the sound that Play got.
func (p *fakePlayer) Stop() (PlayedPosition, bool) {
	p.held = false
	if !p.playing.Swap(false) {
		return PlayedPosition{}, false
	}
	return PlayedPosition{ItemID: p.item, MS: p.given / 2 / 48}, true
}

func (p *fakePeer) setGain(gain float32) {
	level := map[float32]string{0: "silent", 0.1: "ducked", 1: "full"}[gain]
	p.note("> (level " + level + ")")
	if p.gain != nil {
		p.gain(gain)
	}
}

// fakeDucker is a fakePeer that is a Ducker. It writes down each call of the Ducker's methods.
type fakeDucker struct{ *fakePeer }

func (p fakeDucker) SetGain(gain float32) { p.setGain(gain) }
func (p fakeDucker) Position() (PlayedPosition, bool) {
	return PlayedPosition{Timestamp: p.at.Load()}, p.at.Load() != 0
}

func (p fakeDucker) AwaitPosition(at PlayedPosition) {
	p.note("> (await " + strconv.Itoa(int(at.Timestamp)) + ")")
}

func (p fakeDucker) Mute() { p.note("> (mute)") }

// fakeRewinder is a fakePlayer that is a Rewinder.
type fakeRewinder struct{ fakePlayer }

func (p *fakeRewinder) SetGain(gain float32) { p.setGain(gain) }
func (p *fakeRewinder) Hold() {
	p.note("> (hold)")
	p.held = true
}

func (p *fakeRewinder) Position() (PlayedPosition, bool) {
	return PlayedPosition{ItemID: p.item, MS: int(p.at.Load())}, p.playing.Load()
}

func (p *fakeRewinder) Resume(from PlayedPosition) {
	p.note("> (resume at " + strconv.Itoa(from.MS) + " ms of " + from.ItemID + ")")
	p.at.Store(uint32(from.MS))
	p.held = false
}
