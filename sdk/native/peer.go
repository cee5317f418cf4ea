//go:build !js

package native

// One call over WebRTC.

import (
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/hangup"
	"github.com/antiphon-rt/antiphon/internal/linkstate"
	"github.com/antiphon-rt/antiphon/sdk"
)

// maxBuffered is how many bytes may wait to be sent.
const maxBuffered = 1 << 20

// peer is one call over WebRTC.
type peer struct {
	*call
	server   endpoint
	location string   // the path of the call at the server
	ducking  *ducking // nil without a detector

	pc      *webrtc.PeerConnection
	link    *linkstate.Link
	channel *webrtc.DataChannel
	track   *webrtc.TrackLocalStaticRTP // nil without a microphone

	received   atomic.Uint64 // packets of the agent that have come
	restarting atomic.Bool   // packets have no path until the restart of the connection is over
}

func newPeer(d *Dialer, c sdk.CallConfig, servers []webrtc.ICEServer, sink func(sdk.PeerEvent)) (*peer, error) {
	pc, err := d.api.NewPeerConnection(webrtc.Configuration{ICEServers: servers})
	if err != nil {
		return nil, err
	}
	p := &peer{call: newCall(d.opts, c, sink), server: d.server, pc: pc}
	if p.opts.Detector {
		p.ducking = &ducking{gain: gain{set: 1, volume: 1, now: 1}, clock: time.Now}
	}
	if err := p.prepare(); err != nil {
		return nil, errors.Join(err, hangup.Close(pc))
	}
	return p, nil
}

// prepare adds the track and the data channel, and takes the events of the connection.
func (p *peer) prepare() error {
	var err error
	if p.speaking {
		err = p.addTrack()
	} else {
		init := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
		_, err = p.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, init)
	}
	if err != nil {
		return err
	}
	if p.channel, err = p.pc.CreateDataChannel("oai-events", nil); err != nil {
		return err
	}
	p.pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { p.workers.do(func() { p.playSound(track) }) })
	p.link = linkstate.Watch(p.pc)
	p.channel.OnOpen(func() { p.events.send(sdk.PeerOpened{}) })
	p.channel.OnClose(func() { p.events.send(sdk.PeerEnded{Err: sdk.ErrServerGone}) })
	p.channel.OnMessage(func(m webrtc.DataChannelMessage) {
		if m.IsString {
			p.events.send(sdk.Message{Data: m.Data})
		}
	})
	return nil
}

// addTrack adds the track of the user's audio.
func (p *peer) addTrack() error {
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability(), "voice", "antiphon")
	if err != nil {
		return err
	}
	sender, err := p.pc.AddTrack(track)
	if err != nil {
		return err
	}
	p.track = track
	p.workers.do(func() { // RTCP reports must be read, or they pile up
		buffer := make([]byte, 1500)
		for {
			if _, _, err := sender.Read(buffer); err != nil {
				return
			}
		}
	})
	return nil
}

// start begins to send sound and to watch the connection, once the server has answered.
func (p *peer) start(c sdk.CallConfig) {
	if p.speaking {
		p.events.send(sdk.MicrophoneOpened{ID: c.Microphone})
	}
	p.workers.do(p.sendSound)
	p.workers.do(p.watch)
}

// maxKept is how many packets of the user's sound wait for the end of a restart: 3 s, as long as the server may take to answer it, and less than
// the 5 s of audio that the server takes at once.
const maxKept = 150

// line is a Source that decides when each packet of its sound is sent, and whether it is: the bad line of a test (internal/calltest).
type line interface{ Packet(send func()) }

// sendSound sends a packet every frame. Without a microphone it only measures. While the connection restarts it keeps the packets, and sends them
// afterwards: pion drops the old path at once, and loses what is sent before there is a new one.
func (p *peer) sendSound() {
	enc, err := newEncoder()
	if err != nil {
		p.events.send(sdk.MicrophoneFailed{Err: &sdk.Error{Kind: sdk.ErrMicrophoneBusy, Cause: err}})
		return
	}
	pcm := make([]int16, FrameSize)
	packet := &rtp.Packet{Header: rtp.Header{Version: 2, PayloadType: 111}}
	bad, _ := p.opts.Microphone.(line)
	send := func(packet *rtp.Packet) { // before the connection is up and after its end the packet is dropped, which does no harm
		if bad == nil {
			_ = p.track.WriteRTP(packet)
			return
		}
		late := packet.Clone()
		bad.Packet(func() { _ = p.track.WriteRTP(late) })
	}
	var kept []*rtp.Packet
	pace(p.workers.stop, func() {
		if !p.microphoneFrame(pcm, p.reportDetection) {
			return
		}
		if p.ducking != nil {
			p.reportPosition()
		}
		if !p.speaking {
			return
		}
		coded, err := enc.encode(pcm)
		if err != nil {
			coded = silentPacket() // this frame is lost
		}
		packet.Payload = coded
		if p.restarting.Load() {
			if len(kept) < maxKept { // else the restart is about to fail
				kept = append(kept, packet.Clone())
			}
		} else {
			for _, late := range kept {
				send(late)
			}
			kept = nil
			send(packet)
		}
		packet.SequenceNumber++
		packet.Timestamp += 960 // Opus counts at 48 kHz
	})
}

