package session

// The server's side of a client that reports, in a simulated call: it remembers which packet had which position.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

const (
	slack    ms = 300   // how long a report may take beside the network
	giveUp   ms = 1_500 // a client's own deadline
	tailLife ms = 2_000 // how long a client may need to play the end of a response that was sent
)

// packet is one packet of audio: of a response up to a position, or of silence after the part of the response that was sent.
type packet struct {
	resp   response.ID
	from   ms
	to     ms
	silent bool
}

// teller is the part of the server's driver for a client that reports. It remembers the content of each packet, so that it can
// convert a timestamp into a position.
type teller struct {
	air       source // the sound's way to the far end: it overtakes events, and they overtake it
	sent      []packet
	flying    int                        // packets on their way
	candidate bargein.ID                 // the client's newest
	numbers   map[turn.ID]bargein.ID     // the newest of each turn that something is held for
	turn      turn.ID                    // that it waits with; 0: it has its verdict
	holds     map[bargein.ID]response.ID // what was held for it
	held      bool                       // the silence of a hold was named to it
	back      ms                         // where the response goes on after the silence that is being sent
	decided   bool
	last      response.ID        // was sent last, and so far
	said      map[response.ID]ms // sent last of each
	lastPos   ms
	tail      response.ID // was sent to its end; its end may not be played yet
	tailAt    ms
	readies   int // waits for a ready that were begun
	begun     map[response.ID]bool
	dropped   map[response.ID]bool
	cutAt     map[response.ID]ms
	guessed   map[response.ID]bool // an estimate stood in for a report
}

func newTeller(c *call) teller {
	return teller{
		air: c.source(ofNetwork, 3), numbers: map[turn.ID]bargein.ID{}, holds: map[bargein.ID]response.ID{}, begun: map[response.ID]bool{}, said: map[response.ID]ms{}, dropped: map[response.ID]bool{}, cutAt: map[response.ID]ms{}, guessed: map[response.ID]bool{},
	}
}

// transmit sends one packet. Its timestamp is its number, from 1 on. One that is lost is concealed, but not for as long as an
// outage lasts.
func (c *call) transmit(p packet) {
	if c.gone || !c.plan.config.Reports {
		return
	}
	if !p.silent {
		c.teller.said[p.resp] = p.to
	}
	c.teller.sent = append(c.teller.sent, p)
	ts := bargein.Position(len(c.teller.sent))
	if c.down.down {
		c.predictor.missed[p.resp] = true
		return
	}
	c.teller.flying++
	c.teller.air.say(c.plan.near, c.plan.far, func() {
		c.teller.flying--
		c.predictor.plays(ts, p)
	})
}

// silence returns the packet of a tick in which no response is sent. It stands for the position that was sent before it.
func (c *call) silence() packet {
	resp := c.resp
	if resp == 0 {
		resp = c.teller.last
	}
	return packet{resp: resp, to: c.teller.said[resp], silent: true}
}

// suspected takes a client's candidate. If its response was interrupted before, the client did not know this yet.
func (c *call) suspected(n bargein.ID, resp response.ID) {
	t := &c.teller
	if t.dropped[resp] {
		return
	}
	t.candidate, t.turn, t.held = n, 0, false
	over := c.resp == 0 && (t.tail == 0 || c.now-t.tailAt > tailLife)
	was := turn.Open(c.w.s.Turn)
	if !over {
		c.take(OfTurn{turn.ClientCandidate{}})
	}
	cand, waits := c.w.s.Turn.(turn.Candidate)
	switch {
	case waits && t.held:
		t.turn = cand.Turn
		t.holds[n] = c.resp
		first := bargein.Position(len(t.sent) + 1)
		c.down.event(func() { c.predictor.told(bargein.Acked{Candidate: n, At: first}) })
		return
	case waits && cand.Turn != was: // there is nothing to hold yet
		t.turn = cand.Turn
	case !waits && was == 0:
		c.rejected(n)
	}
	if _, plays := c.w.s.Playout.(playout.Playing); plays && c.w.s.Config.Interrupt && was == 0 && !over {
		c.wrong("a candidate holds nothing")
	}
}

func (c *call) rejected(n bargein.ID) {
	c.teller.turn = 0
	c.down.event(func() { c.predictor.rejected(n) })
}

// ready takes the client's report up to which position it has played the response at full level.
func (c *call) ready(n bargein.ID, at bargein.Position) {
	held, is := c.w.s.Playout.(playout.Held)
	if t := &c.teller; is && held.Awaits && n == t.candidate {
		t.back, t.decided = c.fullUpTo(at), true
		c.take(OfPlayout{playout.Ready{Candidate: held.Client, At: playout.Position{Item: 1, MS: uint32(t.back)}}})
	}
}

