package browser

// One call over WebRTC, and what the page reports of it.

import (
	"context"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// maxBuffered is how many characters may wait to be sent.
const maxBuffered = 1 << 20

// peer is one call. The browser runs one callback at a time, and Go code here yields only where it waits for the page, so the
// fields need no lock.
type peer struct {
	dialer   *Dialer
	sink     func(sdk.PeerEvent)
	page     js.Value // the call in the page: see sdk/npm/host.js
	onEvent  Func     // gets the page's reports
	antiphon bool
	location string // the path of the call at the server
	kept     sdk.Resumption

	muted, lost bool
	closed      bool

	capture *capture // nil where the page gets no sound
	ducking ducking
	ctx     context.Context
	cancel  context.CancelFunc
}

// newPeer makes a call of this kind: "peer" (WebRTC) or "socket". first gets each report of the page before the peer does,
// unless it is nil; it returns true for a report that it has handled.
func newPeer(d *Dialer, kind string, c sdk.CallConfig, sink func(sdk.PeerEvent), first func(what string, args []js.Value) bool) *peer {
	p := &peer{dialer: d, sink: sink, muted: c.Muted, ducking: ducking{gain: 1}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.onEvent = NewFunc(func(args []js.Value) any {
		if what := args[0].String(); first == nil || !first(what, args[1:]) {
			p.pageEvent(what, args[1:])
		}
		return nil
	})
	p.page = host.Call(kind, d.call(c), p.onEvent.Value())
	return p
}

// startCapture begins to measure the sound of both sides. The worklet comes from the server, so the server has to take the call
// first.
func (p *peer) startCapture() {
	if err := p.capture.start(p.ctx, p.dialer.worklet()); err != nil {
		p.dialer.note("no levels and no prediction: " + err.Error())
	}
}

// tell reports an event to the session, until the call is closed.
func (p *peer) tell(e sdk.PeerEvent) {
	if !p.closed {
		p.sink(e)
	}
}

// soundMeasured reports what 10 ms of sound have shown.
func (p *peer) soundMeasured(f measurement) {
	if f.detection != sdk.NoDetection {
		at, known := p.Position()
		p.tell(f.detection.Event(at, known))
	}
	if f.hasLevels {
		p.sendLevels(f.levels)
	}
}

// sendLevels reports the levels of both sides.
func (p *peer) sendLevels(levels sdk.Levels) {
	if p.muted {
		levels.Mic = 0
	}
	p.tell(sdk.LevelsMeasured{Levels: levels})
}

// pageEvent handles a report of the page.
func (p *peer) pageEvent(what string, args []js.Value) {
	switch what {
	case "open":
		p.tell(sdk.PeerOpened{})
	case "message":
		p.message(args[0])
	case "close":
		if args[0].Bool() { // the server has ended the call
			p.tell(sdk.PeerEnded{Err: sdk.ErrServerGone})
		} else {
			p.tell(sdk.PeerBroken{Err: sdk.ErrServerGone})
		}
	case "state":
		p.connection(args[0].String())
	case "track":
		p.applyGain()
		p.ResumeSound()
	case "packets":
		if p.antiphon { // another server may send none while the agent is silent
			p.tell(sdk.PacketsCounted{Received: uint64(args[0].Float())})
		}
	case "blocked":
		p.tell(sdk.SoundBlocked{Blocked: args[0].Bool()})
	case "look":
		p.checkPlayback()
	case "unplugged":
		go p.reopen()
	case "devices":
		go p.listDevices()
	}
}

// message takes a server event.
func (p *peer) message(data js.Value) {
	if data.Type() == js.TypeString {
		p.tell(sdk.Message{Data: []byte(data.String())})
	}
}

func (p *peer) connection(state string) {
	switch state {
	case "disconnected":
		p.lost = true
		p.tell(sdk.PeerLost{})
	case "connected":
		if p.lost {
			p.lost = false
			p.tell(sdk.PeerRestored{})
		}
	case "failed":
		p.tell(sdk.PeerBroken{Err: sdk.ErrServerGone})
	}
}

// ResumeSound implements sdk.SoundResumer.
func (p *peer) ResumeSound() {
	if !p.closed {
		p.page.Call("sound")
	}
}

// openFirst opens the microphone that the call begins with, or takes the stream that there is. Without one the call goes on.
func (p *peer) openFirst(ctx context.Context, stream js.Value) {
	p.tell(sdk.MicrophoneAsked{})
	if err := p.opened(await(ctx, p.page, "first", stream)); err != nil {
		p.tell(sdk.MicrophoneFailed{Err: err})
	}
}

// opened takes the result of opening a microphone.
func (p *peer) opened(id js.Value, err error) error {
	if err != nil {
		return microphoneError(err)
	}
	p.capture.reset()
	p.tell(sdk.MicrophoneOpened{ID: id.String()})
	return nil
}

// reopen opens the default microphone when the device in use was removed.
func (p *peer) reopen() {
	if err := p.SetMicrophone(p.ctx, ""); err != nil {
		p.tell(sdk.MicrophoneFailed{Err: err})
	}
}

// Send implements sdk.Peer.
func (p *peer) Send(message []byte) error {
	failure := p.page.Call("send", string(message), maxBuffered)
	switch {
	case !defined(failure):
		return nil
	case failure.Type() == js.TypeString:
		return sdk.ErrOverrun
	}
	return &sdk.Error{Kind: sdk.ErrServerGone, Cause: errorOf(failure)}
}

// SetMuted implements sdk.Peer.
func (p *peer) SetMuted(muted bool) {
	p.muted = muted
	p.page.Call("mute", muted)
}

// SetMicrophone implements sdk.Peer.
func (p *peer) SetMicrophone(ctx context.Context, id string) error {
	if p.closed {
		return sdk.ErrClosed
	}
	return p.opened(await(ctx, p.page, "open", id))
}

// SetSpeaker implements sdk.SpeakerChooser.
func (p *peer) SetSpeaker(ctx context.Context, id string) error {
	return setSpeaker(ctx, p.dialer.audio, id)
}

// setSpeaker makes an audio element or context play on another device.
func setSpeaker(ctx context.Context, target js.Value, id string) error {
	if !defined(target.Get("setSinkId")) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser cannot choose the loudspeaker"}
	}
	_, err := await(ctx, target, "setSinkId", id)
	return err
}

// Antiphon implements sdk.Peer.
func (p *peer) Antiphon() bool { return p.antiphon }

func (p *peer) listDevices() {
	if devices, err := p.dialer.Devices(p.ctx); err == nil {
		p.tell(sdk.DevicesChanged{Devices: devices})
	}
}

// Close implements sdk.Peer.
func (p *peer) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	p.cancel()
	p.page.Call("close")
	p.onEvent.Release()
	p.capture.close()
	p.dialer.setGain(1, false)
	return nil
}
