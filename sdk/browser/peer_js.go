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
	location string // of the call at the server
	kept     sdk.Resumption

	pc, channel js.Value
	sender      js.Value
	stream      js.Value // the microphone's; undefined when there is none
	own         bool     // stream was opened here and is stopped here
	playing     js.Value // the agent's stream, once it is heard
	muted, lost bool
	closed      bool

	begun    js.Value // see Options.Begun; undefined when the call was begun here
	graph    *graph
	lowering lowering
	measured int       // times that the levels were
	ear      listeners // of the connection, for the whole call
	track    listeners // of the microphone's track
	ctx      context.Context
	cancel   context.CancelFunc
}

func newPeer(d *Dialer, c sdk.CallConfig, sink func(sdk.PeerEvent)) (*peer, error) {
	p := &peer{dialer: d, sink: sink, muted: c.Muted}
	if err := p.connect(); err != nil {
		return nil, &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.startLowering()
	p.graph = newGraph(p.heard)
	p.listen()
	return p, nil
}

// hark begins to hear both sides. Its script is the server's, so the call comes first: a server that is gone has none.
func (p *peer) hark() {
	if err := p.graph.start(p.ctx, p.dialer.worklet()); err != nil {
		p.dialer.note("no levels and no prediction: " + err.Error())
	}
}

// connect makes the connection, or takes the one over that was begun.
func (p *peer) connect() (err error) {
	if begun := p.dialer.opts.Begun; defined(begun) {
		p.dialer.opts.Begun = js.Undefined() // it is one call's
		p.begun, p.pc, p.sender, p.channel = begun, begun.Get("connection"), begun.Get("sender"), begun.Get("channel")
		return nil
	}
	config := object()
	if defined(p.dialer.opts.ICEServers) {
		config.Set("iceServers", p.dialer.opts.ICEServers)
	}
	if p.pc, err = construct(js.Global().Get("RTCPeerConnection"), config); err != nil {
		return err
	}
	// Both ways also without a microphone, so that one can be opened in the middle of the call.
	transceiver, err := call(p.pc, "addTransceiver", "audio", object("direction", "sendrecv"))
	if err != nil {
		return err
	}
	p.sender = transceiver.Get("sender")
	p.channel, err = call(p.pc, "createDataChannel", "oai-events")
	return err
}

// tell passes on what happens, until the call is closed.
func (p *peer) tell(e sdk.PeerEvent) {
	if !p.closed {
		p.sink(e)
	}
}

// heard takes what the sound of both sides is.
func (p *peer) heard(f found) {
	if f.voice != sdk.None {
		mark, known := p.Mark()
		p.tell(f.voice.Event(mark, known))
	}
	if !f.measured {
		return
	}
	if p.muted {
		f.levels.Mic = 0
	}
	p.tell(sdk.LevelsMeasured{Levels: f.levels})
	if p.measured++; p.measured%playoutPeriod == 0 {
		go p.measurePlayout(p.ctx)
	}
}

// playoutPeriod is how often the way of the sound is measured: once in so many measurements of the levels, which is once in
// a second.
const playoutPeriod = 20

func (p *peer) listen() {
	p.ear.on(p.channel, "open", func(js.Value) { p.tell(sdk.PeerOpened{}) })
	p.ear.on(p.channel, "close", func(js.Value) { p.tell(sdk.PeerEnded{Err: sdk.ErrServerGone}) })
	p.ear.on(p.channel, "message", func(e js.Value) { p.message(e.Get("data")) })
	p.ear.on(p.pc, "connectionstatechange", func(js.Value) { p.connection(text(p.pc, "connectionState")) })
	p.ear.on(p.pc, "track", p.play)
	if devices := mediaDevices(); defined(devices) && defined(devices.Get("addEventListener")) {
		p.ear.on(devices, "devicechange", func(js.Value) { go p.listDevices() })
	}
	p.catchUp()
}

// message takes an event of the server's.
func (p *peer) message(data js.Value) {
	if data.Type() == js.TypeString {
		p.tell(sdk.Message{Data: []byte(data.String())})
	}
}

// catchUp takes what happened on a call that was begun before it was listened to. Nothing can happen in between: it runs in the
// same task of the browser's.
func (p *peer) catchUp() {
	if !defined(p.begun) {
		return
	}
	p.begun.Call("release")
	if text(p.channel, "readyState") == "open" {
		p.tell(sdk.PeerOpened{})
	}
	messages := p.begun.Get("messages")
	for i := range messages.Length() {
		p.message(messages.Index(i))
	}
	if track := p.begun.Get("track"); defined(track) {
		p.play(track)
	}
	if state := text(p.pc, "connectionState"); state == "failed" {
		p.connection(state)
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

// offer makes the description that the server gets.
func (p *peer) offer(ctx context.Context, options js.Value) (string, error) {
	offer, err := await(ctx, p.pc.Call("createOffer", options), nil)
	if err != nil {
		return "", err
	}
	if _, err := await(ctx, p.pc.Call("setLocalDescription", offer), nil); err != nil {
		return "", err
	}
	return text(offer, "sdp"), nil
}

// play lets the agent be heard, whose track an event brings.
func (p *peer) play(event js.Value) {
	stream := event.Get("streams").Index(0)
	if !defined(stream) {
		stream = js.Global().Get("MediaStream").New([]any{event.Get("track")})
	}
	p.playing = stream
	p.dialer.audio.Set("srcObject", stream)
	p.hears(event.Get("receiver"))
	p.applyLevel()
	p.graph.listenAgent(stream)
	p.ResumeSound()
}

// ResumeSound implements sdk.SoundResumer.
func (p *peer) ResumeSound() {
	if p.closed {
		return
	}
	p.graph.resume()
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
	thrown, ok := errors.AsType[*jsError](err)
	return ok && thrown.name == "NotAllowedError"
}

// openFirst opens the microphone that the call begins with, or takes the one over that there is. Without one the call goes on.
func (p *peer) openFirst(ctx context.Context, id string, heritage js.Value) {
	stream, own := p.dialer.opts.Stream, false
	var err error
	switch {
	case defined(stream):
	case defined(heritage):
		stream, own = heritage, true
	case defined(p.begun) && defined(p.begun.Get("stream")):
		own = true
		if stream, err = await(ctx, p.begun.Get("stream"), stopTracks); err != nil {
			err = microphoneError(err)
		}
	default:
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
	if err := p.send(ctx, track); err != nil || p.closed {
		if own {
			stopTracks(stream)
		}
		return &sdk.Error{Kind: sdk.ErrMicrophoneBusy, Cause: err}
	}
	p.dropStream()
	p.stream, p.own = stream, own
	track.Set("enabled", !p.muted)
	p.track.on(track, "ended", func(js.Value) { go p.reopen() })
	p.graph.listenMic(stream)
	p.tell(sdk.MicrophoneOpened{ID: deviceOf(track)})
	return nil
}

// send has the connection carry this track. Over a WebSocket the sound goes through the graph.
func (p *peer) send(ctx context.Context, track js.Value) error {
	if !defined(p.sender) {
		return nil
	}
	_, err := await(ctx, p.sender.Call("replaceTrack", track), nil)
	return err
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
	if _, err := call(p.channel, "send", string(message)); err != nil {
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
	p.graph.close()
	p.lowering.close(p.dialer)
	if defined(p.begun) && text(p.channel, "readyState") == "connecting" {
		p.begun.Call("hangUp") // else the server would wait for it for a while
	}
	if defined(p.pc) {
		p.channel.Call("close")
		p.pc.Call("close")
	}
	audio := p.dialer.audio
	if now := audio.Get("srcObject"); defined(now) && !(defined(p.playing) && now.Equal(p.playing)) {
		return nil // another peer is heard already
	}
	if defined(audio.Get("pause")) {
		audio.Call("pause")
	}
	audio.Set("srcObject", js.Null())
	return nil
}
