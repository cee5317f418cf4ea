package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// The decisions of the session: when a committed turn gets its response, when a response begins to play, and what happens after a false
// barge-in.

// playoutFree reports whether a response may begin to play: none plays or is held, and the session waits for no report about a cut one.
func (c *composition) playoutFree() bool {
	_, silent := c.s.Playout.(playout.Silent)
	return silent
}

// awaitsReport reports whether the session waits until the client reports how far it has played a cut response.
func (c *composition) awaitsReport() bool {
	_, cut := c.s.Playout.(playout.Cut)
	return cut
}

// nothingPlays reports whether no response plays or is held.
func (c *composition) nothingPlays() bool { return c.playoutFree() || c.awaitsReport() }

// tailAhead reports whether a client that reports may not have played the end of the last response yet, although all of it was sent.
func (c *composition) tailAhead() bool {
	s, silent := c.s.Playout.(playout.Silent)
	return silent && s.Last != 0 && c.s.Config.Reports
}

// agentBusy reports whether a response is live, or its audio plays, is held or waits to play.
func (c *composition) agentBusy() bool {
	return !c.nothingPlays() || response.Live(c.s.Response) != 0 || c.s.Queued.Len() > 0
}

// create gives the response machine an event that creates a response. event makes it from the new response's id. If the machine announces the
// response, create stores its request, of.
func (c *composition) create(of machine.Request, event func(response.ID) response.Event) {
	was := response.Live(c.s.Response)
	fresh := c.s.LastResponse + 1
	c.s.LastResponse = fresh
	c.response(event(fresh))
	if now := response.Live(c.s.Response); now != was && now == fresh {
		c.s.Owed = of
	}
}

// createByTurn creates the response to a turn, or a lost response again.
func (c *composition) createByTurn(of machine.Request) {
	c.create(of, func(fresh response.ID) response.Event {
		return response.CreateByTurn{ID: fresh, Interrupt: c.s.Config.Interrupt, Request: of}
	})
}

// owed reports whether the session still stores the request of the newest response.
func (c *composition) owed() bool { return c.s.Owed != machine.Request{} }

// forgetOwed forgets the request of the newest response, so that it is not created again.
func (c *composition) forgetOwed() { c.s.Owed = machine.Request{} }

// answer creates the response that a committed turn waits for, if the turn's text is there, and no response is live that the turn must not
// interrupt.
func (c *composition) answer() {
	if c.s.Waiting == 0 || !c.s.Texted || !conn.Up(c.s.Conn) {
		return
	}
	if !c.s.Config.Interrupt && response.Live(c.s.Response) != 0 {
		return
	}
	if c.s.Config.Interrupt {
		c.cutOff(0)
	}
	of := machine.Request{Turn: c.s.Waiting}
	c.s.Waiting, c.s.Texted = 0, false
	c.createByTurn(of)
}

// undoFalseTurn undoes the interruption by a turn that was dropped or rejected: the response that was held for it plays on, or the response
// that it ended is created again.
func (c *composition) undoFalseTurn(t turn.ID) {
	if held, ok := c.s.Playout.(playout.Held); ok && held.Candidate == t {
		c.playout(playout.Reject{Candidate: t})
		return
	}
	c.createAgain()
}

// releaseHeld lets a held response play on, if the settings no longer allow interruptions.
func (c *composition) releaseHeld() {
	if held, ok := c.s.Playout.(playout.Held); ok && !c.s.Config.Interrupt {
		c.playout(playout.Reject{Candidate: held.Candidate})
	}
}

// createAgain creates the newest response again, if it was lost and nothing else goes on.
func (c *composition) createAgain() {
	if c.owed() && !c.agentBusy() && c.s.Waiting == 0 && conn.Up(c.s.Conn) {
		c.createByTurn(c.s.Owed)
	}
}

// cutOff ends the response that plays or is held. t is the confirmed candidate, or 0. Clients rely on the order: the audio buffer
// is cleared, the response closes its open items and ends, the item is truncated. With a client that reports, the item is
// truncated after its report.
func (c *composition) cutOff(t turn.ID) {
	var how playout.Event = playout.Clear{Reason: playout.ByTurn, Heard: c.at, Reports: c.s.Config.Reports}
	if held, ok := c.s.Playout.(playout.Held); ok && held.Candidate == t && !held.Rejected {
		how = playout.Confirm{Candidate: t, Reports: c.s.Config.Reports}
	}
	var truncate []playout.Effect
	step(c, "playout", playout.Table, &c.s.Playout, how, func(f playout.Effect) {
		if _, last := f.(playout.Truncate); last {
			truncate = append(truncate, f)
			return
		}
		c.out = append(c.out, f)
	})
	c.response(response.BargeIn{})
	for _, f := range truncate {
		c.out = append(c.out, f)
	}
	c.dropQueued()
}

// dropQueued drops the responses that wait to be played.
func (c *composition) dropQueued() {
	for c.s.Queued.Len() > 0 {
		c.unqueue(c.s.Queued[0])
	}
}

// unqueue drops the response id, which waits to be played.
func (c *composition) unqueue(id response.ID) {
	c.s.Queued = c.s.Queued.without(id)
	c.out = append(c.out, playout.Drop{Resp: id}, playout.Truncate{Resp: id})
}

// begin starts to play the audio of a live response, or puts it into the queue behind the response that plays.
func (c *composition) begin(id response.ID) {
	e := playout.Begin{Resp: id}
	switch {
	case c.s.Begun >= id:
		c.ignored("playout", c.s.Playout, e, "it has begun already")
	case response.Live(c.s.Response) != id:
		c.ignored("playout", c.s.Playout, e, "its response has ended")
	case !c.playoutFree():
		c.s.Begun = id
		if c.s.Queued.Len() == len(c.s.Queued) { // the queue is full: the oldest response is dropped
			c.unqueue(c.s.Queued[0])
		}
		c.s.Queued = c.s.Queued.with(id)
		c.ignored("playout", c.s.Playout, e, "it waits for the response before it")
	default:
		c.s.Begun = id
		c.play(id)
	}
}

// play starts the audio of id. If a turn is open that may interrupt, the response is held from its beginning.
func (c *composition) play(id response.ID) {
	c.playout(playout.Begin{Resp: id, Candidate: c.candidate()})
}

// candidate returns the open turn for which a response must wait: 0 if none is open, or if it may not interrupt.
func (c *composition) candidate() turn.ID {
	if !c.s.Config.Interrupt {
		return 0
	}
	return turn.Open(c.s.Turn)
}

// playQueued starts to play the oldest response of the queue, if none plays.
func (c *composition) playQueued() {
	if next := c.s.Queued[0]; c.playoutFree() && next != 0 {
		c.s.Queued = c.s.Queued.without(next)
		c.play(next)
	}
}

// childrenDone reports whether no body and no synthesis of the session runs any more.
func (c *composition) childrenDone() bool {
	_, ended := c.s.Response.(response.Terminated)
	_, said := c.s.Synthesis.(synthesis.Closed)
	return ended && said
}
