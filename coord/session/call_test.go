package session

// A simulated call: user, client, network and server on virtual time.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

const (
	tick     ms = 100    // of the detector and of the speaker
	decision ms = 1_000  // the deadline of a candidate
	hang     ms = 3_000  // the deadline of a recogniser and of a gate
	grace    ms = 6_000  // how long a lost transport may stay away
	patience    = 20_000 // things that happen in a call, before it is said never to rest
)

// The parts of a call that have their own random numbers.
const (
	ofNetwork = iota + 1
	ofPerson
	ofDetector
	ofStream
	ofWhole
	ofBody
	ofVoice
	ofGate
	ofSpeaker
)

// call is a whole session on virtual time: a user with a client, a network, and a server whose driver keeps its contract, with its
// detector, recogniser, model, synthesizer and loudspeaker. After every step of the machines, world checks all invariants. client
// checks the events that arrive.
type call struct {
	clock
	plan plan
	end  ms
	w    *world
	up   *lane // from the client to the server
	down *lane
	client
	detector
	speaker
	teller    teller
	predictor predictor
	streams   map[turn.ID]*recognition
	replies   map[response.ID]*reply
	running   *reply
	early     []func() // what the client sent before the session was open
	watcher   Watcher
	effects   []Effect // of the event in hand
	broken    string
	gone      bool // the transport is released
}

// play plays a plan to its end and returns which invariant does not hold, or "". If see is not nil, it gets every step.
func (p plan) play(next nextFunc, see func(Event, Step)) (*call, string) {
	c := &call{plan: p, end: p.end, streams: map[turn.ID]*recognition{}, replies: map[response.ID]*reply{}}
	if NewWatcher != nil {
		c.watcher = NewWatcher(p.config)
	}
	c.w = newWorld(p.config, nil)
	c.w.next, c.w.onEffect, c.w.onStep = next, c.perform, see
	c.up = &lane{source: c.source(ofNetwork, 1), near: p.near, far: p.far, loss: p.loss, reliable: p.socket}
	c.down = &lane{source: c.source(ofNetwork, 2), near: p.near, far: p.far, loss: p.loss, reliable: p.socket}
	c.detector.source, c.speaker.source, c.client.source = c.source(ofDetector, 0), c.source(ofSpeaker, 0), c.source(ofPerson, 0)
	c.mic = c.hears
	c.teller, c.predictor = newTeller(c), newPredictor(c)
	for _, w := range p.wishes {
		c.end = max(c.end, w.at)
		c.after(w.at, func() { c.wish(w) })
	}
	c.after(c.client.between(20, 800), c.opened)
	c.after(tick, c.tick)
	for range patience {
		if c.broken != "" || !c.clock.next() {
			return c, c.verdict()
		}
	}
	return c, "the call never comes to rest"
}

func (c *call) source(kind, nth uint64) source {
	return source{clock: &c.clock, dice: c.plan.dice(kind, nth)}
}

// verdict is what does not hold when nothing is due any more.
func (c *call) verdict() string {
	if c.broken != "" {
		return c.broken
	}
	if broken := c.w.atRest(); broken != "" {
		return broken
	}
	for id, r := range c.replies {
		if !r.ended {
			return fmt.Sprintf("the body of %d has not ended", id)
		}
	}
	if len(c.streams) > 0 {
		return fmt.Sprintf("%d streams of the recogniser are left", len(c.streams))
	}
	if c.watcher != nil {
		if broken := c.watcher.Rests(); broken != "" {
			return broken
		}
	}
	if broken := c.client.agrees(c.w); broken != "" {
		return broken
	}
	return c.conforms()
}

// take is the server's actor: one event, and what follows from it.
func (c *call) take(e Event) {
	if c.broken != "" {
		return
	}
	from := c.w.s
	c.w.at, c.effects = c.position(), nil
	if broken := c.w.take(e); broken != "" {
		c.wrong(broken)
	}
	c.judged()
	if c.watcher != nil {
		c.watch(c.watcher.Stepped(Edge{from, e, c.w.s, c.effects}))
	}
}

// watch notes what the watcher has seen.
func (c *call) watch(broken string) {
	if broken != "" {
		c.wrong(broken)
	}
}