// playSound plays the agent's track until it ends.
func (p *peer) playSound(track *webrtc.TrackRemote) {
	dec, err := newDecoder()
	if err != nil {
		p.events.send(sdk.PeerEnded{Err: &sdk.Error{Kind: sdk.ErrUnsupported, Cause: err}})
		return
	}
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return // the call is over
		}
		p.received.Add(1)
		// A packet that cannot be decoded is lost.
		_ = dec.decode(packet.SequenceNumber, packet.Payload, func(pcm []int16) {
			p.meter.agentFrame(pcm)
			if p.ducking != nil {
				p.ducking.silenceMuted(pcm)
				p.detection.agentFrame(pcm)
				p.ducking.play(packet.Timestamp, pcm)
			}
			if p.opts.Speaker != nil {
				p.opts.Speaker.Hear(pcm)
			}
		})
	}
}

// watch reports changes of the connection.
func (p *peer) watch() {
	lost, counted := false, uint64(0)
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.workers.stop:
			return
		case <-tick.C:
			counted, lost = p.countPackets(counted, lost)
			continue
		case <-p.link.Changed():
		}
		switch p.link.State() {
		case webrtc.PeerConnectionStateDisconnected:
			lost = true
			p.events.send(sdk.PeerLost{})
		case webrtc.PeerConnectionStateConnected:
			if lost {
				lost = false
				p.events.send(sdk.PeerRestored{})
			}
		case webrtc.PeerConnectionStateFailed:
			p.events.send(sdk.PeerBroken{Err: sdk.ErrServerGone})
			return
		case webrtc.PeerConnectionStateClosed:
			p.events.send(sdk.PeerEnded{Err: sdk.ErrServerGone})
			return
		case webrtc.PeerConnectionStateUnknown, webrtc.PeerConnectionStateNew, webrtc.PeerConnectionStateConnecting:
		}
	}
}

// countPackets reports how many packets of the agent have come. When a router between both ends changes its address, the server sends to the
// old one, while the client's own connectivity checks still succeed: pion sees nothing, but no packet comes. If no packet has come since the
// last count and this machine no longer has the address of the path, the connection is lost, until a packet comes. before is the result of the
// last count. lost says whether the connection was lost before; countPackets returns whether it is now.
func (p *peer) countPackets(before uint64, lost bool) (uint64, bool) {
	n := p.received.Load()
	if n == 0 || !p.antiphon || p.link.State() != webrtc.PeerConnectionStateConnected {
		return n, lost
	}
	switch {
	case !lost && n == before && p.addressGone():
		lost = true
		p.events.send(sdk.PeerLost{Moved: true})
	case lost && n != before:
		lost = false
		p.events.send(sdk.PeerRestored{})
	}
	p.events.send(sdk.PacketsCounted{Received: n})
	return n, lost
}

// addressGone reports whether this machine no longer has the address that the packets of the call come from.
func (p *peer) addressGone() bool {
	pair, err := p.pc.SCTP().Transport().ICETransport().GetSelectedCandidatePair()
	if err != nil || pair == nil || pair.Local.Typ != webrtc.ICECandidateTypeHost {
		return false // nobody knows
	}
	has, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	ip := net.ParseIP(pair.Local.Address)
	return ip != nil && !slices.ContainsFunc(has, func(a net.Addr) bool {
		own, is := a.(*net.IPNet)
		return is && own.IP.Equal(ip)
	})
}

// Send implements sdk.Peer.
func (p *peer) Send(message []byte) error {
	if p.channel.BufferedAmount()+uint64(len(message)) > maxBuffered {
		return sdk.ErrOverrun
	}
	if err := p.channel.SendText(string(message)); err != nil {
		return connectionError(err)
	}
	return nil
}

// Close implements sdk.Peer.
func (p *peer) Close() error {
	p.events.stop()
	return p.workers.end(func() error { return hangup.Close(p.pc) })
}
