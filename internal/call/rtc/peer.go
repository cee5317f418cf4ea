package rtc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/offer"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/queue"
	"github.com/antiphon-rt/antiphon/internal/hangup"
	"github.com/antiphon-rt/antiphon/internal/linkstate"
)

// A peer is one connection of a call: its negotiation, the sending of events, and its end.

// handlerTimeout is how long Close waits for Handler methods that are still running when all else has ended.
const handlerTimeout = 3 * time.Second

// OwnUnread is how many bytes of events that its client does not read a connection holds beside what it shares. All events that are kept for a reconnect fit into it.
const OwnUnread = 2 << 20

// Peer is one call over WebRTC, or one of several connections of a call whose client reconnects. It implements link.Connection
// and is safe for concurrent use. The caller of Answer must call Close in every case.
type Peer struct {
	engine  *Engine
	handler openHandler
	offer   offer.Offer
	pc      *webrtc.PeerConnection
	link    *linkstate.Link
	track   *webrtc.TrackLocalStaticRTP
	output  *Output
	queue   *queue.Queue
	pacer   *Pacer
	counts  counts

	life       *lifecycle
	fatal      chan error    // what ended the call; one is enough
	restarting chan struct{} // has a token while a restart is negotiated
	reach      reachability
	hearing    chan struct{} // has a token while a packet of the client is handled
	taken      taken
	streams    atomic.Int32 // how many streams the client has begun
	abandoned  atomic.Bool  // nobody is there to whom the data channel could be closed

	done     chan struct{} // closed when all is joined
	closeErr error         // set before life.quiet closes
}

// returnsAfter is how long the track that the peer hears may be silent before a packet of a former one counts. A packet that was only late
// comes earlier than that.
const returnsAfter = 60 * time.Millisecond

// taken notes what of the client's tracks and channels the peer uses: one track and the first channel.
type taken struct {
	mu       sync.Mutex
	track    voiceTrack    // the one that the peer hears: the newest, or a former one to which the client has returned
	heard    time.Time     // when its last packet came
	channels int           // how many data channels the client has opened
	open     *eventChannel // nil until the data channel is open
	pieces   pieces        // of the events; it has a lock of its own
}

// takeTrack makes v, which is new, the track that the peer hears.
func (t *taken) takeTrack(v voiceTrack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.track = v
}

// hears reports whether the peer hears the track v, of which a packet has come if packet is set.
func (t *taken) hears(v voiceTrack, packet bool, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if packet && (t.track == v || now.Sub(t.heard) > returnsAfter) {
		t.track, t.heard = v, now
	}
	return t.track == v
}

// takeChannel counts a data channel that the client opens, and returns its number: 1 for the first one.
func (t *taken) takeChannel() (number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.channels++
	return t.channels
}

func (t *taken) channelOpened(c *eventChannel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = c
}

func (t *taken) openChannel() *eventChannel {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open
}

// Answer negotiates one call. The offer has one audio section with Opus (sendrecv, sendonly or recvonly), and as a rule a data
// channel, which the client labels "oai-events"; Answer refuses other sections. It returns the SDP answer, which contains all
// addresses of the server, and does not wait for the client to connect: the Handler gets Opened, or Failed after
// Config.Connect. ctx bounds Answer itself and not the call. unread is for the bytes of the events that the client does not read; nil has no limit.
//
// Errors wrap ErrBadSDP, ErrNoAudio, link.ErrClosed, or the error of ctx.
func (e *Engine) Answer(ctx context.Context, sdp string, unread link.Memory, h link.Handler) (*Peer, string, error) {
	return e.answer(ctx, sdp, unread, h, NewOutput(randomStart()))
}

// Check returns the error with which Answer refuses an offer that it cannot read. It changes nothing.
func (e *Engine) Check(sdp string) error {
	_, err := offer.Read(sdp, e.remotes())
	return err
}

// Reconnect is Answer for a call that continues over another connection. former is the peer of the call before, which is closed.
// Its output continues with the new peer.
func (e *Engine) Reconnect(ctx context.Context, sdp string, unread link.Memory, h link.Handler, former *Peer) (*Peer, string, error) {
	return e.answer(ctx, sdp, unread, h, former.output)
}

func (e *Engine) answer(ctx context.Context, sdp string, unread link.Memory, h link.Handler, out *Output) (*Peer, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", fmt.Errorf("rtc: answer: %w", err)
	}
	o, err := offer.Read(sdp, e.remotes())
	if err != nil {
		return nil, "", err
	}
	p, err := e.newPeer(o, unread, h, out)
	if err != nil {
		return nil, "", err
	}
	answer, err := p.negotiate(ctx)
	if err != nil {
		return nil, "", errors.Join(err, p.Close())
	}
	p.life.start(p.watch)
	return p, answer, nil
}