// fullUpTo returns the position of the held response that a packet stands for. For a packet of silence it is the position from
// which the response goes on.
func (c *call) fullUpTo(at bargein.Position) ms {
	p := c.teller.at(at)
	if p.resp != c.resp {
		return 0
	}
	if !p.silent {
		return p.to
	}
	for _, after := range c.teller.sent[at:] {
		if after.resp == c.resp && !after.silent {
			return after.from
		}
	}
	if c.teller.decided {
		return c.teller.back
	}
	return c.pos
}

func (t *teller) at(ts bargein.Position) packet {
	if ts == 0 || int(ts) > len(t.sent) {
		return packet{}
	}
	return t.sent[ts-1]
}

// heardUpTo takes the client's report how far it has played an interrupted response.
func (c *call) heardUpTo(resp response.ID, at bargein.Position) {
	place := ms(0)
	if p := c.teller.at(at); p.resp == resp {
		place = p.to
	}
	c.take(OfPlayout{playout.Heard{Resp: resp, At: playout.Position{Item: 1, MS: uint32(place)}}})
}

// guess has an estimate stand for a report that does not come.
func (c *call) guess(resp response.ID, e playout.Event) {
	was := c.w.s.Playout
	if c.take(OfPlayout{e}); c.w.s.Playout != was {
		c.teller.guessed[resp] = true
	}
}

// performReport does what the playout asks for the sake of a client that reports.
func (c *call) performReport(f playout.Effect) {
	t := &c.teller
	wait := slack + 2*c.plan.far + 2*tick
	switch f := f.(type) {
	case playout.Hold:
		t.decided = false
	case playout.AwaitReady:
		t.held, t.numbers[f.Candidate] = true, t.candidate
		t.readies++
		this := t.readies
		c.after(wait, func() {
			if t.readies == this {
				c.guess(c.resp, playout.ReadyExpired{Candidate: f.Candidate})
			}
		})
	case playout.AwaitHeard:
		c.after(wait, func() { c.guess(f.Resp, playout.HeardExpired{Resp: f.Resp}) })
	case playout.EmitRejected:
		if t.turn == f.Candidate {
			t.turn = 0
		}
	case playout.Drop:
		t.dropped[f.Resp] = true
		if t.tail == f.Resp {
			t.tail = 0
		}
		if c.resp == f.Resp {
			t.last, t.lastPos = c.resp, c.pos
		}
	case playout.EmitStopped:
		t.last, t.lastPos = f.Resp, c.pos
		t.tail, t.tailAt = f.Resp, c.now
	case playout.Truncate:
		t.cutAt[f.Resp] = ms(f.End.MS)
	case playout.Play:
		t.begun[f.Resp] = true
	case playout.RewindAndResume, playout.EmitStarted, playout.EmitCleared:
	}
}

// judged tells the client of a candidate of its own that had nothing held.
func (c *call) judged() {
	t := &c.teller // t.turn is 0 with a client that does not report
	held, is := c.w.s.Playout.(playout.Held)
	if t.turn != 0 && !t.held && turn.Open(c.w.s.Turn) != t.turn && (!is || held.Client != t.turn) {
		c.rejected(t.candidate)
	}
}

// lasts checks what may only last for a while.
func (e *predictor) lasts(now ms) {
	if e.level != bargein.FullLevel && now-e.since > giveUp+tick {
		e.c.wrong("NeverStuckDucked: the client has lowered the agent for too long")
	}
}

// conforms is what does not hold of the exchange at the end of a call.
func (c *call) conforms() string {
	if !c.plan.config.Reports || c.gone {
		return ""
	}
	e := &c.predictor
	if bargein.Pending(e.state) != 0 || e.level != bargein.FullLevel {
		return "ConvergesWhenQuiet: the client is " + e.state.Name()
	}
	for n, times := range e.verdicts {
		if times > 1 {
			return fmt.Sprintf("VerdictOnce: candidate %d has %d verdicts", n, times)
		}
	}
	if n := c.teller.candidate; c.teller.holds[n] != 0 && !c.teller.dropped[c.teller.holds[n]] && e.verdicts[n] == 0 {
		return fmt.Sprintf("VerdictOnce: candidate %d has no verdict", n)
	}
	for n, heard := range e.under { // what was lowered of another response is not said again, nor where nothing may be held
		for resp := range heard {
			e.missed[resp] = e.missed[resp] || resp != c.teller.holds[n]
		}
	}
	for resp := machine.Response(1); resp <= c.w.s.LastResponse; resp++ {
		r, cut := c.replies[resp], c.teller.cutAt
		if r == nil || !c.teller.begun[resp] || c.teller.guessed[resp] || e.missed[resp] {
			continue
		}
		if at, is := cut[resp]; is && at != e.last[resp] {
			return fmt.Sprintf("RemembersWhatWasHeard: reply %d was heard to %d and is cut at %d", resp, e.last[resp], at)
		}
		if _, is := cut[resp]; !is && !e.muted[resp] && e.full[resp] < r.audio {
			return fmt.Sprintf("NoWordLost: of reply %d, %d ms were heard of %d", resp, e.full[resp], r.audio)
		}
	}
	return ""
}
