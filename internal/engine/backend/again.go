package backend

// This file has engines behind connections that may break: an utterance goes on over another connection.

import (
	"context"
	"errors"
	"fmt"
)

// ErrLost: the connection to the engine broke during an utterance.
var ErrLost = errors.New("lost the connection")

// Reconnecting returns an engine that opens an utterance again, once, if a call of its stream returns an error that wraps ErrLost. The new
// stream gets the audio from the begin of the utterance. An utterance longer than 30 s is not opened again.
func Reconnecting(e Engine) Engine { return reconnecting{e} }

type reconnecting struct{ Engine }

// Open implements Engine.
func (r reconnecting) Open(ctx context.Context, c Config) (Stream, error) {
	s, err := r.Engine.Open(ctx, c)
	if errors.Is(err, ErrLost) && ctx.Err() == nil {
		s, err = r.Engine.Open(ctx, c)
	}
	if err != nil {
		return nil, err
	}
	return &again{Stream: s, engine: r.Engine, ctx: ctx, config: c}, nil
}

// again is a stream with a second try.
type again struct {
	Stream
	engine Engine
	ctx    context.Context //nolint:containedctx // the context of the utterance: the second stream begins in it
	config Config
	show   func(Update)
	sent   []float32 // the audio so far
	size   int       // samples so far; more than len(sent) if the utterance is too long for a second try
	tried  bool
}

// Announce implements Announcer.
func (s *again) Announce(show func(Update)) {
	s.show = show
	if a, ok := s.Stream.(Announcer); ok {
		a.Announce(show)
	}
}

// Feed implements Stream.
func (s *again) Feed(ctx context.Context, pcm []float32) (Update, error) {
	s.size += len(pcm)
	s.sent = append(s.sent, pcm[:min(len(pcm), maxReplay-len(s.sent))]...)
	u, err := s.Stream.Feed(ctx, pcm)
	if s.lost(err) {
		return s.second(ctx, err)
	}
	return u, err
}

// Finish implements Stream.
func (s *again) Finish(ctx context.Context) (Result, error) {
	r, err := s.Stream.Finish(ctx)
	if !s.lost(err) {
		return r, err
	}
	if _, err := s.second(ctx, err); err != nil {
		return Result{}, err
	}
	return s.Stream.Finish(ctx)
}

// lost reports whether an error is worth a second try.
func (s *again) lost(err error) bool {
	return errors.Is(err, ErrLost) && !s.tried && s.size == len(s.sent) && s.ctx.Err() == nil
}

// second opens another stream and gives it the audio so far. cause is why.
func (s *again) second(ctx context.Context, cause error) (u Update, err error) {
	s.tried = true
	_ = s.Stream.Close() // it has failed already
	next, err := s.engine.Open(s.ctx, s.config)
	if err != nil {
		s.Stream = closed{}
		return u, fmt.Errorf("%w; the second try: %w", cause, err)
	}
	s.Stream = next
	if s.show != nil {
		s.Announce(s.show)
	}
	for rest := s.sent; len(rest) > 0; {
		n := min(len(rest), slice)
		if u, err = next.Feed(ctx, rest[:n]); err != nil {
			return u, err
		}
		rest = rest[n:]
	}
	return u, nil
}

// closed stands for a stream that is gone.
type closed struct{}

func (closed) Feed(context.Context, []float32) (Update, error) { return Update{}, ErrLost }
func (closed) Finish(context.Context) (Result, error)          { return Result{}, ErrLost }
func (closed) Close() error                                    { return nil }
