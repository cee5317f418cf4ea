package sdk

// One call: it is dialled, its peer reports events, and it ends.

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
	"github.com/antiphon-rt/antiphon/sdk/internal/reconnect"
)

// call is one call, from its first dial until everything that it held is freed.
type call struct {
	n       uint64
	ctx     context.Context // ends with the call
	cancel  context.CancelFunc
	running int           // functions that run for the call beside the job queue: see background
	gone    chan struct{} // closed when running is 0 after the call's end; nil before the end
	begun   time.Duration
	opened  bool
	waits   chan error // Connect waits here; nil when it has its answer
	events  uint64     // numbers the client's events

	attempt    dialAttempt
	peer       Peer   // nil during the first dial
	dial       uint64 // the number of the dial that made peer
	connection uint64 // the same number; 0 while another dial is to replace the peer
	peerClosed bool
	moves      bool   // the server stops: the end of this connection is not the end of the call
	resume     Resume // Token is empty when the server keeps no conversation
	arrivals   reconnect.Arrivals
	recovery   reconnect.Recovery
	restart    *restart // the ICE restart that is under way; nil when none is. While it is set, the old network path does not matter
	outgoing   outgoing.Buffer
}

// dialAttempt is the dial that is under way. Dials are numbered, so that a late result of an earlier dial changes nothing.
type dialAttempt struct {
	count uint64 // dials that were begun
	n     uint64 // the number of the dial that is under way; 0 when none is
	stop  context.CancelFunc
	early []PeerEvent // what came before the peer was there. Invariant: len <= Limits.Queue
}

// begin numbers a dial that stop cancels.
func (d *dialAttempt) begin(stop context.CancelFunc) (n uint64) {
	d.count++
	d.n, d.stop = d.count, stop
	return d.n
}

// end returns the events that came during the dial. No dial is under way after it.
func (d *dialAttempt) end() (early []PeerEvent) {
	early = d.early
	d.n, d.early = 0, nil
	return early
}

// cancel gives up the dial that is under way, if there is one.
func (d *dialAttempt) cancel() {
	if d.n != 0 {
		d.stop()
		d.end()
	}
}

// dial begins a call and returns its number. done gets the result of Connect.
func (s *Session) dial(done chan error) uint64 {
	if s.call != nil {
		done <- ErrConnected
		return 0
	}
	s.resetCall()
	s.calls.n++
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{n: s.calls.n, ctx: ctx, cancel: cancel, begun: s.clock.Now(), waits: done}
	s.call, s.phase, s.dirty = c, phaseDialing, true
	c.recovery = reconnect.New()
	s.place(c, s.callConfig())
	return c.n
}

// callConfig returns how to place a call with the present options.
func (s *Session) callConfig() CallConfig {
	return CallConfig{
		Model: s.opts.Model, Microphone: s.audio.Microphone, Speaker: s.audio.Speaker, NoMicrophone: s.opts.NoMicrophone, Muted: s.audio.Muted,
	}
}

// place dials in the background.
func (s *Session) place(c *call, config CallConfig) {
	ctx, cancel := context.WithCancel(c.ctx)
	n := c.attempt.begin(cancel)
	s.background(c, func() {
		peer, err := s.opts.Dialer.Dial(ctx, config, func(e PeerEvent) { s.receive(c, n, e) })
		cancel()
		s.queue.must(s.job(func() {
			if !s.dialed(c, n, peer, err) && peer != nil {
				s.background(c, func() { _ = peer.Close() }) // nobody is left to take its error
			}
		}))
	})
}

// dialed takes the result of dial n. It returns false when nobody needs the peer: the call has ended, or goes on without it.
func (s *Session) dialed(c *call, n uint64, peer Peer, err error) bool {
	if s.call != c || c.attempt.n != n {
		return false
	}
	early := c.attempt.end()
	first := c.peer == nil
	switch {
	case err != nil && first:
		s.fail(err)
		return false
	case err != nil:
		s.redialFailed(err)
		return false
	case first:
		c.peer, c.dial, c.connection, c.resume.Token = peer, n, n, resumption(peer).Token
		peer.SetMuted(s.audio.Muted)
	default:
		s.adoptPeer(c, n, peer)
	}
	for _, e := range early {
		if s.call == c && c.connection == n {
			s.peerEvent(c, e)
		}
	}
	return true
}

// receive takes an event of a peer, from any goroutine. n is the dial that made the peer.
func (s *Session) receive(c *call, n uint64, e PeerEvent) {
	job := s.job(func() {
		switch {
		case s.call != c:
			s.trace("an event of a call that is over was dropped")
		case n != c.connection && countsPackets(e): // the connection is not in use yet, or not any more
		case n == c.attempt.n && (needsPeer(e) || c.peer != nil && aboutConnection(e)):
			c.attempt.early = append(c.attempt.early, e)
			if len(c.attempt.early) > s.limits.Queue {
				s.fail(ErrOverrun)
			}
		case n != c.attempt.n && n != c.connection && !(n < c.attempt.count && c.connection == 0 && aboutPlayback(e)):
			s.trace("an event of a connection that is gone was dropped")
		default:
			s.peerEvent(c, e)
		}
	})
	if droppable(e) {
		s.queue.offer(job)
		return
	}
	if !s.queue.put(job) {
		s.queue.must(s.job(func() {
			if s.call == c {
				s.fail(ErrOverrun)
			}
		}))
	}
}

// countsPackets reports whether e is about the packets that have come.
func countsPackets(e PeerEvent) bool {
	_, ok := e.(PacketsCounted)
	return ok
}

// droppable reports whether the session may drop e when it has much to do: another such event follows soon.
func droppable(e PeerEvent) bool {
	_, ok := e.(LevelsMeasured)
	return ok || countsPackets(e)
}

