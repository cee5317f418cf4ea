package sdk

// How a session brings a lost connection back. It restarts a peer whose connection is only interrupted. Where the connection is
// broken, or the restart fails, it dials another peer. That goes on with the conversation if the server has kept it; otherwise a
// new conversation begins with the same words.

import (
	"context"
	"errors"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/reconnect"
)

const (
	// restartAfter is how long a connection may be interrupted before it is restarted, if packets of the server still come, or if the peer
	// does not count them.
	restartAfter = 2 * time.Second
	// restartTime is how long a restart may take until the connection is back.
	restartTime = 8 * time.Second
	// redialTime is how long another dial may take until the conversation goes on.
	redialTime = 10 * time.Second
	// lostTime is how long the server may take to say whether it has the call.
	lostTime = 2 * time.Second
)

// Restarter is a Peer that can look for a new network path for its call (an ICE restart).
type Restarter interface {
	// Restart agrees with the server on a new path and returns when packets take it. The server may take 3 s to answer. Errors:
	// ErrUnavailable when the server knows no restart, and then nothing has changed; ErrServerGone, *RefusedError and ctx's, after
	// which the call does not come back.
	Restart(ctx context.Context) error
	// Lost asks the server whether it still has the call, and changes nothing. It returns true only if the server says that it does not, or
	// if nothing listens at its address any more; without an answer it returns false.
	Lost(ctx context.Context) bool
}

// Resumable is a Peer of a server that keeps the conversation when a connection breaks.
type Resumable interface {
	// Resumption may be asked as soon as Dial has returned.
	Resumption() Resumption
}

// Resumption is what a server has said about keeping the conversation.
type Resumption struct {
	// Token is for Resume.Token of a later call; empty when the server keeps nothing.
	Token string
	// Resumed: this call goes on with the conversation of CallConfig.Resume. Seen is the id of the last client event that the server
	// has taken in that conversation; empty for none.
	Resumed bool
	Seen    string
	// Sound: this peer plays the sound that CallConfig.From had not played yet. Otherwise that sound is dropped, and the session tells
	// the server how far the user has heard it.
	Sound bool
}

// Resume says which conversation a call goes on with.
type Resume struct {
	// Token is the Resumption.Token of the former call; empty begins a new conversation.
	Token string
	// After is the id of the last server event that the client has. The server sends all later events again. Empty: it sends all.
	After string
}

// restart is one ICE restart. Its address identifies it: the session takes a result only from the restart that call.restart points to.
// So a restart of an earlier loss, which ends late, changes nothing.
type restart struct{ cancel context.CancelFunc }

// dropRestart cancels the restart that is under way, if there is one. The session ignores its result.
func (c *call) dropRestart() {
	if c.restart != nil {
		c.restart.cancel()
		c.restart = nil
	}
}

// connectionLost notes that the connection carries nothing.
func (s *Session) connectionLost() {
	if s.phase == phaseLive {
		s.phase, s.dirty = phaseLost, true
		s.call.dropRestart()
		s.call.recovery = reconnect.Lose(s.clock.Now())
	}
}

// connectionInterrupted waits for the connection to come back by itself. If the server keeps the conversation, the session restarts the
// connection after wait. If it does not, a restart that fails would cost the conversation, so there is none.
func (s *Session) connectionInterrupted(c *call, wait time.Duration) {
	if s.phase != phaseLive {
		return
	}
	s.connectionLost()
	if _, can := c.peer.(Restarter); can && c.resume.Token != "" {
		s.recover(reconnect.Restart, wait)
	}
}

// connectionBroken notes that the connection does not come back, and dials another one.
func (s *Session) connectionBroken(err error) {
	if err == nil {
		err = ErrServerGone
	}
	if s.phase == phaseDialing {
		s.fail(err)
		return
	}
	if s.phase == phaseLost {
		s.redialLater(err)
		return
	}
	s.connectionLost()
	s.trace("the connection is broken: another call goes on")
	s.recover(reconnect.Redial, s.pause())
}

