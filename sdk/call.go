package sdk

import (
	"context"
	"sync"
	"time"
)

// call is one call from its dialling to the freeing of what it held.
type call struct {
	n      uint64
	ctx    context.Context // ends with the call
	cancel context.CancelFunc
	work   sync.WaitGroup // the goroutines of this call
	begun  time.Duration
	lost   time.Duration // when the link was lost, in phaseLost
	peer   Peer          // nil while it is dialled first
	early  []PeerEvent   // what came before the peer was there. Invariant: len <= Limits.Queue
	opened bool
	waits  chan error // Connect waits here; nil when it has been told
	events uint64     // names the client's events

	dials      uint64 // the number of the last dial
	dialing    uint64 // the dial that is under way; 0 when none is
	stopDial   context.CancelFunc
	dial       uint64 // the dial that has given peer
	link       uint64 // the same; 0 while its link is of no use any more
	peerClosed bool   // peer is closed
	token      string // resumes the conversation; empty when nothing does
	seen       string // the server's last event
	recovery   recovery
	outgoing   resendBuffer
}

// stopDialing gives the dial up that is under way.
func (c *call) cancelDial() {
	if c.dialing != 0 {
		c.stopDial()
		c.dialing, c.early = 0, nil
	}
}

func (s *Session) dial(done chan error) uint64 {
	if s.call != nil {
		done <- ErrConnected
		return 0
	}
	s.resetCall()
	s.calls++
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{n: s.calls, ctx: ctx, cancel: cancel, begun: s.clock.Now(), waits: done}
	s.call, s.phase, s.dirty = c, phaseDialing, true
	c.recovery.due = Never
	s.place(c, s.callConfig())
	return c.n
}

func (s *Session) callConfig() CallConfig {
	return CallConfig{
		Model: s.opts.Model, Microphone: s.microphone, Speaker: s.speaker, NoMicrophone: s.opts.NoMicrophone, Muted: s.muted,
	}
}

// place dials in the background.
func (s *Session) place(c *call, config CallConfig) {
	ctx, cancel := context.WithCancel(c.ctx)
	c.dials++
	n := c.dials
	c.dialing, c.stopDial = n, cancel
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		peer, err := s.opts.Dialer.Dial(ctx, config, func(e PeerEvent) { s.receive(c, n, e) })
		cancel()
		adopted := make(chan bool, 1)
		s.queue.must(s.job(func() { adopted <- s.dialed(c, n, peer, err) }))
		if !<-adopted && peer != nil {
			_ = peer.Close() // nobody is left who could be told
		}
	}()
}

// dialed takes the peer over. It reports false when the call is over already, or goes on without it.
func (s *Session) dialed(c *call, n uint64, peer Peer, err error) bool {
	if s.call != c || c.dialing != n {
		return false
	}
	c.dialing = 0
	early := c.early
	c.early = nil
	first := c.peer == nil
	switch {
	case err != nil && first:
		s.fail(err)
		return false
	case err != nil:
		s.redialFailed(err)
		return false
	case first:
		c.peer, c.dial, c.link, c.token = peer, n, n, resumption(peer).Token
		peer.SetMuted(s.muted)
	default:
		s.adoptPeer(c, n, peer)
	}
	for _, e := range early {
		if s.call == c && c.link == n {
			s.peerEvent(c, e)
		}
	}
	return true
}

