package speaking

// The work on a draft: the model writes and the synthesizer speaks the first clause while the end of the user's turn is not certain. The body
// that adopts the draft reads it as its model and its synthesizer.

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of what a draft keeps. At a limit its stage waits until a body adopts the draft.
const (
	keptEvents = 1024 // pieces of the model's output
	keptChunks = 512  // chunks of audio
)

// ahead is one draft. It is a pipeline.Model and a pipeline.Synthesizer for one body.
type ahead struct {
	stages
	order  order
	cancel context.CancelFunc

	text     chan pipeline.ModelEvent // what the model writes; closed at its end
	usage    pipeline.Usage           // valid after the end of text, like modelErr
	modelErr error
	read     atomic.Bool // a body has read the text

	mu       sync.Mutex
	clause   chan pipeline.Utterance // gets the first clause as the synthesizer gets it, or is closed without one
	speaks   pipeline.Utterance      // the same; its Text is empty before that
	sound    chan []int16            // its audio; closed at its end
	voiceErr error                   // valid after the end of sound
	splitter *pipeline.Clauses       // nil when the first clause is known, or is not to be spoken
	plain    func(string) string     // turns a clause into what the synthesizer gets
}

// startAhead begins a draft for order o. failed is called at most once, on another goroutine, when the model fails. The draft ends with ctx or cancel.
func startAhead(ctx context.Context, workers *env.Group, p stages, o order, failed func()) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	d := &ahead{
		stages: p, order: o, cancel: cancel, text: make(chan pipeline.ModelEvent, keptEvents), clause: make(chan pipeline.Utterance, 1),
		sound: make(chan []int16, keptChunks), plain: p.Reader(),
	}
	if o.request.Spoken {
		d.splitter = pipeline.NewClauses()
	}
	workers.Go(func() {
		defer close(d.text)
		defer close(d.clause)
		d.usage, d.modelErr = p.write(ctx, o, func(e Event) bool { return d.keep(ctx, e) })
		d.first(d.rest())
		if d.modelErr != nil && !errors.Is(d.modelErr, pipeline.ErrMaxTokens) && ctx.Err() == nil {
			failed()
		}
	})
	workers.Go(func() {
		defer close(d.sound)
		d.voiceErr = d.say(ctx)
	})
	return d
}

// keep takes a piece of the model's output. It waits while too many are kept, and reports false when the draft has ended.
func (d *ahead) keep(ctx context.Context, e Event) bool {
	delta, is := e.(Delta)
	if !is {
		return true
	}
	if t, is := delta.Event.(pipeline.TextDelta); is && d.splitter != nil {
		d.first(d.splitter.Push(t.Text))
	}
	select {
	case d.text <- delta.Event:
		return true
	case <-ctx.Done():
		return false
	}
}

// rest returns the clauses of a text that has ended before its first clause was known.
func (d *ahead) rest() []string {
	if d.splitter == nil {
		return nil
	}
	return d.splitter.Flush()
}

// first lets the synthesizer speak the first clause, once it is known.
func (d *ahead) first(clauses []string) {
	if len(clauses) == 0 {
		return
	}
	d.splitter = nil
	said := d.order.speech
	said.Text = d.plain(clauses[0])
	d.mu.Lock()
	d.speaks = said
	d.mu.Unlock()
	d.clause <- said
}

// say speaks the first clause.
func (d *ahead) say(ctx context.Context) error {
	var said pipeline.Utterance
	select {
	case said = <-d.clause:
	case <-ctx.Done():
		return ctx.Err()
	}
	if said.Text == "" {
		return nil
	}
	return d.guard.Run(ctx, pipeline.StageSynthesizer, func(w *watchdog.Watch) error {
		return d.guard.Synthesize(ctx, w, d.Pipeline.Synthesizer, said, func(pcm []int16) error {
			return w.Deliver(func() error {
				select {
				case d.sound <- slices.Clone(pcm):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
		})
	})
}

// Generate implements pipeline.Model: it returns what the draft's model has written and goes on to write. The request is that of the draft. The
// draft ends with ctx. Each further request goes to the pipeline's model.
func (d *ahead) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	if d.read.Swap(true) {
		return d.Pipeline.Model.Generate(ctx, r, emit)
	}
	context.AfterFunc(ctx, d.cancel)
	for {
		select {
		case <-ctx.Done():
			return pipeline.Usage{}, ctx.Err()
		case e, more := <-d.text:
			if !more {
				return d.usage, d.modelErr
			}
			if err := emit(e); err != nil {
				return pipeline.Usage{}, err
			}
		}
	}
}

// Synthesize implements pipeline.Synthesizer: it returns the audio of the draft for the first clause. The pipeline's synthesizer speaks every other
// clause, and the first one too where it has failed before any audio.
func (d *ahead) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if !d.takeFirst(u) {
		return d.Pipeline.Synthesizer.Synthesize(ctx, u, emit)
	}
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case pcm, more := <-d.sound:
			switch {
			case more:
				if err := emit(pcm); err != nil {
					return err
				}
			case d.voiceErr != nil && n == 0:
				return d.Pipeline.Synthesizer.Synthesize(ctx, u, emit)
			default:
				return d.voiceErr
			}
		}
	}
}

// takeFirst reports whether u is the clause that the draft speaks. It does so once.
func (d *ahead) takeFirst(u pipeline.Utterance) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.speaks.Text == "" || u != d.speaks {
		return false
	}
	d.speaks = pipeline.Utterance{}
	return true
}

// adopted returns the stages of the body that adopts the draft.
func (d *ahead) adopted() stages {
	p := *d.Pipeline
	p.Model, p.Synthesizer = d, d
	return stages{&p, d.guard}
}

// answers reports whether the draft answers order o: the voice is the same, and so is the model's input but for the capitals and the
// punctuation of the user's last words.
func (d *ahead) answers(o order) bool {
	a, b := d.order.request, o.request
	n := len(a.Messages) - 1
	if d.order.speech != o.speech || n < 0 || len(b.Messages) != n+1 || words(a.Messages[n].Text) != words(b.Messages[n].Text) {
		return false
	}
	a.Messages = slices.Clone(a.Messages)
	a.Messages[n].Text = b.Messages[n].Text
	return reflect.DeepEqual(a, b)
}

// words returns a text in lower case without punctuation.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '\''
	}), " ")
}
