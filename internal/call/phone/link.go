package phone

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// The link of a telephone call: what a session and a transport see of it.

// Limits of what comes from a telephone.
const (
	// burstAudio is how much audio may come at once after a pause of the network; fasterBy is how much faster than real time the rest may
	// come. What comes above that is dropped and counted.
	burstAudio = 4 * time.Second
	fasterBy   = 1.1
	// burstDigits keys may come at once, and digitsPerSecond after that.
	burstDigits, digitsPerSecond = 40, 20
	// maxUnsent bounds the events whose sent functions wait for the pacer.
	maxUnsent = 4096
)

// usualPath is how long audio takes to the far side and back where nothing has measured it.
const usualPath = 20 * time.Millisecond

// Link is one telephone call. It implements link.Connection, and is safe for concurrent use.
type Link struct {
	transport Transport
	handler   gate
	output    *Output
	pacer     *pacer
	clock     outgoing.Clock
	onHold    atomic.Bool
	stop      chan struct{}
	pacing    sync.WaitGroup

	mu     sync.Mutex
	begun  bool
	closed bool
	greets *string  // what the agent says first; nil for nothing
	sent   []func() // to be called by the pacer

	in struct {
		mu      sync.Mutex
		up      *voice.Resampler
		rate    int
		pcm     []int16
		audio   *link.TokenBucket // samples at rate
		digits  *link.TokenBucket
		dropped uint64
	}
}

// NewLink returns the link of a call whose telephone is t. The caller gives t the link, and then calls Begin.
func NewLink(t Transport, h Handler) (*Link, error) {
	traits := t.Traits()
	if traits.Ahead < 0 || traits.Ahead > MaxAhead {
		return nil, fmt.Errorf("phone: %d frames ahead: want 0 to %d", traits.Ahead, MaxAhead)
	}
	l := &Link{transport: t, stop: make(chan struct{}), output: &Output{most: traits.Ahead, wake: make(chan struct{}, 1)}}
	l.handler = gate{to: h, failed: new(sync.Once), stop: l.stop}
	var err error
	if l.pacer, err = newPacer(t, l.output, l.handler); err != nil {
		return nil, err
	}
	if l.in.up, err = voice.NewResampler(traits.Rate, outgoing.Rate); err != nil {
		return nil, err
	}
	now, rate := time.Now(), float64(traits.Rate)
	l.in.rate = traits.Rate
	l.in.audio = link.NewTokenBucket(rate*burstAudio.Seconds(), rate*fasterBy, now)
	l.in.digits = link.NewTokenBucket(burstDigits, digitsPerSecond, now)
	return l, nil
}

// Greets has the agent speak first when the call begins: see Handler.Greet. It is called before Begin, with nil for an agent that waits.
func (l *Link) Greets(words *string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.greets = words
}

// Begin begins to send, unless the link was closed meanwhile. It is called once, when the telephone takes audio.
func (l *Link) Begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.begun {
		return
	}
	l.begun = true
	greets := l.greets
	l.pacing.Go(func() {
		l.handler.Opened()
		if greets != nil {
			l.handler.Greet(*greets)
		}
		l.clock.Run(l.stop, outgoing.Pace{Send: l.tick, Skip: l.output.skip, Wake: l.output.wake, Woken: l.pacer.obey})
	})
}

func (l *Link) tick() {
	l.mu.Lock()
	sent := l.sent
	l.sent = nil
	l.mu.Unlock()
	for _, f := range sent {
		f()
	}
	if l.onHold.Load() {
		l.pacer.still()
	} else {
		l.pacer.tick()
	}
}

// Hold notes that the telephone has put the call on hold, or has taken it back. Meanwhile the agent's speech stands still: it continues where it stopped, and what was not
// heard counts as not heard. What comes from the telephone is music, or nothing: it counts as silence.
func (l *Link) Hold(on bool) { l.onHold.Store(on) }

// Send implements link.Link. A telephone shows no events: they are dropped.
func (l *Link) Send(_ link.Event, sent func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return link.ErrClosed
	case sent == nil:
	case len(l.sent) >= maxUnsent:
		return link.ErrBackpressure
	default:
		l.sent = append(l.sent, sent)
	}
	return nil
}

// Output implements link.Link.
func (l *Link) Output() link.Output { return l.output }

// RoundTrip implements link.RoundTripper: what the transport has measured, or what marks say.
func (l *Link) RoundTrip() time.Duration {
	if r, ok := l.transport.(link.RoundTripper); ok && r.RoundTrip() > 0 {
		return r.RoundTrip()
	}
	return max(usualPath, l.output.path())
}