// receive takes what happens on a call, from any goroutine.
func (s *Session) receive(c *call, n uint64, e PeerEvent) {
	job := s.job(func() {
		switch {
		case s.call != c:
			s.trace("an event of a call that is over was dropped")
		case n == c.dialing && (needsPeer(e) || c.peer != nil && ofLink(e)):
			c.early = append(c.early, e)
			if len(c.early) > s.limits.Queue {
				s.fail(ErrOverrun)
			}
		case n != c.dialing && n != c.link && !(n < c.dials && c.link == 0 && ofSound(e)):
			s.trace("an event of a link that is gone was dropped")
		default:
			s.peerEvent(c, e)
		}
	})
	if _, ok := e.(LevelsMeasured); ok {
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

// needsPeer reports whether e can only be handled once Dial has returned.
func needsPeer(e PeerEvent) bool {
	_, ok := e.(Message)
	return ok
}

// ofLink reports whether e tells of the link alone.
func ofLink(e PeerEvent) bool {
	switch e.(type) {
	case PeerOpened, PeerLost, PeerRestored, PeerBroken, PeerEnded:
		return true
	case Message, MicrophoneAsked, MicrophoneOpened, MicrophoneFailed, DevicesChanged, LevelsMeasured, SoundBlocked, PlaybackStarted,
		PlaybackStopped, SpeechOnset, SpeechSustained, SpeechEnded, MarkPassed:
	}
	return false
}

// ofSound reports whether e tells of what is played, which goes on without a link.
func ofSound(e PeerEvent) bool {
	switch e.(type) {
	case PlaybackStarted, PlaybackStopped, LevelsMeasured:
		return true
	case Message, PeerOpened, PeerLost, PeerRestored, PeerBroken, PeerEnded, MicrophoneAsked, MicrophoneOpened, MicrophoneFailed,
		DevicesChanged, SoundBlocked, SpeechOnset, SpeechSustained, SpeechEnded, MarkPassed:
	}
	return false
}

func (s *Session) peerEvent(c *call, e PeerEvent) {
	switch e := e.(type) {
	case Message:
		s.message(e.Data)
	case PeerOpened:
		c.opened = true
		if s.phase == phaseLost && !c.recovery.fresh {
			s.linkCarries()
		}
	case PeerLost:
		s.linkInterrupted(c)
	case PeerRestored:
		if s.phase == phaseLost && c.recovery.restart == nil {
			s.linkCarries()
		}
	case PeerBroken:
		s.linkBroken(e.Err)
	case PeerEnded:
		err := e.Err
		if err == nil {
			err = ErrServerGone
		}
		s.fail(err)
	case MicrophoneAsked:
		s.micAsked, s.dirty = true, true
	case MicrophoneOpened:
		s.microphoneDecided(c, e.ID, nil)
	case MicrophoneFailed:
		s.microphoneDecided(c, s.microphone, e.Err)
	case DevicesChanged:
		s.devices, s.dirty = e.Devices, true
	case LevelsMeasured:
		s.measured(e.Levels)
	case SoundBlocked:
		s.dirty = s.dirty || s.blocked != e.Blocked
		s.blocked = e.Blocked
	case PlaybackStarted:
		s.soundStarted(e.ResponseID)
	case PlaybackStopped:
		s.soundEnded(e.ResponseID)
	case SpeechOnset:
		s.speechOnset(e)
	case SpeechSustained:
		s.speechSustained()
	case SpeechEnded:
		s.speechEnded()
	case MarkPassed:
		s.markPassed(e.Mark)
	}
}

func (s *Session) microphoneDecided(c *call, id string, err error) {
	if s.micAsked {
		c.begun = s.clock.Now() // the person's time does not count
	}
	s.microphone, s.micErr = id, err
	s.micAsked, s.textOnly, s.dirty = false, err != nil, true
}

// connected is reached when the server has made its session.
func (s *Session) connected() {
	if s.phase != phaseDialing {
		return
	}
	s.phase, s.dirty = phaseLive, true
	s.answerConnect(s.call, nil)
}

// answerConnect answers Connect, after the snapshot is out.
func (s *Session) answerConnect(c *call, err error) {
	if w := c.waits; w != nil {
		c.waits = nil
		s.after = append(s.after, func() { w <- err })
	}
}

// abandon ends a call whose Connect gave up.
func (s *Session) abandon(n uint64, err error) {
	if s.call == nil || s.call.n != n || s.call.waits == nil {
		return
	}
	s.answerConnect(s.call, err)
	s.end(phaseNone)
}

// hangUp ends the call and gives what is closed when all is freed.
func (s *Session) hangUp() <-chan struct{} {
	if s.call != nil {
		s.answerConnect(s.call, ErrClosed)
		s.end(phaseNone)
	}
	return s.gone
}

// fail ends the call by itself.
func (s *Session) fail(err error) {
	if s.call == nil {
		return
	}
	s.noteUndelivered(s.call)
	s.err = err
	s.answerConnect(s.call, err)
	s.end(phaseFailed)
}

// end frees the call in the background, in which closing may wait for goroutines that are telling something.
func (s *Session) end(to phase) {
	c, before := s.call, s.gone
	s.call, s.phase, s.dirty, s.micAsked = nil, to, true, false
	s.items.closeLive(s.dialog.sound)
	s.showLevels(Levels{})
	c.cancel()
	gone := make(chan struct{})
	s.gone = gone
	go func() {
		if c.peer != nil && !c.peerClosed {
			_ = c.peer.Close() // the call is over whatever it says
		}
		c.work.Wait()
		<-before
		close(gone)
	}()
}
