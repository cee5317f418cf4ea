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
	peer   Peer          // nil while it is dialled
	early  []PeerEvent   // messages that came before the peer was there. Invariant: len <= Limits.Queue
	opened bool
	waits  chan error // Connect waits here; nil when it has been told
	events uint64     // names the client's events
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
	config := CallConfig{
		Model: s.opts.Model, Microphone: s.microphone, Speaker: s.speaker, NoMicrophone: s.opts.NoMicrophone, Muted: s.muted,
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		peer, err := s.opts.Dialer.Dial(ctx, config, func(e PeerEvent) { s.hear(c, e) })
		adopted := make(chan bool, 1)
		s.box.must(s.job(func() { adopted <- s.dialed(c, peer, err) }))
		if !<-adopted && peer != nil {
			_ = peer.Close() // nobody is left who could be told
		}
	}()
	return c.n
}

// dialed takes the peer over. It reports false when the call is over already.
func (s *Session) dialed(c *call, peer Peer, err error) bool {
	if s.call != c {
		return false
	}
	if err != nil {
		s.fail(err)
		return false
	}
	c.peer = peer
	peer.SetMuted(s.muted)
	early := c.early
	c.early = nil
	for _, e := range early {
		if s.call == c {
			s.peerEvent(c, e)
		}
	}
	return true
}

// hear takes what happens on a call, from any goroutine.
func (s *Session) hear(c *call, e PeerEvent) {
	job := s.job(func() {
		switch {
		case s.call != c:
			s.trace("an event of a call that is over was dropped")
		case c.peer == nil && needsPeer(e):
			c.early = append(c.early, e)
			if len(c.early) > s.limits.Queue {
				s.fail(ErrOverrun)
			}
		default:
			s.peerEvent(c, e)
		}
	})
	if _, ok := e.(LevelsMeasured); ok {
		s.box.offer(job)
		return
	}
	if !s.box.put(job) {
		s.box.must(s.job(func() {
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

func (s *Session) peerEvent(c *call, e PeerEvent) {
	switch e := e.(type) {
	case Message:
		s.message(e.Data)
	case PeerOpened:
		c.opened = true
	case PeerLost:
		if s.phase == phaseLive {
			s.phase, c.lost, s.dirty = phaseLost, s.clock.Now(), true
		}
	case PeerRestored:
		if s.phase == phaseLost {
			s.phase, s.dirty = phaseLive, true
			s.flow.sign(s.clock.Now())
		}
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
	case VoiceBegan:
		s.voiceBegan(e)
	case VoiceLasted:
		s.voiceLasted()
	case VoiceEnded:
		s.voiceEnded()
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
	s.tell(s.call, nil)
}

// tell answers Connect, after the snapshot is out.
func (s *Session) tell(c *call, err error) {
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
	s.tell(s.call, err)
	s.end(phaseNone)
}

// hangUp ends the call and gives what is closed when all is freed.
func (s *Session) hangUp() <-chan struct{} {
	if s.call != nil {
		s.tell(s.call, ErrClosed)
		s.end(phaseNone)
	}
	return s.gone
}

// fail ends the call by itself.
func (s *Session) fail(err error) {
	if s.call == nil {
		return
	}
	s.err = err
	s.tell(s.call, err)
	s.end(phaseFailed)
}

// end frees the call in the background, in which closing may wait for goroutines that are telling something.
func (s *Session) end(to phase) {
	c, before := s.call, s.gone
	s.call, s.phase, s.dirty, s.micAsked = nil, to, true, false
	s.items.closeLive(s.flow.sound)
	s.showLevels(Levels{})
	c.cancel()
	gone := make(chan struct{})
	s.gone = gone
	go func() {
		if c.peer != nil {
			_ = c.peer.Close() // the call is over whatever it says
		}
		c.work.Wait()
		<-before
		close(gone)
	}()
}
