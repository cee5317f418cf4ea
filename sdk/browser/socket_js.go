package browser

import (
	"context"
	"strings"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// said is how many samples of the microphone go into one message: 20 ms.
const saidSamples = wireRate / 50

// socketPeer is one call over a WebSocket, for networks that let no WebRTC through. It is an sdk.Player and an sdk.Holder.
type socketPeer struct {
	*device
	socket js.Value
	player *player
	level  sdk.Level

	speaking  bool
	resampler *voice.Resampler
	sound     []float32
	pcm       []int16
}

// device is what a call over a WebSocket shares with one over WebRTC: the microphone, and the ear beside it.
type device struct{ p *peer }

// dialSocket places a call over a WebSocket.
func (d *Dialer) dialSocket(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	p := &peer{dialer: d, sink: sink, muted: c.Muted}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.startLowering()
	s := &socketPeer{device: &device{p}, speaking: !c.NoMicrophone}
	p.graph = newGraph(s.heard)
	if err := s.open(ctx, c); err != nil {
		_ = s.Close()
		return nil, err
	}
	if devices := mediaDevices(); defined(devices) && defined(devices.Get("addEventListener")) {
		p.ear.on(devices, "devicechange", func(js.Value) { go p.listDevices() })
	}
	go p.listDevices()
	p.ear.on(p.graph.context, "statechange", func(js.Value) { s.blocked() })
	s.blocked()
	if c.Speaker != "" {
		_ = s.SetSpeaker(ctx, c.Speaker) // the default one plays then
	}
	return s, ctx.Err()
}

// open brings everything up: the worklet, the microphone, the connection.
func (s *socketPeer) open(ctx context.Context, c sdk.CallConfig) error {
	p := s.p
	if err := p.graph.start(ctx, p.dialer.worklet()); err != nil {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "without the worklet nothing can be played", Cause: err}
	}
	var err error
	if s.player, err = newPlayer(p.graph, p.tell); err != nil {
		return err
	}
	if s.resampler, err = voice.NewResampler(s.player.rate, wireRate); err != nil {
		return err
	}
	s.gain()
	if s.speaking {
		p.tell(sdk.MicrophoneAsked{})
		p.openFirst(ctx, c.Microphone, inherited(c.From))
	}
	known := make(chan struct{})
	go func() {
		defer close(known)
		_, err := p.dialer.fetch(ctx, "/v1/antiphon/pipeline", object(), "")
		p.antiphon = err == nil
	}()
	err = s.connect(ctx, c.Model, c.Resume)
	<-known // ctx ends it
	if err != nil && p.antiphon && c.Resume.Token != "" && ctx.Err() == nil {
		return &sdk.RefusedError{Status: 404, Message: "the conversation is not kept any more"} // a browser does not say
	}
	return err
}

// connect opens the connection and listens to it.
func (s *socketPeer) connect(ctx context.Context, model string, resume sdk.Resume) error {
	d, p := s.p.dialer, s.p
	base := d.opts.URL
	if base == "" {
		base = js.Global().Get("location").Get("origin").String()
	}
	address := "ws" + strings.TrimPrefix(strings.TrimSuffix(base, "/"), "http") + "/v1/realtime"
	switch {
	case resume.Token != "":
		address += "?antiphon_resume=" + escaped(resume.Token) + "&antiphon_resume_after=" + escaped(resume.After)
	case model != "":
		address += "?model=" + escaped(model)
	}
	protocols := js.Global().Get("Array").New()
	protocols.Call("push", "realtime")
	if d.opts.Key != "" {
		protocols.Call("push", "openai-insecure-api-key."+d.opts.Key)
	}
	var err error
	if s.socket, err = construct(js.Global().Get("WebSocket"), address, protocols); err != nil {
		return &sdk.Error{Kind: sdk.ErrServerGone, Cause: err}
	}
	opened := make(chan error, 1)
	settle := func(err error) {
		select {
		case opened <- err:
		default: // it is over already
		}
	}
	p.ear.on(s.socket, "open", func(js.Value) {
		if resume.Token == "" {
			settle(nil)
			p.tell(sdk.PeerOpened{})
		}
	})
	p.ear.on(s.socket, "close", func(e js.Value) {
		settle(&sdk.Error{Kind: sdk.ErrServerGone, Detail: "or it refused the call: a browser does not say"})
		if e.Get("wasClean").Truthy() { // the server has ended the call
			p.tell(sdk.PeerEnded{Err: sdk.ErrServerGone})
			return
		}
		p.tell(sdk.PeerBroken{Err: sdk.ErrServerGone})
	})
	p.ear.on(s.socket, "message", func(e js.Value) {
		if resume.Token != "" && s.welcomed(e.Get("data"), resume) {
			settle(nil)
			p.tell(sdk.PeerOpened{})
			return
		}
		p.message(e.Get("data"))
	})
	select {
	case err := <-opened:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// welcomed takes the first event of a conversation that goes on. It reports false for any other.
func (s *socketPeer) welcomed(data js.Value, resume sdk.Resume) bool {
	if s.p.kept.Resumed || data.Type() != js.TypeString {
		return false
	}
	e, err := wire.DecodeServer([]byte(data.String()))
	ack, is := e.(*wire.AntiphonAck)
	if err != nil || !is || ack.Resume != resume.Token {
		return false
	}
	s.p.kept = sdk.Resumption{Token: ack.Resume, Resumed: true, Seen: ack.Acknowledges}
	return true
}

// Resumption implements sdk.Resumable. The token of a new call comes with the answer to its hello.
func (s *socketPeer) Resumption() sdk.Resumption { return s.p.kept }

func escaped(text string) string {
	return js.Global().Call("encodeURIComponent", text).String()
}

// heard takes 10 ms of both sides.
func (s *socketPeer) heard(f found) {
	p := s.p
	if s.player == nil {
		return // it is not opened yet
	}
	s.say(p.graph.hearing.raw[:len(p.graph.hearing.raw)/2])
	if f.voice != sdk.None {
		p.tell(f.voice.Event(0, false))
	}
	if f.measured {
		if p.muted {
			f.levels.Mic = 0
		}
		p.tell(sdk.LevelsMeasured{Levels: f.levels})
	}
}

// say sends the person's sound. Where the network does not keep up, sound is dropped and events are not.
func (s *socketPeer) say(mic []float32) {
	if !s.speaking || !defined(s.p.stream) {
		return
	}
	s.sound = s.resampler.Append(s.sound[:0], mic)
	s.pcm = voice.FloatToPCM16(s.pcm, s.sound)
	if len(s.pcm) < saidSamples {
		return
	}
	message := wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: voice.PCM16ToBytes(nil, s.pcm)})
	s.pcm = s.pcm[:0]
	if s.ready() && s.socket.Get("bufferedAmount").Int() < maxBuffered/2 {
		s.socket.Call("send", string(message))
	}
}

