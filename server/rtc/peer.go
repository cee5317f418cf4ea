package rtc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/server/call"
)

// Peer is one call. It is safe for concurrent use. Whoever got it from Answer must Close it, whatever happens.
type Peer struct {
	engine  *Engine
	handler call.Handler
	offer   offer
	pc      *webrtc.PeerConnection
	track   *webrtc.TrackLocalStaticRTP
	output  *Output
	queue   *queue
	pacer   *pacer
	counts  counts

	changed chan struct{} // has a token when the connection's state has changed
	fatal   chan error    // what ended the call; one is enough
	stop    chan struct{} // closed when closing begins
	done    chan struct{} // closed when all is joined

	restarting chan struct{} // holds a token while a restart is negotiated
	abandoned  atomic.Bool   // nobody is there to take leave of

	reach sync.Mutex
	lost  bool // Lost was reported, and not yet Restored

	mu        sync.Mutex
	stopped   bool
	listening bool // the caller's track is taken
	opened    bool // the data channel is taken
	line      *line
	closeErr  error
	wg        sync.WaitGroup
}

// Answer negotiates one call. The offer has one audio section with Opus (sendrecv, sendonly or recvonly), and as a
// rule a data channel, which the client labels "oai-events"; other sections are refused. Answer returns with the
// answer, which has all our addresses, and does not wait for the client to connect: the Handler gets Opened,
// or Failed after Config.Connect. ctx bounds Answer itself and not the call.
//
// Errors wrap ErrBadSDP, ErrNoAudio, call.ErrClosed, or ctx's.
func (e *Engine) Answer(ctx context.Context, sdp string, h call.Handler) (*Peer, string, error) {
	return e.answer(ctx, sdp, h, newOutput())
}

// Reconnect is Answer for a call that goes on over another connection. former is the call's peer before, which is closed; its
// Output goes on with the new peer.
func (e *Engine) Reconnect(ctx context.Context, sdp string, h call.Handler, former *Peer) (*Peer, string, error) {
	return e.answer(ctx, sdp, h, former.output)
}

func (e *Engine) answer(ctx context.Context, sdp string, h call.Handler, s *Output) (*Peer, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", fmt.Errorf("rtc: answer: %w", err)
	}
	o, err := readOffer(sdp)
	if err != nil {
		return nil, "", err
	}
	p, err := e.newPeer(o, h, s)
	if err != nil {
		return nil, "", err
	}
	answer, err := p.negotiate(ctx)
	if err != nil {
		return nil, "", errors.Join(err, p.Close())
	}
	p.start(p.watch)
	return p, answer, nil
}

func (e *Engine) newPeer(o offer, h call.Handler, s *Output) (*Peer, error) {
	enc, err := newOpusEncoder(e.cfg.OpusComplexity, e.cfg.OpusBitrate)
	if err != nil {
		return nil, err
	}
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability(), "voice", "antiphon")
	if err != nil {
		return nil, fmt.Errorf("rtc: outgoing track: %w", err)
	}
	p := &Peer{
		engine: e, handler: h, offer: o, track: track,
		output:  s,
		queue:   newQueue(e.cfg.MaxQueuedEvents, e.cfg.MaxQueuedBytes),
		changed: make(chan struct{}, 1),
		fatal:   make(chan error, 1),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),

		restarting: make(chan struct{}, 1),
	}
	p.pacer = newPacer(p.output, track, enc, h, p.fail)
	if p.pc, err = e.api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return nil, fmt.Errorf("rtc: peer connection: %w", err)
	}
	if err := e.add(p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.pc.OnConnectionStateChange(func(webrtc.PeerConnectionState) { signal(p.changed) })
	p.pc.OnTrack(p.onTrack)
	p.pc.OnDataChannel(p.onDataChannel)
	return p, nil
}

// negotiate takes the offer and makes the answer.
func (p *Peer) negotiate(ctx context.Context) (string, error) {
	if err := p.pc.SetRemoteDescription(p.offer.desc); err != nil {
		return "", fmt.Errorf("%w: %w; send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	if p.offer.hears {
		sender, err := p.pc.AddTrack(p.track)
		if err != nil {
			return "", fmt.Errorf("rtc: add track: %w", err)
		}
		p.start(func() { p.feedback(sender.Read) })
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: it cannot be answered: %w", ErrBadSDP, err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("rtc: local description: %w", err)
	}
	if err := p.await(ctx, gathered); err != nil {
		return "", err
	}
	return withFormat(p.pc.LocalDescription().SDP)
}

// Output implements call.Link: one output for the whole call, also over later connections.
func (p *Peer) Output() call.Output { return p.output }

// Send implements call.Link: it queues one event as a text message for the client and copies the text. Events arrive in the
// order of Send, also those from before the data channel opened. A queued event counts as sent: Send calls sent itself.
//
// Errors: call.ErrTooLarge, call.ErrBackpressure (Handler.Failed follows), call.ErrClosed and others if the call is over.
func (p *Peer) Send(e call.Event, sent func()) error {
	err := p.push(e.Text)
	if err == nil && sent != nil {
		sent()
	}
	return err
}

// push queues the text of an event. A client without a data channel gets no events.
func (p *Peer) push(text []byte) error {
	if !p.offer.events {
		p.counts.eventsDropped.Add(1)
		return nil
	}
	if limit := min(p.offer.maxMessage, p.engine.cfg.MaxQueuedBytes); len(text) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", call.ErrTooLarge, len(text), limit)
	}
	err := p.queue.push(text)
	if errors.Is(err, call.ErrBackpressure) {
		p.fail(err)
	}
	return err
}

// Stop begins to close the call and returns at once.
func (p *Peer) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	p.stopped = true
	close(p.stop)
	p.queue.seal(call.ErrClosed)
	go p.shut()
}

// Abandon implements call.Connection: it closes a call whose client has gone over to another connection, without waiting for the
// client. No event is unsent, because a queued event counts as sent.
func (p *Peer) Abandon() (unsent []func()) {
	p.abandoned.Store(true)
	_ = p.Close() // its error is of use to a log only
	return nil
}

// Close ends the call and returns when all its goroutines have. It may be called again, and from several
// goroutines. From within a Handler method, of any peer, it does what Stop does: the goroutine it is called on
// cannot wait for itself. The error is the transport's complaint about its end, and of use to a log only.
func (p *Peer) Close() error {
	p.Stop()
	if withinPeer() {
		return nil
	}
	<-p.done
	return p.closeErr
}

// shut tears the transport down, which ends every goroutine that reads from it, and joins.
func (p *Peer) shut() {
	defer close(p.done)
	if !p.abandoned.Load() {
		p.part()
	}
	err := p.pc.GracefulClose()
	p.wg.Wait()
	p.engine.remove(p)
	if err != nil {
		p.closeErr = fmt.Errorf("rtc: close: %w", err)
	}
}

// start runs f on a goroutine of the peer, unless closing has begun.
func (p *Peer) start(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return false
	}
	p.wg.Add(1)
	go p.run(f)
	return true
}

// closing reports whether Stop was called.
func (p *Peer) closing() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// fail ends the call, from the client's point of view; watch tells the handler. The first reason counts.
func (p *Peer) fail(err error) {
	if p.closing() {
		return // what breaks now is our own doing
	}
	p.queue.close(err)
	select {
	case p.fatal <- err:
	default:
	}
}

// signal puts a token into a channel that holds one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
