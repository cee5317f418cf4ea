package speaking

// Answering ahead: the machine of drafts (coord/draft), and what becomes of its effects.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
)

// maxDrafts is how many drafts one turn of the user may cost.
const maxDrafts = 2

// drafted is the machine of drafts.
var drafted = room.Machine[draft.State, draft.Event, draft.Effect, draft.Seen]{Name: "draft", Table: draft.Table, Monitor: draft.Monitor}

// Likely says that the end of the open turn is likely. The zero value says that it is not.
type Likely struct {
	Turn turn.ID
	Text string // what the user has said so far
	// From: the text stands for this item of the conversation and those after it, too; 0 for none.
	From machine.Item
}

// drafts is the state of answering ahead. The zero value has no draft.
type drafts struct {
	state draft.State // nil: Idle
	seen  draft.Seen  // when invariants are checked
	now   *ahead      // the draft at work; nil for none
	began time.Time   // when it began
	of    Likely      // what it answers
	cost  int         // how many drafts the turn has had
	due   *ahead      // the draft that the body in hand adopts
}

// Ahead begins a draft where the end of the open turn is likely, and drops one whose reason is gone. The actor calls it when nothing else is left to do
// for an event.
func (g *Generator) Ahead(l Likely, s *coord.State) {
	if !g.AnswerAhead {
		return
	}
	d := &g.drafts
	switch at := d.state.(type) {
	case draft.Writing:
		switch {
		case turn.Open(s.Turn) != at.Turn:
			g.draft(draft.Dropped{})
		case l.Turn != at.Turn:
			d.of.Text = "" // the same words may be the end after the next pause
			g.draft(draft.Resumed{})
		case words(l.Text) != words(d.of.Text):
			g.tryAhead(l)
		}
	case draft.Waiting:
		if !g.awaits() && s.Waiting == 0 && !g.Conversation.Pending() {
			g.draft(draft.Dropped{})
		}
	case nil, draft.Idle:
		if l.Turn != 0 && l != d.of {
			g.tryAhead(l)
		}
	case draft.Busy, draft.Terminated:
	}
}

// awaits reports whether the body of a response in the conversation will begin.
func (g *Generator) awaits() bool {
	for _, r := range g.responses {
		if !r.OutOfBand() && r.body == nil && !r.closed() {
			return true
		}
	}
	return false
}

// tryAhead begins a draft for l, if the turn has not cost too much and the model's input is complete.
func (g *Generator) tryAhead(l Likely) {
	d := &g.drafts
	if d.of.Turn != l.Turn {
		d.cost = 0
	}
	d.of = l
	if d.cost < maxDrafts {
		if o, ok := g.orderAhead(l); ok {
			d.cost++
			g.draft(draft.Likely{Turn: l.Turn}, o)
			return
		}
	}
	if d.now != nil {
		g.draft(draft.Dropped{}) // its text is not what the user says
	}
}

// orderAhead returns what a draft for l has to make. ok is false if no response could begin now, and where the model
// hears: it needs the audio of the whole turn.
func (g *Generator) orderAhead(l Likely) (o order, ok bool) {
	if g.Conversation.Hears() || g.Player.OnAir() != nil || g.awaits() || g.Conversation.Pending() {
		return o, false
	}
	name := ""
	r := g.newResponse(0, cause{}, &name)
	p, err := g.Conversation.Request(g.withoutMessages(r), conversation.Ask{Said: l.Text, From: l.From})
	if err != nil || ratelimit.Admit(g.Limits) != nil {
		return o, false
	}
	return g.order(r, p), true
}

// prepared reports whether the body of r can adopt a draft, which has taken its share of the budget already.
func (g *Generator) prepared(r *Response, p conversation.Prompt) bool {
	_, waits := g.drafts.state.(draft.Waiting)
	return waits && !r.OutOfBand() && g.drafts.now.answers(g.order(r, p))
}

// draft runs an event through the machine of drafts and performs its effects. o is the order of the draft that may begin.
func (g *Generator) draft(e draft.Event, o ...order) {
	d := &g.drafts
	if d.state == nil {
		d.state = draft.Idle{}
	}
	effects, st := drafted.Step(&d.state, &d.seen, e, g.Broken)
	room.LogStep(g.Log, st)
	if g.Trace != nil {
		g.Trace(st.Machine, st)
	}
	for _, f := range effects {
		switch f := f.(type) {
		case draft.Start:
			d.began = g.Env.Now()
			d.now = startAhead(g.Context, g.Workers, stages{g.Pipeline, g.Guard}, o[0], func() { g.Post(DraftFailed{f.Gen}) })
		case draft.Stop:
			d.now.cancel()
			g.Limits.Spend(d.now.order.tokens)
			d.now = nil
		case draft.Adopt:
			d.due, d.now = d.now, nil
		}
	}
}

// stagesFor returns the stages of the body of r, which begins: those of the draft that it adopts, or the pipeline's.
func (g *Generator) stagesFor(r *Response, o order) stages {
	own := stages{g.Pipeline, g.Guard}
	if r.says != "" {
		p := *g.Pipeline
		p.Model = saying(r.says)
		own.Pipeline = &p
	}
	if r.OutOfBand() || !g.AnswerAhead {
		return own
	}
	g.draft(draft.Began{Matches: g.drafts.now != nil && g.drafts.now.answers(o)})
	d := g.drafts.due
	if d == nil {
		return own
	}
	g.drafts.due = nil
	if r.turn != nil {
		r.turn.Ahead(g.Env.Now().Sub(g.drafts.began))
	}
	return d.adopted()
}
