package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Which of a driver's events reach their machine, and with what filled in.

func (c *composition) fromDetector(e turn.Event) {
	if !conn.Up(c.s.Conn) {
		c.ignored("turn", c.s.Turn, e, "the session is not open")
		return
	}
	fresh := c.s.LastTurn + 1
	switch ev := e.(type) {
	case turn.Onset:
		live, isLive := c.s.Conn.(conn.Live)
		if !isLive || !live.VAD {
			c.ignored("turn", c.s.Turn, e, "the detector is off")
			return
		}
		e = turn.Onset{Turn: fresh, AgentAudible: c.s.Config.Interrupt && c.agentBusy()}
	case turn.ClientCandidate:
		if !c.s.Config.Interrupt || !c.agentBusy() && !c.tailAhead() {
			c.ignored("turn", c.s.Turn, e, "there is nothing to interrupt")
			return
		}
		if c.cutting() {
			c.ignored("turn", c.s.Turn, e, "its reply is interrupted already")
			return
		}
		c.reports = c.s.Config.Reports
		e = turn.ClientCandidate{Turn: fresh}
	case turn.Commit:
		e = turn.Commit{Turn: fresh}
	case turn.IdleTimeout:
		if c.agentBusy() || c.s.Waiting != 0 {
			c.ignored("turn", c.s.Turn, ev, "the agent's turn is not over")
			return
		}
		e = turn.IdleTimeout{Turn: fresh}
	case turn.Sustained, turn.Misfire, turn.Silence, turn.EndOfUtterance, turn.VoiceResumed, turn.FallbackExpired,
		turn.GatePassed, turn.GateRefused, turn.Clear, turn.NoSpeech:
	case turn.Shutdown:
		c.ignored("turn", c.s.Turn, e, "it is the connection's to say")
		return
	}
	was := c.s.Turn
	c.turn(e)
	switch was := was.(type) {
	case turn.Idle:
		if used(e) {
			c.s.LastTurn = fresh
		}
	case turn.Candidate:
		if c.reports { // the server's own onset came first, or an older one of the client's
			c.hold(was.Turn)
		}
	case turn.Speaking, turn.Confirming:
	}
}

// used says whether e takes a fresh turn id when no turn is open.
func used(e turn.Event) bool {
	switch e.(type) {
	case turn.Onset, turn.ClientCandidate, turn.Commit, turn.IdleTimeout:
		return true
	case turn.Sustained, turn.Misfire, turn.Silence, turn.EndOfUtterance, turn.VoiceResumed, turn.FallbackExpired,
		turn.GatePassed, turn.GateRefused, turn.Clear, turn.NoSpeech, turn.Shutdown:
	}
	return false
}

func (c *composition) fromClientOrBody(e response.Event) {
	switch e := e.(type) {
	case response.Create:
		switch {
		case !conn.Up(c.s.Conn):
			c.ignored("response", c.s.Response, e, "the session is not open")
		case c.s.Waiting != 0:
			// The turn's response is as good as active: two answers to one turn are none.
			c.ignored("response", c.s.Response, e, "a committed turn is about to be answered")
			c.out = append(c.out, response.RejectActive{ID: 0})
		default:
			c.create(e.Request, func(fresh response.ID) response.Event {
				return response.Create{ID: fresh, Request: e.Request}
			})
		}
	case response.Cancel:
		was := response.Live(c.s.Response)
		c.response(e)
		if was != 0 && response.Live(c.s.Response) != was {
			c.settle()
		}
		c.answer()
	case response.BodyEnded:
		was := response.Live(c.s.Response)
		c.response(e)
		if c.silent() && was == e.ID && c.s.Queued.Len() == 0 {
			c.settle()
		}
		c.answer()
	case response.CreateByTurn, response.BargeIn, response.Shutdown:
		c.ignored("response", c.s.Response, e, "it is a turn's or the connection's to say")
	}
}

func (c *composition) fromSpeaker(e playout.Event) {
	switch ev := e.(type) {
	case playout.Begin:
		c.begin(ev.Resp)
	case playout.Clear:
		c.playout(playout.Clear{Reason: playout.ByClient, Heard: c.at, Reports: c.s.Config.Reports})
		c.dropQueued()
		if response.Live(c.s.Response) == 0 {
			c.settle()
		}
	case playout.Drained:
		was := c.s.Playout
		if c.playout(ev); c.s.Playout == was {
			return
		}
		if response.Live(c.s.Response) == 0 && c.s.Queued.Len() == 0 {
			c.settle()
		}
		c.playQueued()
	case playout.Ready, playout.ReadyExpired:
		c.playout(ev)
	case playout.Heard, playout.HeardExpired:
		c.playout(ev)
		c.playQueued()
	case playout.Candidate, playout.Confirm, playout.Reject, playout.Shutdown:
		c.ignored("playout", c.s.Playout, e, "it is a turn's or the connection's to say")
	}
}

func (c *composition) fromRecogniser(e transcription.Event) {
	switch t := turnOf(e); {
	case t != 0 && t == turnIn(c.s.Final):
		c.final(e)
	case t != 0 && t == turnIn(c.s.Older):
		c.older(e)
	default:
		c.live(e)
	}
}