// lossError returns why the call ends when its connection does not come back.
func (s *Session) lossError() error {
	if s.call.recovery.Shown {
		return s.err
	}
	return ErrServerGone
}

// recover sets the next step and when it is due.
func (s *Session) recover(step reconnect.Step, in time.Duration) {
	s.call.dropRestart()
	s.call.recovery.Plan(step, s.clock.Now()+in)
}

// pause returns how long to wait before the next dial. It is shortened by a random part, up to a half, so that not all clients of a
// server dial at once.
func (s *Session) pause() time.Duration {
	p := s.call.recovery.Pause()
	return p - time.Duration(s.random(int64(p/2)+1))
}

// recoverNow takes the step that is due.
func (s *Session) recoverNow() {
	c := s.call
	switch c.recovery.Take() {
	case reconnect.Restart:
		s.restart(c)
	case reconnect.Redial:
		s.redial(c)
	case reconnect.Abort:
		s.trace("a call that was to go on with another did not stand in time")
		s.redialLater(&Error{Kind: ErrServerSilent, Detail: "the call was not taken up again"})
	}
}

// restart starts an ICE restart of the call's peer.
func (s *Session) restart(c *call) {
	peer, can := c.peer.(Restarter)
	if !can {
		return
	}
	ctx, cancel := context.WithCancel(c.ctx)
	stop := s.clock.AfterFunc(restartTime, cancel)
	this := &restart{cancel: cancel}
	c.dropRestart()
	c.restart = this
	s.background(c, func() {
		err := peer.Restart(ctx)
		stop()
		cancel()
		s.queue.must(s.job(func() {
			if s.call == c && c.restart == this {
				c.restart = nil
				s.restarted(err)
			}
		}))
	})
}

// restarted takes the result of the restart.
func (s *Session) restarted(err error) {
	switch {
	case err == nil:
		s.call.arrivals.Restarted(s.clock.Now())
		s.connectionCarries()
	case errors.Is(err, ErrUnavailable):
		s.trace("the server knows no restart: the connection comes back by itself, or not at all")
	default:
		s.trace("the restart failed: another call goes on: " + err.Error()) // the user learns it only if that fails, too
		s.recover(reconnect.Redial, 0)
	}
}

// showObstacle shows why the connection is lost while the session brings it back.
func (s *Session) showObstacle(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = &Error{Kind: ErrServerGone, Detail: "it did not answer"}
	}
	s.err, s.call.recovery.Shown, s.dirty = err, true, true
}

// redial places a call that goes on with this one. The former peer stays until another one has taken over: it may still have
// sound to play, and if it left, the server would end the conversation.
func (s *Session) redial(c *call) {
	c.connection = 0
	config := s.callConfig()
	config.Resume, config.From = c.resume, c.peer
	s.place(c, config)
	s.recover(reconnect.Abort, redialTime)
}

// closeFormerPeer closes the peer that another one has replaced.
func (s *Session) closeFormerPeer(c *call) {
	if p := c.peer; !c.peerClosed {
		c.peerClosed = true
		s.background(c, func() { _ = p.Close() }) // the call goes on, whatever it says
	}
}

// redialLater schedules another dial after one that failed.
func (s *Session) redialLater(why error) {
	c := s.call
	c.attempt.cancel()
	c.connection, c.recovery.Fresh = 0, false
	s.showObstacle(why)
	c.recovery.Tries++
	s.recover(reconnect.Redial, s.pause())
}

// redialFailed decides what follows from a dial that failed.
func (s *Session) redialFailed(err error) {
	refused, ok := errors.AsType[*RefusedError](err)
	switch {
	case ok:
		switch {
		case s.call.resume.Token != "" && (refused.Status == 400 || refused.Status == 404 || refused.Status == 410):
			s.trace("the server does not keep the conversation any more")
			s.call.resume.Token = ""
			s.recover(reconnect.Redial, 0)
		case refused.Status == 409 || refused.Status == 429 || refused.Status >= 500:
			s.redialLater(err)
		default:
			s.fail(err)
		}
	case errors.Is(err, ErrServerGone), errors.Is(err, ErrServerSilent), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		s.redialLater(err)
	default:
		s.fail(err)
	}
}