// ready: messages can be sent.
func (s *socketPeer) ready() bool {
	return !s.p.closed && defined(s.socket) && s.socket.Get("readyState").Int() == 1
}

// Send implements sdk.Peer.
func (s *socketPeer) Send(message []byte) error {
	switch {
	case !s.ready():
		return sdk.ErrServerGone
	case s.socket.Get("bufferedAmount").Int()+len(message) > maxBuffered:
		return sdk.ErrOverrun
	}
	s.socket.Call("send", string(message))
	return nil
}

// Play implements sdk.Player.
func (s *socketPeer) Play(response, item string, index int, pcm []byte) {
	if !s.player.play(response, item, index, pcm) {
		s.p.tell(sdk.PeerEnded{Err: sdk.ErrOverrun})
	}
}

// Finish implements sdk.Player.
func (s *socketPeer) Finish(response string) { s.player.finish(response) }

// Stop implements sdk.Player.
func (s *socketPeer) Stop() (sdk.Heard, bool) { return s.player.stop() }

// SetLevel implements sdk.Holder.
func (s *socketPeer) SetLevel(level sdk.Level) {
	s.level = level
	s.gain()
}

// SetVolume implements sdk.VolumeSetter.
func (s *socketPeer) SetVolume(volume float32) error {
	s.p.dialer.volume = min(max(volume, 0), 1)
	s.gain()
	return nil
}

func (s *socketPeer) gain() {
	s.player.gain.Get("gain").Set("value", s.p.dialer.volume*s.level.Gain())
}

// Position implements sdk.Holder.
func (s *socketPeer) Position() (sdk.Heard, bool) { return s.player.position() }

// Hold implements sdk.Holder.
func (s *socketPeer) Hold() { s.player.post(object("hold", true)) }

// Resume implements sdk.Holder.
func (s *socketPeer) Resume(from sdk.Heard) { s.player.resume(from) }

// SetSpeaker implements sdk.SpeakerChooser.
func (s *socketPeer) SetSpeaker(ctx context.Context, id string) error {
	context := s.p.graph.context
	if !defined(context.Get("setSinkId")) {
		return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "this browser cannot choose the loudspeaker"}
	}
	_, err := await(ctx, context.Call("setSinkId", id), nil)
	return err
}

// ResumeSound implements sdk.SoundResumer.
func (s *socketPeer) ResumeSound() { s.p.graph.resume() }

// blocked tells whether the browser waits for a gesture.
func (s *socketPeer) blocked() {
	s.p.tell(sdk.SoundBlocked{Blocked: text(s.p.graph.context, "state") == "suspended"})
}

// Close implements sdk.Peer.
func (s *socketPeer) Close() error {
	if s.p.closed {
		return nil
	}
	if s.player != nil {
		s.player.close()
	}
	if defined(s.socket) {
		s.socket.Call("close")
	}
	return s.p.Close()
}

// SetMuted implements sdk.Peer.
func (d *device) SetMuted(muted bool) { d.p.SetMuted(muted) }

// SetMicrophone implements sdk.Peer.
func (d *device) SetMicrophone(ctx context.Context, id string) error {
	return d.p.SetMicrophone(ctx, id)
}

// Antiphon implements sdk.Peer.
func (d *device) Antiphon() bool { return d.p.antiphon }
