package speaking

// The events of a body: its beginning, its reports and its end.

import (
	"cmp"
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

var errTooManyClauses = errors.New("the response is longer than the voice takes")

// begin starts the body of r, or refuses it where its input is too long or its budget is spent.
func (g *Generator) begin(r *Response) room.List {
	if r.says != "" {
		o := g.order(r, conversation.Prompt{Request: pipeline.Request{Spoken: r.spoken}})
		return g.stepWith(r, generation.Begin{}, &o)
	}
	prompt, err := g.request(r)
	if err == nil && !g.prepared(r, prompt) {
		err = ratelimit.Admit(g.Limits)
	}
	if err != nil {
		r.cost.textErr = err
		return g.step(r, generation.Refuse{})
	}
	o := g.order(r, prompt)
	return g.stepWith(r, generation.Begin{}, &o)
}

// order returns what the body of r has to generate.
func (g *Generator) order(r *Response, p conversation.Prompt) order {
	set := g.Settings.Current()
	o := order{
		id: r.id, request: p.Request, tokens: p.Tokens, tools: r.tools.offered, delivers: !g.Player.ServerPaced(),
		speech: pipeline.Utterance{Voice: set.Audio.Output.Voice, Speed: set.Audio.Output.Speed},
	}
	if g.uncertain != nil && r.turn != nil {
		o.certain = g.uncertain
	}
	if r.object.Audio != nil {
		o.speech.Voice = r.object.Audio.Voice
	}
	return o
}

// run starts the goroutines of r's body with order o.
func (g *Generator) run(r *Response, o order) {
	r.body = startBody(g.Context, g.Workers, g.stagesFor(r, o), o, g.Post)
	r.track.credit = r.body.credit
	r.cost.prompt = o.tokens
	if !r.OutOfBand() {
		g.running = r
	}
}

// Handle handles a report of a body. audible says that the agent is audible at present.
func (g *Generator) Handle(e Event, audible bool) room.List {
	switch e := e.(type) {
	case Delta:
		if r := g.responses[e.ID]; r != nil {
			return g.modelSays(r, e.Event)
		}
	case Audio:
		if r := g.responses[e.ID]; r != nil {
			return g.synthesizerSays(r, e, audible)
		}
	case ClauseSaid:
		if r := g.responses[e.ID]; r != nil {
			return g.clauseSaid(r, e.Clause)
		}
	case TextEnded:
		if r := g.responses[e.ID]; r != nil {
			return g.textEnded(r, e)
		}
	case SynthesisEnded:
		if r := g.responses[e.ID]; r != nil {
			return g.synthesisEnded(r, e.Err)
		}
	case StepEnded:
		if r := g.responses[e.ID]; r != nil {
			return g.stepEnded(r)
		}
	case ToolSlow:
		return g.toolSlow(e.Run)
	case ToolEnded:
		return g.toolEnded(e)
	case DraftFailed:
		g.draft(draft.Failed(e))
	case BodyOver:
		if r := g.responses[e.ID]; r != nil {
			return g.bodyOver(r)
		}
	}
	return nil
}

func (g *Generator) textEnded(r *Response, e TextEnded) room.List {
	r.cost.usage, r.cost.counted, r.cost.textErr = plausible(e.Usage), true, cmp.Or(e.Err, r.tools.err)
	return append(g.flush(r), g.synthesize(r, synthesis.Finish{})...)
}

func (g *Generator) synthesisEnded(r *Response, err error) room.List {
	if r.cost.voiceErr == nil {
		r.cost.voiceErr = err
	}
	if err != nil {
		r.body.cancel() // the rest of the text is not needed
	}
	return g.synthesize(r, synthesis.WorkerExited{})
}

func (g *Generator) bodyOver(r *Response) room.List {
	if g.running == r {
		g.running = nil
		if g.AnswerAhead {
			g.draft(draft.Over{})
		}
	}
	r.body.cancel()
	if status, err := r.outcome(); status == response.Failed && !r.closed() {
		room.LogFailure(g.Log, "a response failed", err, "response", r.object.ID)
	}
	return g.step(r, generation.BodyOver{})
}

// outcome returns how the body has ended, and the error of the stage that failed.
func (r *Response) outcome() (response.Status, error) {
	err := r.cost.textErr
	if err == nil || errors.Is(err, context.Canceled) && r.cost.voiceErr != nil {
		err = r.cost.voiceErr
	}
	switch {
	case err == nil && r.body.never:
		return response.ClientCancelled, nil
	case err == nil:
		return response.Completed, nil
	case errors.Is(err, pipeline.ErrMaxTokens):
		return response.Incomplete, err
	}
	return response.Failed, err
}

// Synthesis performs an effect of the session's synthesis machine.
func (g *Generator) Synthesis(f synthesis.Effect) { g.performSynthesis(g.running, f) }

// performSynthesis performs an effect about the clauses of r; nil means that no body runs.
func (g *Generator) performSynthesis(r *Response, f synthesis.Effect) {
	switch f := f.(type) {
	case synthesis.Say:
		select {
		case r.body.clauses <- clause{f.Clause, r.text.saying[f.Clause].text}:
		default:
			g.Log.Warn("a response has more clauses than its synthesizer takes", "response", r.object.ID)
			r.cost.voiceErr = errTooManyClauses
			r.body.cancel()
		}
	case synthesis.Refuse:
		g.Log.Error("a clause came after the end of its response", "response", r.object.ID)
		delete(r.text.saying, f.Clause)
	case synthesis.CloseQueue:
		close(r.body.clauses)
	case synthesis.StopWorker:
		if r != nil && r.body != nil {
			r.body.cancel()
		}
	case synthesis.Wake:
		if r != nil {
			g.Player.Complete(r.track)
		}
	}
}
