//go:build !js

package native

// Calls over a WebSocket: the dialer and its peer.

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	// maxSocketMessage is the size of the largest event that a call accepts, in bytes. The audio of responses comes in events.
	maxSocketMessage = 4 << 20
	// pingTime is how often the client pings the server, and how long the answer may take.
	pingTime = 5 * time.Second
)

// SocketDialer places calls over a WebSocket. Make it with NewSocketDialer. It implements sdk.Dialer and sdk.PipelineSource
// and is safe for concurrent use, as a Dialer is.
type SocketDialer struct {
	opts   Options
	server endpoint
}

// NewSocketDialer makes a dialer. It opens no connection before Dial.
func NewSocketDialer(o Options) *SocketDialer {
	return &SocketDialer{opts: o, server: newEndpoint(o.URL, o.Key, o.Client)}
}

// Dial implements sdk.Dialer.
func (d *SocketDialer) Dial(ctx context.Context, c sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	conn, answer, err := websocket.Dial(ctx, d.server.url+withModel("/v1/realtime", c.Model), &websocket.DialOptions{
		HTTPClient: d.server.client, HTTPHeader: withResume(d.server.header(), c.Resume), Subprotocols: []string{"realtime"},
	})
	switch {
	case err != nil && answer != nil && answer.StatusCode != http.StatusSwitchingProtocols:
		return nil, &sdk.RefusedError{Status: answer.StatusCode, Message: refusal(readSome(answer))}
	case err != nil:
		return nil, unreachable(ctx, err)
	}
	conn.SetReadLimit(maxSocketMessage)
	p := &socketPeer{call: newCall(d.opts, c, sink), conn: conn, gain: gain{set: 1, volume: 1, now: 1}, out: &sendQueue{ready: make(chan struct{}, 1)}}
	p.antiphon, p.kept = answer.Header.Get(versionHeader) != "", resumption(answer.Header, c.Resume)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	takeMicrophone(c.From)
	if p.kept.Resumed {
		p.takePlayback(c.From)
	}
	p.start(c)
	if d.opts.Detector {
		return rewindingPeer{p}, nil
	}
	return p, nil
}

// readSome returns the part of a refusal's body that the library has kept.
func readSome(answer *http.Response) []byte {
	text := make([]byte, maxRefusal)
	n, _ := answer.Body.Read(text) // what cannot be read is not shown
	return text[:n]
}

// Pipeline implements sdk.PipelineSource.
func (d *SocketDialer) Pipeline(ctx context.Context) (sdk.Pipeline, error) {
	return d.server.pipeline(ctx)
}

// socketPeer is one call over a WebSocket. It is an sdk.Player.
type socketPeer struct {
	*call
	conn   *websocket.Conn
	player player
	gain   gain
	out    *sendQueue

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	ending sync.Once // the end of the connection is reported once
}

// start reports that the call is open, and starts its goroutines.
func (p *socketPeer) start(c sdk.CallConfig) {
	p.events.send(sdk.PeerOpened{})
	if p.speaking {
		p.events.send(sdk.MicrophoneOpened{ID: c.Microphone})
	}
	p.workers.do(p.read)
	p.workers.do(p.write)
	p.workers.do(p.watch)
	p.workers.do(func() {
		said, heard := make([]int16, FrameSize), make([]int16, FrameSize)
		pace(p.workers.stop, func() {
			p.sendFrame(said)
			p.playFrame(heard)
		})
	})
}

// read reports the events of the server until the connection ends.
func (p *socketPeer) read() {
	for {
		kind, text, err := p.conn.Read(p.ctx)
		if err != nil {
			p.connectionEnded(err)
			return
		}
		if kind == websocket.MessageText {
			p.events.send(sdk.Message{Data: text})
		}
	}
}

// write sends the queued messages.
func (p *socketPeer) write() {
	for {
		select {
		case <-p.workers.stop:
			return
		case <-p.out.ready:
		}
		for {
			next := p.out.take()
			if next == nil {
				break
			}
			if err := p.conn.Write(p.ctx, websocket.MessageText, next); err != nil {
				return // read reports why
			}
		}
	}
}

// watch pings the server, since a connection that is cut on the way does not end by itself.
func (p *socketPeer) watch() {
	ticker := time.NewTicker(pingTime)
	defer ticker.Stop()
	for {
		select {
		case <-p.workers.stop:
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(p.ctx, pingTime)
		err := p.conn.Ping(ctx)
		cancel()
		if err != nil {
			p.connectionEnded(err)
			return
		}
	}
}

// connectionEnded reports the end of the connection. If the server has closed the connection, the call is over. If the connection
// broke, another peer may reconnect the call.
func (p *socketPeer) connectionEnded(err error) {
	p.ending.Do(func() {
		if websocket.CloseStatus(err) >= 0 {
			p.events.send(sdk.PeerEnded{Err: connectionError(err)})
			return
		}
		p.events.send(sdk.PeerBroken{Err: connectionError(err)})
	})
}

// sendFrame sends one frame of the user's audio. If the server does not keep up, sendFrame drops frames of audio but no other events.
func (p *socketPeer) sendFrame(pcm []int16) {
	found := func(v sdk.Detection) { p.events.send(v.Event(sdk.PlayedPosition{}, false)) }
	if p.microphoneFrame(pcm, found) && p.speaking {
		p.out.put(wire.AppendClient(nil, &wire.InputAudioBufferAppend{Audio: voice.PCM16ToBytes(nil, pcm)}), maxBuffered/2)
	}
}

// playFrame plays the next frame of the agent.
func (p *socketPeer) playFrame(pcm []int16) {
	tell, sounding := p.player.frame(pcm)
	if sounding {
		p.meter.agentFrame(pcm)
		if p.detection != nil {
			p.detection.agentFrame(pcm)
		}
		p.gain.apply(pcm)
		if p.opts.Speaker != nil {
			p.opts.Speaker.Hear(pcm)
		}
	}
	for _, e := range tell {
		p.events.send(e)
	}
}

// Play implements sdk.Player.
func (p *socketPeer) Play(response, item string, index int, pcm []byte) {
	if !p.player.play(response, item, index, pcm) {
		p.events.send(sdk.PeerEnded{Err: sdk.ErrOverrun})
	}
}

// Finish implements sdk.Player.
func (p *socketPeer) Finish(response string) { p.player.finish(response) }

// Stop implements sdk.Player.
func (p *socketPeer) Stop() (sdk.PlayedPosition, bool) { return p.player.stop() }

// Send implements sdk.Peer.
func (p *socketPeer) Send(message []byte) error {
	switch {
	case p.ctx.Err() != nil:
		return sdk.ErrServerGone
	case !p.out.put(message, maxBuffered):
		return sdk.ErrOverrun
	}
	return nil
}

// Close implements sdk.Peer.
func (p *socketPeer) Close() error {
	p.events.stop()
	return p.workers.end(func() error {
		_ = p.conn.Close(websocket.StatusNormalClosure, "") // whether or not the server answers
		p.cancel()
		return nil
	})
}
