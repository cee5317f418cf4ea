package browser

// One call over a WebSocket.

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

// messageSamples is how many samples of the microphone go into one message: 20 ms.
const messageSamples = wireRate / 50

// socketPeer is one call over a WebSocket, for networks that block WebRTC. It is an sdk.Player and an sdk.Rewinder.
type socketPeer struct {
	*device
	player *player
	gain   float32 // what the session has set
	resume sdk.Resume
	opened chan error // gets the result of connecting, once
	made   bool       // the conversation has begun

	hasMicrophone bool
	resampler     *voice.Resampler
	sound         []float32
	pcm           []int16
}

// device is what a call over a WebSocket shares with one over WebRTC: the microphone and its capture.
type device struct{ p *peer }

// dialSocket places a call over a WebSocket.
func (d *Dialer) dialSocket(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	s := &socketPeer{gain: 1, hasMicrophone: !c.NoMicrophone, resume: c.Resume, opened: make(chan error, 1)}
	p := newPeer(d, "socket", c, sink, s.pageEvent)
	s.device = &device{p}
	p.capture = newCapture(p.page, s.soundMeasured)
	if err := s.open(ctx, c); err != nil {
		_ = s.Close()
		return nil, err
	}
	go p.listDevices()
	p.tell(sdk.SoundBlocked{Blocked: p.page.Get("blocked").Bool()})
	if c.Speaker != "" {
		_ = s.SetSpeaker(ctx, c.Speaker) // the default one plays then
	}
	return s, ctx.Err()
}

// open starts everything: the worklet, the microphone, the connection.
func (s *socketPeer) open(ctx context.Context, c sdk.CallConfig) error {
	p := s.p
	if err := p.capture.start(ctx, p.dialer.worklet()); err != nil {
		return &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "without the worklet nothing can be played", Cause: err}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var err error
	if s.player, err = newPlayer(ctx, p.page, p.capture.rate, p.tell); err != nil {
		return err
	}
	if s.resampler, err = voice.NewResampler(p.capture.rate, wireRate); err != nil {
		return err
	}
	s.applyGain()
	if s.hasMicrophone {
		p.openFirst(ctx, formerMicrophone(c.From))
	}
	known := make(chan error, 1)
	go func() {
		_, err := p.dialer.pipeline(ctx) // only an Antiphon has a pipeline
		known <- err
	}()
	err = s.connect(ctx)
	asked := <-known // ctx ends it
	p.antiphon = asked == nil
	// A browser does not say why a WebSocket was refused, but the server refuses the request for its pipeline for the same reasons.
	refused, answered := errors.AsType[*sdk.RefusedError](asked)
	switch {
	case err == nil || ctx.Err() != nil:
	case c.Resume.Token != "" && p.antiphon:
		return &sdk.RefusedError{Status: 404, Message: "the conversation is not kept any more"}
	case c.Resume.Token == "" && answered && (refused.Status == 401 || refused.Status == 403):
		return refused
	}
	return err
}

