package backend

// This file has recognisers whose engine runs in this process.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	slice     = pipeline.InputRate / 10 // samples that an engine gets at a time: 100 ms
	maxQueued = 30 * pipeline.InputRate // samples that may wait for an engine: 30 s
	// maxWhole is the limit for an utterance without partial results, in samples: 6 minutes. The server has the whole utterance
	// and writes it at once; the input buffer of a session has 5 minutes.
	maxWhole = 6 * 60 * pipeline.InputRate
)

// InProcess returns a recogniser whose engine runs in this process. The engine must allow several utterances at a time. The caller
// closes the engine.
func InProcess(e Engine) pipeline.Transcriber { return &inProcess{engine: e} }

type inProcess struct{ engine Engine }

// Scores implements pipeline.WordScorer.
func (p *inProcess) Scores() bool { return p.engine.Info().Probs }

// ReportsEnds implements pipeline.EndReporter.
func (p *inProcess) ReportsEnds() bool { return p.engine.Info().Ends }

// NegotiateConfig implements pipeline.ConfigNegotiator.
func (p *inProcess) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	c.Words = c.Words && p.engine.Info().Times
	return c, nil
}

// Open implements pipeline.Transcriber.
func (p *inProcess) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	ctx, cancel := context.WithCancel(ctx)
	s, err := p.engine.Open(ctx, Config{Model: c.Model, Language: c.Language, Prompt: c.Prompt, Live: c.Live, Words: c.Words})
	if err != nil {
		cancel()
		if errors.Is(err, ErrUnimplemented) {
			err = fmt.Errorf("%w: %w", pipeline.ErrNoLive, err)
		}
		return nil, wrap(pipeline.StageTranscriber, err)
	}
	l := &local{recognition: newRecognition(c.Live, cancel), ctx: ctx, stream: s, live: c.Live}
	if a, ok := s.(Announcer); ok && c.Live {
		a.Announce(func(u Update) { l.out.put(partial(u)) })
	}
	l.running.Go(l.out.run)
	l.running.Go(l.run)
	return l, nil
}

// local is a Transcription of an engine in this process.
type local struct {
	recognition
	ctx    context.Context
	stream Stream
	live   bool
}

// run feeds the stream until the input ends, finishes it, and puts the last result into the outbox.
func (l *local) run() {
	defer l.cancel()
	r, err := l.feed()
	if e := l.stream.Close(); err == nil {
		err = e
	}
	if cause := context.Cause(l.ctx); err != nil && cause != nil {
		err = cause
	}
	l.in.close()
	if err != nil {
		l.out.put(pipeline.TranscriptResult{Err: wrap(pipeline.StageTranscriber, err)})
		return
	}
	l.out.put(final(r))
}

// final returns the last result of a transcription, without marks.
func final(r Result) pipeline.TranscriptResult {
	text, said := WithoutMarks(r.Text, true)
	r.Text = text
	if r.Boundary == NoBoundary {
		r.Boundary = said
	}
	t := pipeline.TranscriptResult{
		Final: true, Text: r.Text, Partial: r.Text, EOU: r.Boundary == EndOfUtterance, Backchannel: r.Boundary == EndOfBackchannel,
	}
	for _, w := range r.Words {
		if w.Text, _ = WithoutMarks(w.Text, true); w.Text == "" {
			continue
		}
		t.Words = append(t.Words, pipeline.Word{
			Text: w.Text, Start: time.Duration(w.StartMS) * time.Millisecond, End: time.Duration(w.EndMS) * time.Millisecond,
			Speaker: w.Speaker, Prob: w.Prob,
		})
	}
	return t
}

// feed gives the audio of the queue to the stream, and returns the result at the end of the input.
func (l *local) feed() (Result, error) {
	var shown Update
	buf := make([]float32, slice)
	for {
		n, end := l.in.read(buf)
		switch {
		case end:
			return l.stream.Finish(l.ctx)
		case n == 0:
			select {
			case <-l.in.wake:
			case <-l.ctx.Done():
				return Result{}, l.ctx.Err()
			}
			continue
		}
		u, err := l.stream.Feed(l.ctx, buf[:n])
		if err != nil {
			return Result{}, err
		}
		if l.live && u != shown {
			l.out.put(partial(u))
			shown = Update{Partial: u.Partial, Through: u.Through}
		}
	}
}

// partial returns a partial result of a transcription, without marks.
func partial(u Update) pipeline.TranscriptResult {
	text, said := WithoutMarks(u.Partial, false)
	u.Partial = text
	if u.Boundary == NoBoundary {
		u.Boundary = said
	}
	return pipeline.TranscriptResult{
		Partial: u.Partial, Through: u.Through, EOU: u.Boundary == EndOfUtterance, Backchannel: u.Boundary == EndOfBackchannel,
	}
}
