package browser

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

// maxBuffered is how many bytes may wait to be sent.
const maxBuffered = 1 << 20

// peer is one call. The browser runs one callback at a time, and Go code here yields only where it waits for a promise, so its
// fields need no lock.
type peer struct {
	dialer   *Dialer
	sink     func(sdk.PeerEvent)
	antiphon bool

	pc, channel js.Value
	sender      js.Value
	stream      js.Value // the microphone's; undefined when there is none
	own         bool     // stream was opened here and is stopped here
	muted, lost bool
	closed      bool

	levels *levels
	ear    listeners // of the connection, for the whole call
	track  listeners // of the microphone's track
	ctx    context.Context
	cancel context.CancelFunc
}

func newPeer(d *Dialer, c sdk.CallConfig, sink func(sdk.PeerEvent)) (*peer, error) {
	p := &peer{dialer: d, sink: sink, muted: c.Muted}
	config := object()
	if defined(d.opts.ICEServers) {
		config.Set("iceServers", d.opts.ICEServers)
	}
	err := attempt(func() {
		p.pc = js.Global().Get("RTCPeerConnection").New(config)
		// Both ways also without a microphone, so that one can be opened in the middle of the call.
		p.sender = p.pc.Call("addTransceiver", "audio", object("direction", "sendrecv")).Get("sender")
		p.channel = p.pc.Call("createDataChannel", "oai-events")
	})
	if err != nil {
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.levels = newLevels(func(l sdk.Levels) {
		if p.muted {
			l.Mic = 0
		}
		p.tell(sdk.LevelsMeasured{Levels: l})
	})
	p.listen()
	return p, nil
}

// tell passes on what happens, until the call is closed.
func (p *peer) tell(e sdk.PeerEvent) {
	if !p.closed {
		p.sink(e)
	}
}

func (p *peer) listen() {
	p.ear.on(p.channel, "open", func(js.Value) { p.tell(sdk.PeerOpened{}) })
	p.ear.on(p.channel, "close", func(js.Value) { p.tell(sdk.PeerEnded{Err: sdk.ErrServerGone}) })
	p.ear.on(p.channel, "message", func(e js.Value) {
		if data := e.Get("data"); data.Type() == js.TypeString {
			p.tell(sdk.Message{Data: []byte(data.String())})
		}
	})
	p.ear.on(p.pc, "connectionstatechange", func(js.Value) { p.connection(text(p.pc, "connectionState")) })
	p.ear.on(p.pc, "track", func(e js.Value) { p.play(e.Get("streams").Index(0), e.Get("track")) })
	if devices := mediaDevices(); defined(devices) && defined(devices.Get("addEventListener")) {
		p.ear.on(devices, "devicechange", func(js.Value) { go p.listDevices() })
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
		p.tell(sdk.PeerEnded{Err: sdk.ErrServerGone})
	}
}

// offer makes the description that the server gets.
func (p *peer) offer(ctx context.Context) (string, error) {
	offer, err := await(ctx, p.pc.Call("createOffer"), nil)
	if err != nil {
		return "", err
	}
	if _, err := await(ctx, p.pc.Call("setLocalDescription", offer), nil); err != nil {
		return "", err
	}
	return text(offer, "sdp"), nil
}

// play lets the agent be heard.
func (p *peer) play(stream, track js.Value) {
	if !defined(stream) {
		stream = js.Global().Get("MediaStream").New([]any{track})
	}
	p.dialer.audio.Set("srcObject", stream)
	p.levels.listenAgent(stream)
	p.ResumeSound()
}

// ResumeSound implements sdk.SoundResumer.
func (p *peer) ResumeSound() {
	if p.closed {
		return
	}
	p.levels.resume()
	audio := p.dialer.audio
	if !defined(audio.Get("srcObject")) {
		return
	}
	promise := audio.Call("play")
	go func() {
		_, err := await(p.ctx, promise, nil)
		if p.ctx.Err() == nil {
			p.tell(sdk.SoundBlocked{Blocked: err != nil && blocked(err)})
		}
	}()
}

func blocked(err error) bool {
	var thrown *jsError
	return errors.As(err, &thrown) && thrown.name == "NotAllowedError"
}

// openFirst opens the microphone that the call begins with. Without one the call goes on.
func (p *peer) openFirst(ctx context.Context, id string) {
	stream, own := p.dialer.opts.Stream, false
	var err error
	if !defined(stream) {
		own = true
		stream, err = openMicrophone(ctx, id)
	}
	if err == nil {
		err = p.use(ctx, stream, own)
	}
	if err != nil {
		p.tell(sdk.MicrophoneFailed{Err: err})
	}
}

// use sends this stream from now on. A stream that cannot be used is stopped.
func (p *peer) use(ctx context.Context, stream js.Value, own bool) error {
	track := audioTrack(stream)
	if !defined(track) || p.closed {
		if own {
			stopTracks(stream)
		}
		return sdk.ErrNoMicrophone
	}
	track.Set("enabled", !p.muted)
	if _, err := await(ctx, p.sender.Call("replaceTrack", track), nil); err != nil || p.closed {
		if own {
			stopTracks(stream)
		}
		return &sdk.Error{Kind: sdk.ErrMicrophoneBusy, Cause: err}
	}
	p.dropStream()
	p.stream, p.own = stream, own
	track.Set("enabled", !p.muted)
	p.track.on(track, "ended", func(js.Value) { go p.reopen() })
	p.levels.listenMic(stream)
	p.tell(sdk.MicrophoneOpened{ID: deviceOf(track)})
	return nil
}

// reopen takes the default device when the one in use was pulled out.
func (p *peer) reopen() {
	if err := p.SetMicrophone(p.ctx, ""); err != nil {
		p.tell(sdk.MicrophoneFailed{Err: err})
	}
}

func (p *peer) dropStream() {
	p.track.release()
	if defined(p.stream) && p.own {
		stopTracks(p.stream)
	}
	p.stream = js.Undefined()
}

// Send implements sdk.Peer.
func (p *peer) Send(message []byte) error {
	switch {
	case p.closed || text(p.channel, "readyState") != "open":
		return sdk.ErrServerGone
	case p.channel.Get("bufferedAmount").Int()+len(message) > maxBuffered:
		return sdk.ErrOverrun
	}
	if err := attempt(func() { p.channel.Call("send", string(message)) }); err != nil {
		return &sdk.Error{Kind: sdk.ErrServerGone, Cause: err}
	}
	return nil
}

// SetMuted implements sdk.Peer.
func (p *peer) SetMuted(muted bool) {
	p.muted = muted
	if defined(p.stream) {
		audioTrack(p.stream).Set("enabled", !muted)
	}
}

// SetMicrophone implements sdk.Peer.
func (p *peer) SetMicrophone(ctx context.Context, id string) error {
	if p.closed {
		return sdk.ErrClosed
	}
	stream, err := getUserMedia(ctx, id)
	if err != nil {
		return err
	}
	return p.use(ctx, stream, true)
}

// SetSpeaker implements sdk.SpeakerChooser.
func (p *peer) SetSpeaker(ctx context.Context, id string) error {
	audio := p.dialer.audio
	if !defined(audio.Get("setSinkId")) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser cannot choose the loudspeaker"}
	}
	_, err := await(ctx, audio.Call("setSinkId", id), nil)
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
	p.ear.release()
	p.dropStream()
	p.levels.close()
	p.channel.Call("close")
	p.pc.Call("close")
	audio := p.dialer.audio
	if defined(audio.Get("pause")) {
		audio.Call("pause")
	}
	audio.Set("srcObject", js.Null())
	return nil
}
