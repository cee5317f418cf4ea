//go:build !js

package native

// What a call over WebRTC has in common with one over a WebSocket.

import (
	"context"
	"sync/atomic"

	"github.com/antiphon-rt/antiphon/sdk"
)

// call is the user's side of a call, and what is known of its server.
type call struct {
	opts            Options
	antiphon        bool
	kept            sdk.Resumption
	speaking        bool        // there is a microphone
	microphoneGiven atomic.Bool // another peer has the microphone now
	muted           atomic.Bool
	events          *eventSink
	meter           *levelMeter
	detection       *speechDetection // nil without a detector
	workers         *workers
}

func newCall(o Options, c sdk.CallConfig, sink func(sdk.PeerEvent)) *call {
	p := &call{opts: o, speaking: !c.NoMicrophone, events: newEventSink(sink), workers: newWorkers()}
	p.meter = &levelMeter{events: p.events, mic: -120, agent: -120}
	if o.Detector {
		p.detection = newSpeechDetection()
	}
	p.muted.Store(c.Muted)
	return p
}

// microphoneFrame fills pcm with the next sound of the user, and measures it. It gives each finding of the detector to found. It returns false when another peer has the microphone.
func (p *call) microphoneFrame(pcm []int16, found func(sdk.Detection)) bool {
	if p.microphoneGiven.Load() {
		return false
	}
	if p.opts.Microphone != nil && p.speaking {
		p.opts.Microphone.Frame(pcm)
	}
	if p.muted.Load() {
		clear(pcm)
	}
	p.meter.microphoneFrame(pcm)
	if p.detection != nil {
		p.detection.microphoneFrame(pcm, found)
	}
	return true
}

// takeMicrophone makes the former peer of a conversation stop using the microphone.
func takeMicrophone(former sdk.Peer) {
	if p, ok := former.(interface{ giveMicrophone() }); ok {
		p.giveMicrophone()
	}
}

func (p *call) giveMicrophone() { p.microphoneGiven.Store(true) }

// SetMuted implements sdk.Peer.
func (p *call) SetMuted(muted bool) { p.muted.Store(muted) }

// SetMicrophone implements sdk.Peer. It always fails, because the only microphone is the Source that the program gave.
func (p *call) SetMicrophone(context.Context, string) error {
	return &sdk.Error{Kind: sdk.ErrUnavailable, Detail: "the program gives the microphone"}
}

// Antiphon implements sdk.Peer.
func (p *call) Antiphon() bool { return p.antiphon }

// Resumption implements sdk.Resumable.
func (p *call) Resumption() sdk.Resumption { return p.kept }
