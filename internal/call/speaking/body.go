package speaking

// The goroutines of one response: the model writes text, the synthesizer speaks it. They post their results to the
// session and never touch a Response.

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxClauses is how many clauses may wait for the synthesizer.
const maxClauses = 1024

// Event is a report of a body: one of Delta, StepEnded, TextEnded, Audio, ClauseSaid, SynthesisEnded, DraftFailed, BodyOver, ToolSlow, ToolEnded. The
// events of one body come in the order in which it made them; BodyOver is the last. A tool of the server may end after the body.
//
//sumtype:decl
type Event interface{ event() }

type (
	// Delta is a piece of the model's output.
	Delta struct {
		ID    response.ID
		Event pipeline.ModelEvent
	}
	// TextEnded: the model has ended.
	TextEnded struct {
		ID    response.ID
		Usage pipeline.Usage
		Err   error
	}
	// Audio is a piece of a clause's audio, at 24 kHz. From and To are the part of it that is not silent; zero if all is.
	Audio struct {
		ID       response.ID
		Clause   uint32
		PCM      []int16
		From, To int
	}
	// ClauseSaid: all audio of Clause has been generated.
	ClauseSaid struct {
		ID     response.ID
		Clause uint32
	}
	// SynthesisEnded: the synthesizer has ended.
	SynthesisEnded struct {
		ID  response.ID
		Err error
	}
	// DraftFailed: the model of draft Gen has failed.
	DraftFailed struct{ Gen uint32 }
	// BodyOver: the goroutines have ended.
	BodyOver struct{ ID response.ID }
)

func (Delta) event()          {}
func (TextEnded) event()      {}
func (Audio) event()          {}
func (ClauseSaid) event()     {}
func (SynthesisEnded) event() {}
func (DraftFailed) event()    {}
func (BodyOver) event()       {}

// clause is one piece of text for the synthesizer.
type clause struct {
	n    uint32
	text string
}

var errSessionEnded = errors.New("the session has ended")

// body is the session's handle of the goroutines of one response.
type body struct {
	id      response.ID
	cancel  context.CancelFunc
	clauses chan clause
	credit  *Credit
	unheard context.Context    //nolint:containedctx // ends when the audio will not be played: then the body does not wait for credit
	drop    context.CancelFunc // ends unheard
	more    chan order         // the next step of the model; closed if there is none

	never bool // no goroutines ever ran
	due   bool // BodyOver must be reported in place of the goroutines
}

// noBody stands for a body that never began.
func noBody(of response.ID) *body {
	return &body{id: of, cancel: func() {}, drop: func() {}, never: true, due: true}
}

// order says what a body has to generate.
type order struct {
	id      response.ID
	request pipeline.Request
	speech  pipeline.Utterance
	tokens  int // those of the request
	// tools are the tools of the server that the request offers.
	tools map[string]bool
	// certain is closed when the end of the turn is final: the body passes on no call of a tool before. nil: it is final.
	certain <-chan struct{}
	// delivers lets the body end only when its audio is sent, since the audio goes out as events of the response.
	delivers bool
}

// stages has the stages that a body calls, and the guard that bounds the calls.
type stages struct {
	*pipeline.Pipeline
	guard *watchdog.Guard
}

// startBody starts the goroutines. The clauses to speak come through body.clauses, which the session fills and closes. post
// takes the body's events; it reports false when the session has ended.
func startBody(ctx context.Context, workers *env.Group, p stages, o order, post func(Event) bool) *body {
	ctx, cancel := context.WithCancel(ctx)
	b := &body{id: o.id, cancel: cancel, clauses: make(chan clause, maxClauses), credit: &Credit{Room: semaphore.NewWeighted(LookAhead)}, more: make(chan order, 1)}
	b.unheard, b.drop = context.WithCancel(ctx)
	ended := make(chan struct{}, 2)
	workers.Go(func() {
		defer func() { ended <- struct{}{} }()
		usage, err := p.answer(ctx, o, b.more, post)
		post(TextEnded{o.id, usage, err})
	})
	workers.Go(func() {
		defer func() { ended <- struct{}{} }()
		err := p.guard.Run(ctx, pipeline.StageSynthesizer, func(w *watchdog.Watch) error {
			return b.say(ctx, p, w, o.speech, post)
		})
		post(SynthesisEnded{o.id, err})
	})
	workers.Go(func() {
		<-ended
		<-ended
		if o.delivers {
			_ = b.credit.Room.Acquire(b.unheard, LookAhead) // all credit is back, or the rest will not be played
		}
		cancel()
		post(BodyOver{o.id})
	})
	return b
}