// connect opens the connection.
func (s *socketPeer) connect(ctx context.Context) error {
	if thrown := s.p.page.Call("connect", s.resume.Token, s.resume.After); defined(thrown) {
		return &sdk.Error{Kind: sdk.ErrServerGone, Cause: errorOf(thrown)}
	}
	select {
	case err := <-s.opened:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pageEvent handles the reports of the page until the conversation has begun. A conversation that goes on begins with its first
// event.
func (s *socketPeer) pageEvent(what string, args []js.Value) bool {
	switch what {
	case "open":
		if s.resume.Token != "" {
			return true
		}
		s.connected(nil)
	case "close":
		if !s.made {
			s.connected(&sdk.Error{Kind: sdk.ErrServerGone, Detail: "or it refused the call: a browser does not say"})
			return true // Dial returns the error, when it knows more of it
		}
	case "message":
		if s.resume.Token != "" && s.welcomed(args[0]) {
			s.connected(nil)
			s.p.tell(sdk.PeerOpened{})
			return true
		}
	}
	return false
}

// connected gives the result of connecting, once.
func (s *socketPeer) connected(err error) {
	s.made = err == nil
	select {
	case s.opened <- err:
	default: // the result was given already
	}
}

// welcomed takes the first event of a conversation that goes on. It returns false for any other event.
func (s *socketPeer) welcomed(data js.Value) bool {
	if s.p.kept.Resumed || data.Type() != js.TypeString {
		return false
	}
	ack, err := wire.ReadServer([]byte(data.String()))
	if err != nil || ack.Type != "antiphon.ack" || ack.Text("resume") != s.resume.Token {
		return false
	}
	s.p.kept = sdk.Resumption{Token: s.resume.Token, Resumed: true, Seen: ack.Text("acknowledges")}
	return true
}

// Resumption implements sdk.Resumable. The token of a new call comes with the answer to its hello.
func (s *socketPeer) Resumption() sdk.Resumption { return s.p.kept }

// soundMeasured takes 10 ms of both sides.
func (s *socketPeer) soundMeasured(f measurement) {
	p := s.p
	if s.player == nil {
		return // the call is not open yet
	}
	s.sendFrame(p.capture.detection.raw[:len(p.capture.detection.raw)/2])
	if f.detection != sdk.NoDetection {
		p.tell(f.detection.Event(sdk.PlayedPosition{}, false))
	}
	if f.hasLevels {
		p.sendLevels(f.levels)
	}
}

// sendFrame sends sound of the user. Where the network does not keep up, it drops sound; events are not dropped.
func (s *socketPeer) sendFrame(mic []float32) {
	if !s.hasMicrophone || !s.p.page.Get("speaks").Bool() {
		return
	}
	s.sound = s.resampler.Append(s.sound[:0], mic)
	s.pcm = voice.FloatToPCM16(s.pcm, s.sound)
	if len(s.pcm) < messageSamples {
		return
	}
	message := wire.AppendAudio(nil, voice.PCM16ToBytes(nil, s.pcm))
	s.pcm = s.pcm[:0]
	s.p.page.Call("send", string(message), maxBuffered/2)
}

// Send implements sdk.Peer.
func (s *socketPeer) Send(message []byte) error { return s.p.Send(message) }

// Play implements sdk.Player.
func (s *socketPeer) Play(response, item string, index int, pcm []byte) {
	if !s.player.play(response, item, index, pcm) {
		s.p.tell(sdk.PeerEnded{Err: sdk.ErrOverrun})
	}
}

// Finish implements sdk.Player.
func (s *socketPeer) Finish(response string) { s.player.finish(response) }

// Stop implements sdk.Player.
func (s *socketPeer) Stop() (sdk.PlayedPosition, bool) { return s.player.stop() }

// SetGain implements sdk.Rewinder.
func (s *socketPeer) SetGain(gain float32) {
	s.gain = gain
	s.applyGain()
}

// SetVolume implements sdk.VolumeSetter.
func (s *socketPeer) SetVolume(volume float32) error {
	s.p.dialer.volume = min(max(volume, 0), 1)
	s.applyGain()
	return nil
}

// applyGain gives the present volume and gain to the page.
func (s *socketPeer) applyGain() {
	s.p.page.Call("gain", s.p.dialer.volume*s.gain)
}

// Position implements sdk.Rewinder.
func (s *socketPeer) Position() (sdk.PlayedPosition, bool) { return s.player.position() }

// Hold implements sdk.Rewinder.
func (s *socketPeer) Hold() { s.player.post(object("hold", true)) }

// Resume implements sdk.Rewinder.
func (s *socketPeer) Resume(from sdk.PlayedPosition) { s.player.resume(from) }

// SetSpeaker implements sdk.SpeakerChooser.
func (s *socketPeer) SetSpeaker(ctx context.Context, id string) error {
	return setSpeaker(ctx, s.p.page.Get("context"), id)
}

// ResumeSound implements sdk.SoundResumer.
func (s *socketPeer) ResumeSound() { s.p.ResumeSound() }

// Close implements sdk.Peer.
func (s *socketPeer) Close() error {
	if s.p.closed {
		return nil
	}
	err := s.p.Close()
	if s.player != nil {
		s.player.close()
	}
	return err
}

// SetMuted implements sdk.Peer.
func (d *device) SetMuted(muted bool) { d.p.SetMuted(muted) }

// SetMicrophone implements sdk.Peer.
func (d *device) SetMicrophone(ctx context.Context, id string) error {
	return d.p.SetMicrophone(ctx, id)
}

// Antiphon implements sdk.Peer.
func (d *device) Antiphon() bool { return d.p.antiphon }
