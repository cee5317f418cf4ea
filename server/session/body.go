package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/fault"
	"github.com/antiphon-rt/antiphon/server/session/output"
)

// Limits of one response's body.
const (
	maxClauses = 1024 // clauses that may wait for the voice
)

// What a body reports. The order of one body's reports is theirs; bodyOver is the last.
type (
	bodyDelta struct {
		id response.ID
		ev pipeline.ModelEvent
	}
	bodyTextEnded struct {
		id    response.ID
		usage pipeline.Usage
		err   error
	}
	bodyAudio struct {
		id     response.ID
		clause uint32
		pcm    []int16
	}
	bodyClauseSaid struct {
		id     response.ID
		clause uint32
	}
	bodyVoiceEnded struct {
		id  response.ID
		err error
	}
	bodyOver struct{ id response.ID }
)

// clause is one piece of text for the voice.
type clause struct {
	n    uint32
	text string
}

var errBodyEnds = errors.New("the session has ended")

// body generates one response: the model writes, the voice says it, each on a goroutine of its own.
type body struct {
	id      response.ID
	cancel  context.CancelFunc
	clauses chan clause
	credit  *output.Credit
	waits   context.Context    //nolint:containedctx // ends when nobody will hear it: credit is not waited for any more
	free    context.CancelFunc // ends waits
}

// startBody runs the model on request; what is to be said comes back through clauses, which the session fills and closes.
// delivers: the body ends when its audio is on its way, since that goes out as events of the response.
func startBody(
	ctx context.Context, wg *sync.WaitGroup, p *pipeline.Pipeline, id response.ID,
	request pipeline.Request, voice pipeline.Utterance, delivers bool, post func(any) bool,
) *body {
	ctx, cancel := context.WithCancel(ctx)
	b := &body{id: id, cancel: cancel, clauses: make(chan clause, maxClauses), credit: output.NewCredit()}
	b.waits, b.free = context.WithCancel(ctx)
	var both sync.WaitGroup
	both.Go(func() {
		var usage pipeline.Usage
		err := fault.Contain(pipeline.StageModel, func() (err error) {
			usage, err = p.Model.Generate(ctx, request, func(ev pipeline.ModelEvent) error {
				if !post(bodyDelta{id, ev}) {
					return errBodyEnds
				}
				return ctx.Err()
			})
			return err
		})
		post(bodyTextEnded{id, usage, err})
	})
	both.Go(func() {
		err := fault.Contain(pipeline.StageSynthesizer, func() error { return b.say(ctx, p.Synthesizer, voice, post) })
		post(bodyVoiceEnded{id, err})
	})
	wg.Go(func() {
		both.Wait()
		if delivers {
			_ = b.credit.Room.Acquire(b.waits, output.LookAhead) // all of it is back, or nobody waits for the rest
		}
		cancel()
		post(bodyOver{id})
	})
	return b
}

// say speaks the clauses one after the other until they end.
func (b *body) say(ctx context.Context, s pipeline.Synthesizer, voice pipeline.Utterance, post func(any) bool) error {
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
		voice.Text = c.text
		err := s.Synthesize(ctx, voice, func(pcm []int16) error { return b.sound(ctx, c.n, pcm, post) })
		if err != nil {
			return err
		}
		post(bodyClauseSaid{b.id, c.n})
	}
}

// sound passes on audio of clause n as there is room for it. A synthesizer that does not keep to pipeline.MaxChunk would
// wait for ever for room that there cannot be, so its audio is cut.
func (b *body) sound(ctx context.Context, n uint32, pcm []int16, post func(any) bool) error {
	for piece := range slices.Chunk(pcm, pipeline.MaxChunk) {
		if err := b.credit.Room.Acquire(b.waits, int64(len(piece))); err != nil && ctx.Err() != nil {
			return err
		}
		if !post(bodyAudio{b.id, n, slices.Clone(piece)}) {
			return errBodyEnds
		}
	}
	return nil
}
