package session

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Next runs one event until nothing is left to route. at is how far the reply
// that plays has got; like the time in an event, it is the driver's to know.
// It is total: what does not fit the state is a Step with its reason.
func Next(s State, at playout.Mark, e Event) (State, []Effect, []Step) {
	c := composition{s: s, at: at}
	c.take(e)
	if _, closing := c.s.Conn.(conn.Closing); closing && c.childrenDone() {
		c.conn(conn.ChildrenDone{})
	}
	return c.s, c.out, c.steps
}

// composition is one run of Next.
type composition struct {
	s     State
	at    playout.Mark
	out   []Effect
	steps []Step
}

func (c *composition) take(e Event) {
	switch e := e.(type) {
	case OfConn:
		c.conn(e.Event)
	case OfTurn:
		c.fromDetector(e.Event)
	case OfResponse:
		c.fromClientOrBody(e.Event)
	case OfPlayout:
		c.fromSpeaker(e.Event)
	case OfSynthesis:
		c.synthesis(e.Event)
	case OfTranscription:
		c.fromRecogniser(e.Event)
	case Configure:
		c.s.Config = e.Config
		c.letPlay()
		c.answer()
	}
}

// ignored notes an event that does not reach its machine.
func (c *composition) ignored(name string, s, e machine.Named, why string) {
	c.steps = append(c.steps, Step{Machine: name, From: s, Event: e, To: s, Why: why})
}

// step runs one table, notes the step and gives each effect to route, in order.
func step[S, E, F machine.Named](c *composition, name string, t machine.Table[S, E, F], s *S, e E, route func(F)) {
	from := *s
	next, effects, row := t.Next(from, e)
	*s = next
	note := Step{Machine: name, From: from, Event: e, To: next, Why: "no row"}
	if row >= 0 {
		note.Action, note.Why = t[row].Action, t[row].Why
	}
	for _, f := range effects {
		note.Effects = append(note.Effects, f)
	}
	c.steps = append(c.steps, note)
	for _, f := range effects {
		route(f)
	}
}

// set gives a machine the state next, as the effect f asks.
func set[S machine.Named](c *composition, name, action string, s *S, f Effect, next S) {
	c.steps = append(c.steps, Step{Machine: name, From: *s, Event: f, To: next, Action: action})
	*s = next
}

func emit[F machine.Named](c *composition) func(F) {
	return func(f F) { c.out = append(c.out, f) }
}

func (c *composition) conn(e conn.Event) { step(c, "conn", conn.Table, &c.s.Conn, e, c.routeConn) }

func (c *composition) turn(e turn.Event) {
	open := turn.Open(c.s.Turn)
	step(c, "turn", turn.Table, &c.s.Turn, e, func(f turn.Effect) { c.routeTurn(f, open != 0) })
}

func (c *composition) response(e response.Event) {
	step(c, "response", response.Table, &c.s.Response, e, c.routeResponse)
}

func (c *composition) playout(e playout.Event) {
	step(c, "playout", playout.Table, &c.s.Playout, e, emit[playout.Effect](c))
}

func (c *composition) synthesis(e synthesis.Event) {
	step(c, "synthesis", synthesis.Table, &c.s.Synthesis, e, emit[synthesis.Effect](c))
}

func (c *composition) live(e transcription.Event) {
	step(c, "transcription", transcription.Table, &c.s.Live, e, emit[transcription.Effect](c))
}

func (c *composition) final(e transcription.Event) {
	step(c, "transcription.final", transcription.Table, &c.s.Final, e, c.routeText)
}

func (c *composition) older(e transcription.Event) {
	step(c, "transcription.older", transcription.Table, &c.s.Older, e, c.routeText)
}

// --- what comes from outside

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
		if !c.s.Config.Interrupt || !c.agentBusy() {
			c.ignored("turn", c.s.Turn, e, "there is nothing to interrupt")
			return
		}
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
	_, wasIdle := c.s.Turn.(turn.Idle)
	c.turn(e)
	if used(e) && wasIdle {
		c.s.LastTurn = fresh
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
			c.create(func(id response.ID) response.Event { return response.Create{ID: id} })
		}
	case response.Cancel:
		was := response.Live(c.s.Response)
		c.response(e)
		if was != 0 && response.Live(c.s.Response) != was {
			c.s.Owed = false
		}
		c.answer()
	case response.BodyEnded:
		was := response.Live(c.s.Response)
		c.response(e)
		if c.silent() && was == e.ID && c.s.Queued.Len() == 0 {
			c.s.Owed = false
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
		c.playout(playout.Clear{Reason: playout.ByClient, Heard: c.at})
		c.dropQueued()
		if response.Live(c.s.Response) == 0 {
			c.s.Owed = false
		}
	case playout.Drained:
		was := c.s.Playout
		if c.playout(ev); c.s.Playout == was {
			return
		}
		if response.Live(c.s.Response) == 0 && c.s.Queued.Len() == 0 {
			c.s.Owed = false
		}
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

// --- what the session decides

// silent: nothing sounds or is held.
func (c *composition) silent() bool {
	_, silent := c.s.Playout.(playout.Silent)
	return silent
}

// agentBusy: a response is live or its audio is on the way to the ear.
func (c *composition) agentBusy() bool {
	return !c.silent() || response.Live(c.s.Response) != 0
}

// create takes a fresh response id for what event makes of it.
func (c *composition) create(event func(response.ID) response.Event) {
	was := response.Live(c.s.Response)
	fresh := c.s.LastResponse + 1
	c.s.LastResponse = fresh
	c.response(event(fresh))
	if now := response.Live(c.s.Response); now != was && now == fresh {
		c.s.Owed = true
	}
}

func (c *composition) createByTurn() {
	c.create(func(id response.ID) response.Event {
		return response.CreateByTurn{ID: id, Interrupt: c.s.Config.Interrupt}
	})
}

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
	c.s.Waiting, c.s.Texted = 0, false
	c.createByTurn()
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
	if c.s.Owed && !c.agentBusy() && c.s.Waiting == 0 && conn.Up(c.s.Conn) {
		c.createByTurn()
	}
}

// cutOff takes the agent's voice away, for the candidate t where it is held for
// one. Clients rely on the order: the buffer is cleared, the response closes what it
// has open and ends, the item is truncated.
func (c *composition) cutOff(t turn.ID) {
	var how playout.Event = playout.Clear{Reason: playout.ByTurn, Heard: c.at}
	if held, ok := c.s.Playout.(playout.Held); ok && held.Candidate == t {
		how = playout.Confirm{Candidate: t}
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
	case !c.silent():
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
	if next := c.s.Queued[0]; c.silent() && next != 0 {
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
