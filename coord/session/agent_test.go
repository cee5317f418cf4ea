package session

// The agent of a simulated call: the model that writes text, and the synthesizer that turns it into audio.

import (
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
)

// reply is a running body: the model, which writes text, and the synthesizer, which speaks it. In the server they are two goroutines.
type reply struct {
	id        response.ID
	body      source
	voice     source
	clauses   int // still to be written
	mute      bool
	cancelled bool
	written   bool
	said      bool // the voice's worker has ended
	ended     bool
	begun     bool
	audio     ms // synthesised so far
}

func (c *call) performResponse(f response.Effect) {
	switch f := f.(type) {
	case response.StartBody:
		r := &reply{id: f.ID, body: c.source(ofBody, uint64(f.ID)), voice: c.source(ofVoice, uint64(f.ID))}
		r.clauses, r.mute = r.body.dice.IntN(5), r.body.percent(10)
		c.replies[f.ID], c.running = r, r
		r.body.say(0, 400, func() { c.write(r) })
	case response.CancelBody:
		if r := c.replies[f.ID]; r != nil {
			r.cancelled = true
		} else {
			c.wrong("a body that has not begun is cancelled")
		}
	case response.EmitTerminal:
		if r := c.replies[f.ID]; r != nil && !r.ended && !r.cancelled && cancelled(f.Status) {
			c.wrong("the body of a cancelled response goes on")
		}
	case response.EmitCreated, response.RejectActive, response.RejectNotActive:
	}
}

// write is the next clause of the model. A cancelled body notices this at its next step, and some bodies one step later.
func (c *call) write(r *reply) {
	if r.written {
		return
	}
	if r.clauses == 0 || r.cancelled && r.body.percent(80) {
		r.written = true
		c.take(OfSynthesis{synthesis.Finish{}})
		c.join(r)
		return
	}
	r.clauses--
	c.w.clauses++
	c.take(OfSynthesis{synthesis.Enqueue{Clause: c.w.clauses}})
	r.body.say(20, 500, func() { c.write(r) })
}

func (c *call) performSynthesis(f synthesis.Effect) {
	r := c.running
	if r == nil {
		c.wrong("the voice of a body that has not begun is told " + f.Name())
		return
	}
	switch f.(type) {
	case synthesis.Say:
		r.voice.say(30, 500, func() { c.voiceClause(r) })
	case synthesis.CloseQueue:
		r.voice.say(0, 50, func() { c.voiceEnds(r) })
	case synthesis.StopWorker:
		slow := ms(250)
		if r.voice.percent(10) {
			slow = 2_500
		}
		c.after(r.voice.between(0, slow), func() { c.voiceEnds(r) })
	case synthesis.Refuse, synthesis.Wake:
	}
}

// voiceClause takes the audio that the synthesizer has made of a clause.
func (c *call) voiceClause(r *reply) {
	switch {
	case r.said:
		return
	case r.voice.percent(3):
		c.voiceEnds(r) // it breaks
		return
	case r.mute:
		return
	}
	r.audio += r.voice.between(200, 1_500)
	if !r.begun {
		r.begun = true
		c.take(OfPlayout{playout.Begin{Resp: r.id}})
	}
}

func (c *call) voiceEnds(r *reply) {
	if r.said {
		return
	}
	r.said = true
	c.take(OfSynthesis{synthesis.WorkerExited{}})
	c.join(r)
}

// join ends the body when both of its goroutines have ended.
func (c *call) join(r *reply) {
	if !r.said || !r.written || r.ended {
		return
	}
	status := response.Completed
	switch n := r.body.dice.IntN(100); {
	case r.cancelled && n < 90:
		status = response.ClientCancelled
	case n > 95:
		status = response.Failed
	case n > 90:
		status = response.Incomplete
	}
	r.body.say(0, 120, func() {
		r.ended = true
		c.take(OfResponse{response.BodyEnded{ID: r.id, Status: status}})
	})
}

// speaker sends a response's audio as time passes, and knows how much of it that was.
type speaker struct {
	source
	resp    response.ID // 0: nothing is on air
	gen     uint32
	playing bool
	drained bool
	pos     ms
	// lost is where the audio of a response begins that went into an outage.
	lost struct {
		resp response.ID
		from ms
	}
}

// sayLost reports the audio that an outage has lost, if its response is still the newest.
func (c *call) sayLost() {
	lost := c.lost
	c.lost.resp = 0
	resp := playout.Sounding(c.w.s.Playout)
	if s, silent := c.w.s.Playout.(playout.Silent); silent {
		resp = s.Last
	}
	if resp != 0 && resp == lost.resp {
		c.take(OfPlayout{playout.Missed{Resp: resp, From: playout.Position{Item: 1, MS: uint32(lost.from)}}})
	}
}

// position returns how far the response that plays has been sent.
func (c *call) position() playout.Position {
	if c.resp == 0 && c.teller.tail != 0 {
		return playout.Position{Item: 1, MS: uint32(c.teller.lastPos)}
	}
	if c.resp == 0 {
		return playout.Position{}
	}
	return playout.Position{Item: 1, MS: uint32(c.pos)}
}

// pump is the speaker's tick.
func (c *call) pump() {
	r := c.replies[c.resp]
	if r == nil || !c.playing || c.drained {
		c.transmit(c.silence())
		return
	}
	if from := c.pos; c.pos < r.audio {
		if c.down.down && c.lost.resp != c.resp {
			c.lost.resp, c.lost.from = c.resp, c.pos
		}
		c.pos = min(c.pos+tick, r.audio)
		c.transmit(packet{resp: c.resp, from: from, to: c.pos})
		c.down.packet(func() { c.heard++ })
	} else {
		c.transmit(c.silence())
	}
	if c.pos == r.audio && r.said {
		c.drained = true
		e := playout.Drained{Resp: c.resp, Gen: c.gen}
		c.speaker.say(0, 60, func() { c.take(OfPlayout{e}) })
	}
}

func (c *call) performPlayout(f playout.Effect) {
	c.performReport(f)
	switch f := f.(type) {
	case playout.Play:
		c.resp, c.gen, c.pos, c.playing, c.drained = f.Resp, f.Gen, 0, true, false
	case playout.Hold:
		if c.resp != f.Resp { // it begins held, or was sent to its end
			if c.pos = 0; c.teller.tail == f.Resp {
				c.pos = c.teller.lastPos
			}
			c.resp = f.Resp
		}
		c.playing = false
	case playout.RewindAndResume:
		c.resp, c.gen, c.pos, c.playing, c.drained = f.Resp, f.Gen, ms(f.From.MS), true, false
	case playout.Drop:
		if c.resp == f.Resp {
			c.resp, c.playing = 0, false
		}
	case playout.EmitStopped:
		c.resp, c.playing = 0, false
	case playout.EmitStarted, playout.EmitCleared, playout.Truncate, playout.AwaitReady, playout.AwaitHeard, playout.EmitRejected:
	}
}