// wrong notes what does not hold; the first is what counts.
func (c *call) wrong(what string) {
	if c.broken == "" {
		c.broken = what
	}
}

// ask takes a client's request, which is answered in one way or another while the session is up.
func (c *call) ask(e Event, answers ...string) {
	up := conn.Up(c.w.s.Conn)
	c.performed = c.performed[:0]
	c.take(e)
	for _, name := range c.performed {
		for _, a := range answers {
			if name == a {
				return
			}
		}
	}
	if up {
		c.wrong("nobody answers " + eventText(e))
	}
}

// tick moves what moves with time.
func (c *call) tick() {
	if c.broken != "" {
		return
	}
	c.client.talk()
	if c.plan.config.Reports {
		c.predictor.listens(c.now < c.talks)
	}
	c.listen()
	c.pump()
	if c.now < c.end+grace+hang || !c.quiet() {
		c.after(tick, c.tick)
	}
}

// quiet: nothing goes on that needs the clock.
func (c *call) quiet() bool {
	_, silent := c.w.s.Playout.(playout.Silent)
	_, ended := c.w.s.Playout.(playout.Terminated)
	return turn.Open(c.w.s.Turn) == 0 && (silent || ended) && len(c.streams) == 0 && c.w.body == 0 && len(c.due) == c.teller.flying
}

// perform does what an effect asks of the driver.
func (c *call) perform(f Effect) {
	c.performed = append(c.performed, f.Name())
	c.effects = append(c.effects, f)
	switch f := f.(type) {
	case conn.Effect:
		c.performConn(f)
	case turn.Effect:
		c.performTurn(f)
	case transcription.Effect:
		c.performTranscription(f)
	case response.Effect:
		c.performResponse(f)
	case synthesis.Effect:
		c.performSynthesis(f)
	case playout.Effect:
		c.performPlayout(f)
	case Pause:
		if c.resp != f.Resp {
			c.wrong("what does not play is paused")
		}
		c.playing = false
	}
	c.tell(f)
}

// tell sends the client what it is told of an effect.
func (c *call) tell(f machine.Named) {
	if c.gone {
		return
	}
	switch f.(type) {
	case conn.AnnounceSession, turn.EmitSpeechStarted, turn.EmitSpeechStopped, turn.EmitTimeout, turn.CommitTurn,
		response.EmitCreated, response.EmitTerminal, response.RejectActive, response.RejectNotActive,
		playout.EmitStarted, playout.EmitStopped, playout.EmitCleared, playout.EmitRejected, playout.Truncate,
		transcription.DeliverText, transcription.DeliverFailure, transcription.Degrade:
		c.down.event(func() {
			if broken := c.client.see(f); broken != "" {
				c.wrong("the client: " + broken)
			}
			if c.plan.config.Reports {
				c.predictor.sees(f)
			}
			if c.watcher != nil {
				c.watch(c.watcher.Delivered(f))
			}
		})
	}
}

func (c *call) performConn(f conn.Effect) {
	switch f := f.(type) {
	case conn.StartVAD:
		c.detector.on = true
	case conn.StopVAD:
		c.detector.on = false
	case conn.ArmGrace:
		c.after(grace, func() { c.take(OfConn{conn.GraceExpired{Gen: f.Gen}}) })
	case conn.ReleaseTransport:
		c.gone = true
	case conn.AnnounceSession, conn.StopChildren, conn.Forget:
	}
}

// outage cuts both directions for a while. The transport notices after some time, or when the outage is over, or never.
func (c *call) outage(d ms) {
	c.up.cut()
	c.down.cut()
	c.outages++
	this := c.outages
	if !c.plan.socket {
		c.after(700, func() {
			if c.outages == this {
				c.take(OfConn{conn.Lost{}})
			}
		})
	}
	c.after(d, func() {
		if c.outages != this { // another one began meanwhile
			return
		}
		c.outages++
		c.up.heal()
		c.down.heal()
		c.after(c.client.between(0, 1_000), func() {
			if conn.Up(c.w.s.Conn) && !c.plan.socket && c.client.percent(80) {
				c.take(OfConn{conn.Lost{}}) // ignored if it was noticed before
			}
			if _, lost := c.w.s.Conn.(conn.Interrupted); lost {
				c.take(OfConn{conn.Restored{}})
				c.sayLost()
			}
		})
	})
}
