package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// The events of the driver: which of them reach their machine, and which fields the composition fills in before.

// fromDetector takes an event of the turn machine.
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
		if c.awaitsReport() {
			c.ignored("turn", c.s.Turn, e, "its response is interrupted already")
			return
		}
		c.reports = c.s.Config.Reports
		e = turn.ClientCandidate{Turn: fresh}
	case turn.Commit:
		e = turn.Commit{Turn: fresh}
	case turn.IdleTimeout:
		if c.agentBusy() || c.s.Waiting != 0 {
			c.ignored("turn", c.s.Turn, ev, "the agent still answers")
			return
		}
		e = turn.IdleTimeout{Turn: fresh}
	case turn.Sustained, turn.Misfire, turn.Silence, turn.EndOfUtterance, turn.VoiceResumed, turn.FallbackExpired,
		turn.GatePassed, turn.GateRefused, turn.Clear, turn.NoSpeech:
	case turn.Shutdown:
		c.ignored("turn", c.s.Turn, e, "only the connection machine sends it")
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
		if c.reports { // the candidate was open already, from the server's own onset or an older one of the client
			c.hold(was.Turn)
		}
	case turn.Speaking, turn.Confirming:
	}
}

// used reports whether e uses a new turn id if no turn is open.
func used(e turn.Event) bool {
	switch e.(type) {
	case turn.Onset, turn.ClientCandidate, turn.Commit, turn.IdleTimeout:
		return true
	case turn.Sustained, turn.Misfire, turn.Silence, turn.EndOfUtterance, turn.VoiceResumed, turn.FallbackExpired,
		turn.GatePassed, turn.GateRefused, turn.Clear, turn.NoSpeech, turn.Shutdown:
	}
	return false
}

// fromClientOrBody takes an event of the response machine.
func (c *composition) fromClientOrBody(e response.Event) {
	switch e := e.(type) {
	case response.Create:
		switch {
		case !conn.Up(c.s.Conn):
			c.ignored("response", c.s.Response, e, "the session is not open")
		case c.s.Waiting != 0:
			// The response to the turn counts as active already (docs/decisions/009): one turn must not get two answers.
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
			c.forgetOwed()
		}
		c.answer()
	case response.BodyEnded:
		was := response.Live(c.s.Response)
		c.response(e)
		if c.nothingPlays() && was == e.ID && c.s.Queued.Len() == 0 {
			c.forgetOwed()
		}
		c.answer()
	case response.CreateByTurn, response.BargeIn, response.Shutdown:
		c.ignored("response", c.s.Response, e, "only another machine sends it")
	}
}

// fromSpeaker takes an event of the playout machine.
func (c *composition) fromSpeaker(e playout.Event) {
	switch ev := e.(type) {
	case playout.Begin:
		c.begin(ev.Resp)
	case playout.Clear:
		c.playout(playout.Clear{Reason: playout.ByClient, Heard: c.at, Reports: c.s.Config.Reports})
		c.dropQueued()
		if response.Live(c.s.Response) == 0 {
			c.forgetOwed()
		}
	case playout.Drained:
		was := c.s.Playout
		if c.playout(ev); c.s.Playout == was {
			return
		}
		if response.Live(c.s.Response) == 0 && c.s.Queued.Len() == 0 {
			c.forgetOwed()
		}
		c.playQueued()
	case playout.Ready, playout.ReadyExpired:
		c.playout(ev)
	case playout.Missed:
		c.playout(playout.Missed{Resp: ev.Resp, From: ev.From, Candidate: c.candidate()})
	case playout.Heard, playout.HeardExpired:
		c.playout(ev)
		c.playQueued()
	case playout.Candidate, playout.Confirm, playout.Reject, playout.Shutdown:
		c.ignored("playout", c.s.Playout, e, "only another machine sends it")
	}
}

// fromRecogniser takes an event of a recogniser's stream. It goes to the machine that has the stream of its turn.
func (c *composition) fromRecogniser(e transcription.Event) {
	switch t := transcription.TurnIn(e); {
	case t != 0 && t == transcription.TurnOf(c.s.Final):
		c.final(e)
	case t != 0 && t == transcription.TurnOf(c.s.Older):
		c.older(e)
	default:
		c.live(e)
	}
}
