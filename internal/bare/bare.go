//go:build !js

// Package bare is WebRTC on pion with nothing around it, over the loopback device: what benchmarks measure a server
// against, and what tests make clients of that do what a good client does not.
package bare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/hangup"
)

// Limits of what waits to be read of a Peer. What comes beyond is dropped.
const (
	maxMessages = 1024
	maxPackets  = 1024
	maxAnswer   = 1 << 20 // bytes
)

// Peer is one end of a call: an audio track each way and, on the side that calls, a data channel. Safe for concurrent use. Whoever made it closes it.
type Peer struct {
	pc      *webrtc.PeerConnection
	track   *webrtc.TrackLocalStaticRTP
	channel *webrtc.DataChannel // nil on the side that is called

	open     chan struct{} // closed when messages can be sent
	messages chan []byte
	packets  chan Packet
	working  sync.WaitGroup

	mu     sync.Mutex
	packet rtp.Packet
}

// Call calls the server at url, such as "http://localhost:8080", and waits until its data channel is open. ctx bounds the call's begin only.
func Call(ctx context.Context, client *http.Client, url string) (*Peer, error) {
	p, err := newPeer(true)
	if err != nil {
		return nil, err
	}
	err = p.call(func(offer string) (string, error) { return post(ctx, client, url, offer) })
	if err == nil {
		err = p.await(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Answer answers the offer of a call with a new Peer.
func Answer(offer string) (p *Peer, answer string, err error) {
	if p, err = newPeer(false); err != nil {
		return nil, "", err
	}
	if answer, err = p.answer(offer); err != nil {
		return nil, "", errors.Join(err, p.Close())
	}
	return p, answer, nil
}

func post(ctx context.Context, client *http.Client, url, offer string) (string, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/realtime/calls", bytes.NewReader([]byte(offer)))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/sdp")
	r, err := client.Do(q)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Body.Close() }() // all that matters has been read
	answer, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err == nil && r.StatusCode != http.StatusCreated {
		err = fmt.Errorf("bare: the server answered %s: %.200s", r.Status, answer)
	}
	return string(answer), err
}

// Pair connects two peers with each other and waits until the data channel is open.
func Pair(ctx context.Context) (caller, called *Peer, err error) {
	if caller, err = newPeer(true); err != nil {
		return nil, nil, err
	}
	if called, err = newPeer(false); err != nil {
		return nil, nil, errors.Join(err, caller.Close())
	}
	err = caller.call(called.answer)
	if err == nil {
		err = caller.await(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(err, caller.Close(), called.Close())
	}
	return caller, called, nil
}

func newPeer(calls bool) (*Peer, error) {
	var s webrtc.SettingEngine
	s.SetIncludeLoopbackCandidate(true)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;usedtx=1"}
	media := &webrtc.MediaEngine{}
	err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: opus, PayloadType: 111}, webrtc.RTPCodecTypeAudio)
	if err != nil {
		return nil, err
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(s), webrtc.WithMediaEngine(media)).NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	p := &Peer{
		pc: pc, open: make(chan struct{}), messages: make(chan []byte, maxMessages), packets: make(chan Packet, maxPackets),
		packet: rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 111}},
	}
	if p.track, err = webrtc.NewTrackLocalStaticRTP(opus, "voice", "bare"); err == nil {
		_, err = pc.AddTrack(p.track)
	}
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { p.listen(t) })
	if err == nil && calls {
		p.channel, err = pc.CreateDataChannel("oai-events", nil)
	}
	if err != nil {
		return nil, errors.Join(err, hangup.Close(pc))
	}
	if calls {
		p.channel.OnOpen(func() { close(p.open) })
		p.channel.OnMessage(func(m webrtc.DataChannelMessage) { put(p.messages, m.Data) })
	}
	return p, nil
}

// call offers, without candidates: the other side learns them from the first packets.
func (p *Peer) call(ask func(offer string) (answer string, err error)) error {
	offer, err := p.pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	if err := p.pc.SetLocalDescription(offer); err != nil {
		return err
	}
	answer, err := ask(offer.SDP)
	if err != nil {
		return err
	}
	return p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer})
}

func (p *Peer) answer(offer string) (string, error) {
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", err
	}
	<-gathered
	return p.pc.LocalDescription().SDP, nil
}

func (p *Peer) await(ctx context.Context) error {
	select {
	case <-p.open:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("bare: the call does not stand: %w", ctx.Err())
	}
}

func (p *Peer) listen(t *webrtc.TrackRemote) {
	p.working.Add(1)
	defer p.working.Done()
	for {
		packet, _, err := t.ReadRTP()
		if err != nil {
			return // the call is over
		}
		put(p.packets, Packet{packet.Timestamp, packet.Payload})
	}
}

func put[T any](c chan<- T, what T) {
	select {
	case c <- what:
	default:
	}
}

// Send sends one message on the data channel. Only the side that called has one.
func (p *Peer) Send(data []byte, text bool) error {
	if text {
		return p.channel.SendText(string(data))
	}
	return p.channel.Send(data)
}

// Messages returns the channel of the server's messages. Up to 1024 messages wait in it.
func (p *Peer) Messages() <-chan []byte { return p.messages }

// Speak sends one packet of 20 ms on the audio track.
func (p *Peer) Speak(payload []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.packet.SequenceNumber++
	p.packet.Timestamp += 960
	p.packet.Payload = payload
	return p.track.WriteRTP(&p.packet)
}

// Packet is one packet of audio.
type Packet struct {
	Timestamp uint32 // the RTP timestamp, at 48 kHz
	Payload   []byte
}

// Packets returns the channel of incoming audio packets, in the order of arrival. Up to 1024 packets wait in it.
func (p *Peer) Packets() <-chan Packet { return p.packets }

// Close ends the call and joins its goroutines.
func (p *Peer) Close() error {
	err := hangup.Close(p.pc)
	p.working.Wait()
	return err
}