// needsPeer reports whether e can only be handled once Dial has returned.
func needsPeer(e PeerEvent) bool {
	_, ok := e.(Message)
	return ok
}

// aboutConnection reports whether e is about the connection.
func aboutConnection(e PeerEvent) bool {
	switch e.(type) {
	case PeerOpened, PeerLost, PeerRestored, PeerBroken, PeerEnded:
		return true
	case Message, MicrophoneAsked, MicrophoneOpened, MicrophoneFailed, DevicesChanged, LevelsMeasured, SoundBlocked, PlaybackStarted,
		PlaybackStopped, SpeechOnset, SpeechSustained, SpeechEnded, PositionPassed, PacketsCounted:
	}
	return false
}

// aboutPlayback reports whether e is about the playback, which goes on without a connection.
func aboutPlayback(e PeerEvent) bool {
	switch e.(type) {
	case PlaybackStarted, PlaybackStopped, LevelsMeasured:
		return true
	case Message, PeerOpened, PeerLost, PeerRestored, PeerBroken, PeerEnded, MicrophoneAsked, MicrophoneOpened, MicrophoneFailed,
		DevicesChanged, SoundBlocked, SpeechOnset, SpeechSustained, SpeechEnded, PositionPassed, PacketsCounted:
	}
	return false
}

// peerEvent handles an event of the call's peer.
func (s *Session) peerEvent(c *call, e PeerEvent) {
	switch e := e.(type) {
	case Message:
		s.message(e.Data)
	case PeerOpened:
		c.opened = true
		if s.phase == phaseLost && !c.recovery.Fresh {
			s.connectionCarries()
		}
	case PeerLost:
		if e.Moved {
			s.connectionInterrupted(c, 0)
		} else {
			s.connectionInterrupted(c, restartAfter)
		}
	case PeerRestored:
		if s.phase == phaseLost && c.restart == nil {
			s.connectionCarries()
		}
	case PeerBroken:
		s.connectionBroken(e.Err)
	case PeerEnded:
		err := e.Err
		if err == nil {
			err = ErrServerGone
		}
		if c.moves && c.resume.Token != "" {
			s.trace("the server moves the call: it goes on over another connection")
			s.connectionBroken(err)
			return
		}
		s.fail(err)
	case MicrophoneAsked:
		s.audio.MicAsked, s.dirty = true, true
	case MicrophoneOpened:
		s.microphoneDecided(c, e.ID, nil)
	case MicrophoneFailed:
		s.microphoneDecided(c, s.audio.Microphone, e.Err)
	case DevicesChanged:
		s.audio.Devices, s.dirty = e.Devices, true
	case LevelsMeasured:
		s.measured(e.Levels)
	case SoundBlocked:
		s.dirty = s.dirty || s.audio.SoundBlocked != e.Blocked
		s.audio.SoundBlocked = e.Blocked
	case PlaybackStarted:
		s.soundStarted(e.ResponseID)
	case PlaybackStopped:
		s.soundEnded(e.ResponseID, false)
	case SpeechOnset:
		s.speechOnset(e)
	case SpeechSustained:
		s.bargeIn(s.barge.Sustained(s.moment()))
	case SpeechEnded:
		s.bargeIn(s.barge.SpeechEnded(s.moment()))
	case PositionPassed:
		s.bargeIn(s.barge.Passed(playback.Position(e.At), s.moment()))
	case PacketsCounted:
		s.packetsCounted(c, e.Received)
	}
}

// microphoneDecided notes that the call has this microphone, or why it has none.
func (s *Session) microphoneDecided(c *call, id string, err error) {
	if s.audio.MicAsked {
		c.begun = s.clock.Now() // the time in which the user decided does not count
	}
	s.audio.opened(id, err)
	s.dirty = true
}

// connected begins the live phase: the server has created its session.
func (s *Session) connected() {
	if s.phase != phaseDialing {
		return
	}
	s.phase, s.dirty = phaseLive, true
	s.answerConnect(s.call, nil)
}

// answerConnect gives Connect its result after the next snapshot is out.
func (s *Session) answerConnect(c *call, err error) {
	if w := c.waits; w != nil {
		c.waits = nil
		s.after = append(s.after, func() { w <- err })
	}
}

// abandon ends the call that a Connect has given up.
func (s *Session) abandon(n uint64, err error) {
	if s.call == nil || s.call.n != n || s.call.waits == nil {
		return
	}
	s.answerConnect(s.call, err)
	s.end(phaseNone)
}

// hangUp ends the call. It returns a channel that is closed when everything of the ended calls is freed.
func (s *Session) hangUp() <-chan struct{} {
	if s.call != nil {
		s.answerConnect(s.call, ErrClosed)
		s.end(phaseNone)
	}
	return s.calls.gone
}

// fail ends the call because of an error, which Snapshot.Err shows.
func (s *Session) fail(err error) {
	if s.call == nil {
		return
	}
	s.noteUndelivered(s.call)
	s.err = err
	s.answerConnect(s.call, err)
	s.end(phaseFailed)
}

// end ends the call. It closes the peer in the background, since that may wait for goroutines that are telling something.
func (s *Session) end(to phase) {
	c := s.call
	s.call, s.phase, s.dirty, s.audio.MicAsked = nil, to, true, false
	sound, _ := s.dialog.Sound()
	s.items.CloseLive(sound)
	s.showLevels(Levels{})
	c.cancel()
	s.calls.end(c)
	s.background(c, func() {
		if c.peer != nil && !c.peerClosed {
			_ = c.peer.Close() // the call is over whatever it says
		}
	})
}
