package session

// The client of a simulated call that ducks the agent itself: the machine of package bargein with a small driver.

import (
	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// predictor is a client that ducks the agent itself: the machine of package bargein, and its driver with the loudspeaker.
type predictor struct {
	c        *call
	state    bargein.State
	seen     bargein.Seen
	level    bargein.Level
	since    ms // the level is what it is
	newest   bargein.ID
	at       bargein.Position // what plays
	awaits   bargein.ID       // the client waits until playback reaches awaited; 0 is none
	awaited  bargein.Position
	stopped  response.ID // announced as heard to its end
	voice    ms          // for which somebody has talked
	muted    map[response.ID]bool
	missed   map[response.ID]bool                // some of it came to nothing in an outage
	full     map[response.ID]ms                  // heard at full level without a gap up to here
	last     map[response.ID]ms                  // heard last, at any level
	under    map[bargein.ID]map[response.ID]bool // what was heard lowered for it
	verdicts map[bargein.ID]int
}

func newPredictor(c *call) predictor {
	return predictor{
		c: c, state: bargein.Silent{}, muted: map[response.ID]bool{}, missed: map[response.ID]bool{},
		full: map[response.ID]ms{}, last: map[response.ID]ms{}, verdicts: map[bargein.ID]int{}, under: map[bargein.ID]map[response.ID]bool{},
	}
}

// told gives one event to the machine and performs the effects.
func (e *predictor) told(ev bargein.Event) {
	next, effects, row := bargein.Table.Next(e.state, ev)
	if row < 0 {
		e.c.wrong("the client has no row for " + coordtest.Text(ev))
		return
	}
	step := machine.Edge[bargein.State, bargein.Event, bargein.Effect]{From: e.state, Event: ev, To: next, Effects: effects, Row: row}
	var broken string
	if e.seen, broken = bargein.Monitor.Watch(e.seen, step); broken != "" {
		e.c.wrong("the client: " + broken + " at " + coordtest.Text(ev))
	}
	e.state = next
	for _, f := range effects {
		e.perform(f)
	}
}

func (e *predictor) perform(f bargein.Effect) {
	c := e.c
	switch f := f.(type) {
	case bargein.Duck:
		e.set(bargein.Lowered)
	case bargein.Silence:
		e.set(bargein.NoLevel)
	case bargein.Restore:
		e.set(bargein.FullLevel)
	case bargein.SendCandidate:
		c.send(func() { c.suspected(f.Candidate, f.Resp) })
	case bargein.ArmDeadline:
		c.after(giveUp, func() { e.told(bargein.Expired(f)) })
	case bargein.AwaitPosition:
		e.awaits, e.awaited = f.Candidate, f.At
		e.passes()
	case bargein.SendReady:
		e.report(func() { c.ready(f.Candidate, f.At) })
	case bargein.Mute:
		e.muted[f.Resp] = true
	case bargein.SendHeard:
		e.report(func() { c.heardUpTo(f.Resp, f.At) })
	}
}

// report sends how far the client has played. Some clients send wrong reports.
func (e *predictor) report(do func()) {
	if !e.c.client.percent(e.c.plan.mumbles) {
		e.c.send(do)
	}
}

func (e *predictor) set(l bargein.Level) {
	if e.level == bargein.FullLevel {
		e.since = e.c.now
	}
	e.level = l
}

func (e *predictor) passes() {
	if e.awaits != 0 && e.at >= e.awaited {
		passed := bargein.Passed{Candidate: e.awaits}
		e.awaits = 0
		e.told(passed)
	}
}

// plays is a packet in the loudspeaker.
func (e *predictor) plays(ts bargein.Position, p packet) {
	if p.resp != 0 && e.muted[p.resp] && !p.silent {
		return // the interrupted response's
	}
	e.at = ts
	switch {
	case p.silent && p.resp != 0 && e.stopped == p.resp:
		e.told(bargein.Ended{Resp: p.resp})
	case !p.silent:
		e.told(bargein.Began{Resp: p.resp})
		e.last[p.resp] = p.to
		if waits := bargein.Pending(e.state); e.level != bargein.FullLevel {
			if e.under[waits] == nil {
				e.under[waits] = map[response.ID]bool{}
			}
			e.under[waits][p.resp] = true
		}
		if e.level == bargein.FullLevel && p.from <= e.full[p.resp] {
			e.full[p.resp] = max(e.full[p.resp], p.to)
		}
	}
	e.passes()
}

// sees is what the wire says, as far as it is about an interruption.
func (e *predictor) sees(f machine.Named) {
	switch f := f.(type) {
	case playout.EmitStarted:
		e.stopped = 0
	case playout.EmitStopped:
		e.stopped = f.Resp
	case playout.EmitCleared:
		e.told(bargein.Confirmed{Resp: f.Resp, At: e.at})
	case playout.EmitRejected:
		e.rejected(e.c.teller.numbers[f.Candidate])
	case turn.EmitSpeechStarted:
		if bargein.Pending(e.state) != 0 {
			e.told(bargein.Confirmed{Resp: e.hears(), At: e.at})
		}
	}
}

func (e *predictor) rejected(n bargein.ID) {
	e.verdicts[n]++
	e.told(bargein.Rejected{Candidate: n})
}

// hears returns the response that plays, at any level, or 0.
func (e *predictor) hears() response.ID {
	switch s := e.state.(type) {
	case bargein.Playing:
		return s.Resp
	case bargein.Ducked:
		return s.Resp
	case bargein.Silenced:
		return s.Resp
	case bargein.Restored:
		return s.Resp
	case bargein.Unanswered:
		return s.Resp
	case bargein.Silent, bargein.Closed:
	}
	return 0
}

// listens is the detector at the microphone, once a tick.
func (e *predictor) listens(voiced bool) {
	waits := bargein.Pending(e.state)
	switch {
	case voiced && e.voice == 0:
		e.onset()
	case voiced && waits != 0 && e.voice >= 200:
		e.told(bargein.Sustained{Candidate: waits})
	case !voiced && e.voice > 0 && waits != 0:
		e.told(bargein.VoiceEnded{Candidate: waits})
	}
	if e.voice += tick; !voiced {
		e.voice = 0
	}
	e.lasts(e.c.now)
}

// onset is a voice that the playback does not explain, or is taken for one.
func (e *predictor) onset() {
	if e.hears() != 0 && bargein.Pending(e.state) == 0 {
		e.newest++
		e.told(bargein.Onset{Candidate: e.newest, At: e.at})
	}
}
