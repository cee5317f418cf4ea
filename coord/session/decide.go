package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// What the session decides: when a turn is answered, whose voice is heard, what is given back.

// free: a reply may begin. What was cut off is not awaited any more.
func (c *composition) free() bool {
	_, silent := c.s.Playout.(playout.Silent)
	return silent
}

// cutting: it is awaited what was heard of the reply that was cut off.
func (c *composition) cutting() bool {
	_, cut := c.s.Playout.(playout.Cut)
	return cut
}

// silent: nothing sounds or is held.
func (c *composition) silent() bool { return c.free() || c.cutting() }

// tailAhead: what was sent last may still be ahead of a reporting client's ear.
func (c *composition) tailAhead() bool {
	s, silent := c.s.Playout.(playout.Silent)
	return silent && s.Last != 0 && c.s.Config.Reports
}

// agentBusy: a response is live or its audio is on the way to the ear.
func (c *composition) agentBusy() bool {
	return !c.silent() || response.Live(c.s.Response) != 0 || c.s.Queued.Len() > 0
}

// create gives the response machine what event makes of a fresh id, and remembers what the response is for.
func (c *composition) create(of id.Request, event func(response.ID) response.Event) {
	was := response.Live(c.s.Response)
	fresh := c.s.LastResponse + 1
	c.s.LastResponse = fresh
	c.response(event(fresh))
	if now := response.Live(c.s.Response); now != was && now == fresh {
		c.s.Owed = of
	}
}

func (c *composition) createByTurn(of id.Request) {
	c.create(of, func(fresh response.ID) response.Event {
		return response.CreateByTurn{ID: fresh, Interrupt: c.s.Config.Interrupt, Request: of}
	})
}

// owed reports whether a response may have to be created again.
func (c *composition) owed() bool { return c.s.Owed != id.Request{} }

// settle notes that nothing is owed any more.
func (c *composition) settle() { c.s.Owed = id.Request{} }

// answer creates the response that a committed turn waits for, as soon as its
// text is there and nothing that it must not interrupt is live.
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
	of := id.Request{Turn: c.s.Waiting}
	c.s.Waiting, c.s.Texted = 0, false
	c.createByTurn(of)
}

// giveWayBack ends a turn that was no turn: what was held plays on, and a reply
// that was taken away for nothing is created again.
func (c *composition) giveWayBack(t turn.ID) {
	if held, ok := c.s.Playout.(playout.Held); ok && held.Candidate == t {
		c.playout(playout.Reject{Candidate: t})
		return
	}
	c.createAgain()
}

// letPlay releases a reply that is held, where turns may not interrupt any more.
func (c *composition) letPlay() {
	if held, ok := c.s.Playout.(playout.Held); ok && !c.s.Config.Interrupt {
		c.playout(playout.Reject{Candidate: held.Candidate})
	}
}

func (c *composition) createAgain() {
	if c.owed() && !c.agentBusy() && c.s.Waiting == 0 && conn.Up(c.s.Conn) {
		c.createByTurn(c.s.Owed)
	}
}

// cutOff takes the agent's voice away, for the candidate t where it is held for
// one. Clients rely on the order: the buffer is cleared, the response closes what it
// has open and ends, the item is truncated. A client that reports says first where.
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

// dropQueued gives up the replies that wait to be heard.
func (c *composition) dropQueued() {
	for c.s.Queued.Len() > 0 {
		c.unqueue(c.s.Queued[0])
	}
}

// unqueue gives up id, which waits to be heard.
func (c *composition) unqueue(id response.ID) {
	c.s.Queued = c.s.Queued.without(id)
	c.out = append(c.out, playout.Drop{Resp: id}, playout.Truncate{Resp: id})
}

// begin plays the audio of a live response, or has it wait for the reply before it.
func (c *composition) begin(id response.ID) {
	e := playout.Begin{Resp: id}
	switch {
	case c.s.Begun >= id:
		c.ignored("playout", c.s.Playout, e, "it has begun already")
	case response.Live(c.s.Response) != id:
		c.ignored("playout", c.s.Playout, e, "its response has ended")
	case !c.free():
		c.s.Begun = id
		if c.s.Queued.Len() == len(c.s.Queued) { // what has waited longest is least worth hearing
			c.unqueue(c.s.Queued[0])
		}
		c.s.Queued = c.s.Queued.with(id)
		c.ignored("playout", c.s.Playout, e, "it waits for the reply before it")
	default:
		c.s.Begun = id
		c.play(id)
	}
}

// play begins the audio of id; a turn that is open holds it, where it may interrupt.
func (c *composition) play(id response.ID) {
	var candidate turn.ID
	if c.s.Config.Interrupt {
		candidate = turn.Open(c.s.Turn)
	}
	c.playout(playout.Begin{Resp: id, Candidate: candidate})
}

func (c *composition) playQueued() {
	if next := c.s.Queued[0]; c.free() && next != 0 {
		c.s.Queued = c.s.Queued.without(next)
		c.play(next)
	}
}

// childrenDone: nothing of the session runs any more.
func (c *composition) childrenDone() bool {
	_, ended := c.s.Response.(response.Terminated)
	_, said := c.s.Synthesis.(synthesis.Closed)
	return ended && said
}
