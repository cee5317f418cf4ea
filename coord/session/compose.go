package session

// One run of the composition: Next gives an event to its machine, collects the effects, and notes each step. route.go says which effect
// becomes an event of which machine.

import (
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Next takes one event. It also takes every event that an effect of another machine becomes, until
// none is left. at is the position of the response that plays; only the driver knows it. Next is
// total: an event that does not fit the state changes nothing and is a Step with the reason.
func Next(s State, at playout.Position, e Event) (State, []Effect, []Step) {
	c := composition{s: s, at: at}
	was := s.Playout
	c.take(e)
	if _, closing := c.s.Conn.(conn.Closing); closing && c.childrenDone() {
		c.conn(conn.ChildrenDone{})
	}
	return c.s, pauseFirst(was, c.out), c.steps
}

// pauseFirst returns the effects out. If they hold or drop the response that was playing, a Pause comes first.
func pauseFirst(was playout.State, out []Effect) []Effect {
	playing, is := was.(playout.Playing)
	if !is || !silences(out, playing.Resp) {
		return out
	}
	return append([]Effect{Pause{playing.Resp}}, out...)
}

// silences reports whether the effects hold or drop resp.
func silences(effects []Effect, resp response.ID) bool {
	for _, f := range effects {
		if f == (playout.Hold{Resp: resp}) || f == (playout.Drop{Resp: resp}) {
			return true
		}
	}
	return false
}

// composition is one run of Next.
type composition struct {
	s     State
	at    playout.Position
	out   []Effect
	steps []Step
	// reports: the event is a candidate of a client that ducks the agent and will report what the user heard at full level.
	reports bool
}

// take gives the event to its machine, or changes the settings.
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
		c.releaseHeld()
		c.answer()
	}
}

// ignored notes an event that does not reach its machine.
func (c *composition) ignored(name string, s, e machine.Named, why string) {
	c.steps = append(c.steps, Step{Machine: name, From: s, Event: e, To: s, Why: why})
}

// step runs one event through the table t of a machine, notes the step, and gives each effect to route, in order.
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

// set changes a machine's state to next without an event of that machine, because the effect f of another machine asks for it.
func set[S machine.Named](c *composition, name, action string, s *S, f Effect, next S) {
	c.steps = append(c.steps, Step{Machine: name, From: *s, Event: f, To: next, Action: action})
	*s = next
}

// emit returns a route that only puts an effect into the list for the driver.
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