// Close implements link.Link: it hangs up.
func (l *Link) Close() error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.mu.Unlock()
	if !closed {
		close(l.stop)
		l.pacing.Wait()
		l.transport.HangUp()
	}
	return nil
}

// Abandon implements link.Connection.
func (l *Link) Abandon() (unsent []func()) {
	_ = l.Close() // it has no error
	return l.sent
}

// Audio brings audio of the telephone at Traits.Rate: in order, in pieces of any length. One goroutine calls Audio and Missing.
func (l *Link) Audio(pcm []int16) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if !l.admits(len(pcm)) {
		return
	}
	l.in.pcm = l.in.up.AppendPCM16(l.in.pcm[:0], pcm)
	if l.onHold.Load() {
		clear(l.in.pcm)
	}
	for rest := l.in.pcm; len(rest) > 0; {
		n := min(len(rest), outgoing.FrameSize)
		l.handler.Audio(rest[:n])
		rest = rest[n:]
	}
}

// admits takes n samples from the telephone's share, or drops and counts them. The caller holds in.mu.
func (l *Link) admits(n int) bool {
	l.in.audio.Fill(time.Now())
	if l.in.audio.Level() < float64(n) {
		l.in.dropped += uint64(n)
		return false
	}
	l.in.audio.Take(float64(n))
	return true
}

// Missing stands for samples at Traits.Rate of which nothing has arrived in time: see link.Handler.
func (l *Link) Missing(samples int) {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	if l.admits(samples) {
		l.handler.Missing(samples * outgoing.Rate / l.in.rate)
	}
}

// Dropped returns how many samples of the telephone were dropped because they came faster than a telephone speaks.
func (l *Link) Dropped() uint64 {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.in.dropped
}

// Digit brings a key of the telephone. What is no key, or comes faster than a person presses keys, is dropped.
func (l *Link) Digit(digit byte) {
	if digit >= 'a' && digit <= 'd' {
		digit -= 'a' - 'A'
	}
	if strings.IndexByte("0123456789*#ABCD", digit) < 0 {
		return
	}
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	l.in.digits.Fill(time.Now())
	if l.in.digits.Level() >= 1 {
		l.in.digits.Take(1)
		l.handler.Digit(digit)
	}
}

// Marked reports that mark n has come back: the far side has played what was sent before it.
func (l *Link) Marked(n uint64) { l.output.returned(n) }

// Lost reports that the telephone cannot be heard at the moment, for example because it is on hold. Restored follows.
func (l *Link) Lost() { l.handler.Lost() }

// Restored reports that the telephone can be heard again.
func (l *Link) Restored() { l.handler.Restored() }

// Progress reports how far a call is that the server places: see Handler.
func (l *Link) Progress(state string, status int) { l.handler.Progress(state, status) }

// Ended reports that the telephone has ended the call and why: err wraps link.ErrHungUp or link.ErrUnreachable.
func (l *Link) Ended(err error) { l.handler.lost(err) }

// gate passes calls on to a Handler while the link is open. It implements Handler.
type gate struct {
	to     Handler
	stop   chan struct{}
	failed *sync.Once
}

func (g gate) open() bool {
	select {
	case <-g.stop:
		return false
	default:
		return true
	}
}

// lost reports once that the call is over.
func (g gate) lost(err error) {
	if !errors.Is(err, link.ErrHungUp) && !errors.Is(err, link.ErrUnreachable) {
		err = fmt.Errorf("%w: %w", link.ErrUnreachable, err)
	}
	g.failed.Do(func() { g.pass(func() { g.to.Failed(err) }) })
}

func (g gate) pass(f func()) {
	if g.open() {
		f()
	}
}

func (g gate) Opened()            { g.pass(g.to.Opened) }
func (g gate) Lost()              { g.pass(g.to.Lost) }
func (g gate) Restored()          { g.pass(g.to.Restored) }
func (g gate) Audio(pcm []int16)  { g.pass(func() { g.to.Audio(pcm) }) }
func (g gate) Missing(n int)      { g.pass(func() { g.to.Missing(n) }) }
func (g gate) Drained(gen uint64) { g.pass(func() { g.to.Drained(gen) }) }
func (g gate) Greet(words string) { g.pass(func() { g.to.Greet(words) }) }
func (g gate) Progress(state string, status int) {
	g.pass(func() { g.to.Progress(state, status) })
}
func (g gate) Digit(d byte) { g.pass(func() { g.to.Digit(d) }) }
func (g gate) Sent(gen uint64, sent voice.Samples, first bool) {
	g.pass(func() { g.to.Sent(gen, sent, first) })
}

var (
	_ link.Connection   = (*Link)(nil)
	_ link.RoundTripper = (*Link)(nil)
)