// answer lets the model write its answer, and returns the tokens that it used. After each step in which the model calls tools of the server,
// answer waits for the next step.
func (p stages) answer(ctx context.Context, o order, more <-chan order, post func(Event) bool) (total pipeline.Usage, err error) {
	for {
		calls := false
		used, err := p.write(ctx, o, func(e Event) bool {
			if d, is := e.(Delta); is {
				c, done := d.Event.(pipeline.ToolCallDone)
				calls = calls || done && o.tools[c.Name]
				if !o.mayPass(ctx, d.Event) {
					return false
				}
			}
			return post(e)
		})
		total.InputTokens += used.InputTokens
		total.OutputTokens += used.OutputTokens
		if err != nil || !calls {
			return total, err
		}
		post(StepEnded{o.id})
		var goesOn bool
		select {
		case <-ctx.Done():
			return total, ctx.Err()
		case o, goesOn = <-more:
		}
		if !goesOn {
			return total, nil
		}
	}
}

// mayPass waits, where ev is of a call of a tool, until the end of the turn is final. It reports false if ctx ends before.
func (o *order) mayPass(ctx context.Context, ev pipeline.ModelEvent) bool {
	switch ev.(type) {
	case pipeline.ToolCallDelta, pipeline.ToolCallDone:
	default:
		return true
	}
	if o.certain == nil {
		return true
	}
	select {
	case <-o.certain:
		return true
	case <-ctx.Done():
		return false
	}
}

// write lets the model write its answer, and returns the tokens that it used.
func (p stages) write(ctx context.Context, o order, post func(Event) bool) (pipeline.Usage, error) {
	return p.guard.Generate(ctx, p.Model, o.request, func(ev pipeline.ModelEvent) error {
		if !post(Delta{o.id, ev}) {
			return errSessionEnded
		}
		return nil
	})
}

// say speaks the clauses one after the other until they end.
func (b *body) say(ctx context.Context, p stages, w *watchdog.Watch, speech pipeline.Utterance, post func(Event) bool) error {
	speakable := p.Reader()
	for {
		var c clause
		var more bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, more = <-b.clauses:
		}
		if !more {
			return nil
		}
		if speech.Text = speakable(c.text); speech.Text != "" {
			err := p.guard.Synthesize(ctx, w, p.Synthesizer, speech, func(pcm []int16) error { return b.sound(ctx, w, c.n, pcm, post) })
			if err != nil {
				return err
			}
		}
		if err := w.Deliver(func() error { post(ClauseSaid{b.id, c.n}); return nil }); err != nil {
			return err
		}
	}
}

// sound passes on audio of clause n as its credit allows. A synthesizer that does not keep to pipeline.MaxChunk would
// wait for more credit than there is, so its audio is cut into pieces.
func (b *body) sound(ctx context.Context, w *watchdog.Watch, n uint32, pcm []int16, post func(Event) bool) error {
	for piece := range slices.Chunk(pcm, pipeline.MaxChunk) {
		if err := b.credit.Room.Acquire(b.unheard, int64(len(piece))); err != nil && ctx.Err() != nil {
			return err
		}
		if err := w.Deliver(func() error {
			from, to := soundingPart(piece)
			if !post(Audio{b.id, n, slices.Clone(piece), from, to}) {
				return errSessionEnded
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