func (e *Engine) newPeer(o offer.Offer, unread link.Memory, h link.Handler, out *Output) (*Peer, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(opusCapability(), "voice", "antiphon")
	if err != nil {
		return nil, fmt.Errorf("rtc: outgoing track: %w", err)
	}
	life := newLifecycle()
	p := &Peer{
		engine: e, handler: openHandler{life, h}, offer: o, track: track, output: out,
		queue:      queue.New(e.cfg.MaxQueuedEvents, e.cfg.MaxQueuedBytes, unread),
		life:       life,
		fatal:      make(chan error, 1),
		restarting: make(chan struct{}, 1),
		reach:      newReachability(),
		hearing:    make(chan struct{}, 1),
		done:       make(chan struct{}),
	}
	p.pacer = NewPacer(p.output, track, e.encoders, p.handler, p.fail)
	p.taken.pieces.tooMany = func(err error) {
		p.abandoned.Store(true) // pion would sort during the whole farewell
		p.fail(err)
	}
	if p.pc, err = e.newConnection(o, p); err != nil {
		return nil, fmt.Errorf("rtc: peer connection: %w", err)
	}
	if err := e.add(p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.link = linkstate.Watch(p.pc)
	p.pc.SCTP().Transport().ICETransport().OnSelectedCandidatePairChange(func(*webrtc.ICECandidatePair) {
		p.reach.paths.Add(1)
		p.link.Wake()
	})
	p.pc.OnTrack(p.onTrack)
	p.pc.OnDataChannel(p.onDataChannel)
	p.pc.SCTP().OnError(func(err error) { // pion takes no data channel any more
		p.fail(fmt.Errorf("rtc: a data channel cannot be opened: %w", err))
	})
	return p, nil
}

// negotiate takes the offer and returns the SDP answer.
func (p *Peer) negotiate(ctx context.Context) (string, error) {
	if err := p.pc.SetRemoteDescription(p.offer.Desc); err != nil {
		return "", fmt.Errorf("%w: %w; send RTCSessionDescription.sdp unchanged", ErrBadSDP, err)
	}
	if p.offer.ReceivesAudio {
		sender, err := p.pc.AddTrack(p.track)
		if err != nil {
			return "", fmt.Errorf("rtc: add track: %w", err)
		}
		p.life.start(func() { p.feedback(sender.Read) })
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
	return offer.Complete(p.pc.LocalDescription().SDP, p.offer.Desc.SDP)
}

// Output implements link.Link: there is one output for the whole call, also over later connections.
func (p *Peer) Output() link.Output { return p.output }

// Send implements link.Link: it queues one event as a text message for the client. Events arrive in the order of Send, also those
// from before the data channel opened. A queued event counts as sent: Send calls sent itself.
//
// Errors: link.ErrTooLarge, link.ErrBackpressure (Handler.Failed follows), link.ErrClosed and others if the call is over.
func (p *Peer) Send(e link.Event, sent func()) error {
	err := p.push(e.Text)
	if err == nil && sent != nil {
		sent()
	}
	return err
}

// push queues the text of an event. A client without a data channel gets no events.
func (p *Peer) push(text []byte) error {
	if !p.offer.Events {
		p.counts.eventsDropped.Add(1)
		return nil
	}
	if limit := min(p.offer.MaxMessage, p.engine.cfg.MaxQueuedBytes); len(text) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", link.ErrTooLarge, len(text), limit)
	}
	err := p.queue.Push(text)
	if errors.Is(err, link.ErrBackpressure) {
		p.fail(err)
	}
	return err
}

// Stop begins to close the call and returns at once.
func (p *Peer) Stop() {
	if p.life.begin() {
		p.queue.Seal(link.ErrClosed)
		go p.shut()
	}
}

// Abandon implements link.Connection: it closes a call whose client has gone over to another connection, without waiting for the
// client. No event is unsent, because a queued event counts as sent.
func (p *Peer) Abandon() (unsent []func()) {
	p.abandoned.Store(true)
	if !p.life.closing() {
		p.pathLost()
	}
	_ = p.Close() // its error is of use to a log only
	return nil
}

// Close implements link.Link. It ends the call and returns when all its goroutines have ended. It may be called again, and from
// several goroutines. The Handler gets no calls once Close or Stop has begun. Close waits at most handlerTimeout for a Handler
// method that is still running: a method that calls Close itself waits for nothing else then, and does better to call Stop.
// The error is the transport's complaint about its end, and of use to a log only.
func (p *Peer) Close() error {
	p.Stop()
	select {
	case <-p.done:
		return p.closeErr
	case <-p.life.quiet:
	}
	limit := time.NewTimer(handlerTimeout)
	defer limit.Stop()
	select {
	case <-p.done:
	case <-limit.C:
	}
	return p.closeErr
}

// shut tears the transport down, which ends every goroutine that reads from it, and joins all goroutines. If the transport does not end
// within hangup.GiveUpAfter, shut reports that and leaves the goroutines behind that wait for the transport.
func (p *Peer) shut() {
	defer close(p.done)
	defer p.engine.remove(p)
	defer p.queue.Close(link.ErrClosed)
	if !p.abandoned.Load() { // hangup.Close ends what closeEventChannel may leave behind
		hangup.Within(p.engine.cfg.farewell+closeDelay+time.Second, p.closeEventChannel)
	}
	err := hangup.Close(p.pc)
	if err != nil {
		p.closeErr = fmt.Errorf("rtc: close: %w", err)
	}
	p.life.transportDown()
	if errors.Is(err, hangup.ErrStuck) {
		p.engine.stuck.Add(1)
		p.engine.cfg.Logger.Error("a call's connection was left behind", "error", err)
		return
	}
	<-p.life.ended
}

// fail ends the call because of err; watch tells the Handler. The first error counts.
func (p *Peer) fail(err error) {
	if p.life.closing() {
		return // closing breaks things on purpose
	}
	p.queue.Close(err)
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

var (
	_ link.Connection   = (*Peer)(nil)
	_ link.RoundTripper = (*Peer)(nil)
)