// adoptPeer replaces the former peer.
func (s *Session) adoptPeer(c *call, n uint64, peer Peer) {
	told := resumption(peer)
	_, sounding := s.dialog.Sound()
	if _, plays := c.peer.(Player); plays && told.Resumed && !told.Sound && sounding {
		s.interrupt() // the sound that was not played is lost, so the response ends where it was heard
	}
	s.closeFormerPeer(c)
	takes := s.barge.ServerTakes
	c.peer, c.dial, c.connection, c.peerClosed = peer, n, n, false
	s.bindPeer()
	peer.SetMuted(s.audio.Muted)
	c.resume.Token, c.moves, c.arrivals = told.Token, false, reconnect.Arrivals{}
	if told.Resumed {
		s.barge.ServerTakes = takes && s.barge.Machine != nil
		if heard, sounding := s.dialog.Sound(); sounding {
			s.barge.Responses.Started(heard)
		}
		c.outgoing.RequeueUntaken(told.Seen)
		return
	}
	s.beginNewConversation(c)
}

func resumption(p Peer) Resumption {
	if r, ok := p.(Resumable); ok {
		return r.Resumption()
	}
	return Resumption{}
}

// connectionCarries notes that the connection is back, and sends the events that have waited.
func (s *Session) connectionCarries() {
	c := s.call
	c.attempt.cancel()
	s.phase, s.dirty = phaseLive, true
	if c.recovery.Shown {
		s.err = nil
	}
	c.dropRestart()
	c.recovery = reconnect.New()
	c.arrivals.Carries()
	s.dialog.ConnectionRestored(s.clock.Now())
	for _, l := range c.outgoing.TakeWaiting() {
		if s.phase != phaseLive {
			_ = c.outgoing.Hold(l) // the connection broke again; there was room for the event before
			continue
		}
		s.post(l)
	}
}

// doubtServer asks the server whether it still has the call. If it does not, the session dials at once.
func (s *Session) doubtServer(c *call) {
	asked := c.peer
	peer, can := asked.(Restarter)
	if !can || c.resume.Token == "" {
		return
	}
	s.background(c, func() {
		ctx, cancel := context.WithCancel(c.ctx)
		defer cancel()
		defer s.clock.AfterFunc(lostTime, cancel)()
		if !peer.Lost(ctx) {
			return
		}
		s.queue.must(s.job(func() {
			if s.call == c && c.peer == asked && s.waitsForPackets() && c.arrivals.Quiet() {
				s.connectionLost()
				s.trace("the server does not have the call any more: another call goes on")
				s.recover(reconnect.Redial, 0)
			}
		}))
	})
}

// waitsForPackets reports whether the connection may be alive, as far as the session knows, and no step to bring it back is under way.
func (s *Session) waitsForPackets() bool {
	r := &s.call.recovery
	return s.phase == phaseLive || s.phase == phaseLost && r.Step == reconnect.Restart && r.Due != Never
}

// packetsCounted takes the number of packets that the peer has received. If the server has fallen silent, the session restarts the
// connection at once: a server that is gone does not answer, and then another dial goes on with the call.
func (s *Session) packetsCounted(c *call, received uint64) {
	found := c.arrivals.Count(s.clock.Now(), received)
	stopped := found == reconnect.Stopped
	r := &c.recovery
	switch {
	case found == reconnect.Doubt && s.waitsForPackets():
		s.doubtServer(c)
	case stopped && s.phase == phaseLive:
		s.trace("no packet of the server comes any more")
		s.connectionInterrupted(c, 0)
		r.Quiet = true
	case stopped && s.waitsForPackets():
		s.recover(reconnect.Restart, 0)
	case found == reconnect.Come && s.phase == phaseLost && r.Quiet && c.restart == nil:
		s.connectionCarries()
	}
}
