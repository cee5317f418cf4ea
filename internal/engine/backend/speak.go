package backend

// This file speaks clauses in back-end processes: the server's side.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of a clause.
const (
	maxClauseText  = 2000            // bytes
	maxClauseSound = 3 * time.Minute // of audio
)

// Synthesize implements pipeline.Synthesizer, in a process that serves a Speaker. It waits at most Busy for a process that is free, and at
// most Start for a new one. If the process crashes before the first audio, the clause is tried once more in another process.
func (p *Pool) Synthesize(ctx context.Context, u pipeline.Utterance, emit func(pcm []int16) error) error {
	if len(u.Text) > maxClauseText {
		return p.stage(fmt.Errorf("%w: %d bytes, the limit is %d", pipeline.ErrTooLong, len(u.Text), maxClauseText))
	}
	if !strings.ContainsFunc(u.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return nil
	}
	work, leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	c := &clause{pool: p, ctx: work, emit: emit, speech: Speech{Text: u.Text, Voice: u.Voice, Speed: u.Speed}}
	err = c.speak()
	if retry(err) && !c.heard && work.Err() == nil {
		err = c.speak()
	}
	done := func() {
		p.free.Release(1)
		leave()
	}
	if c.dropping == nil {
		done()
	} else {
		// The process still works on the clause. Nobody waits for it but Close.
		go func() {
			defer done()
			c.drop()
		}()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case c.refused != nil:
		return c.refused
	}
	return p.stage(err)
}

// clause is one clause in a process.
type clause struct {
	pool   *Pool
	ctx    context.Context //nolint:containedctx // it is the context of the clause, not of one call
	emit   func(pcm []int16) error
	speech Speech

	heard    bool     // emit was called
	refused  error    // the error of emit
	dropping *process // it still works on the clause, which nobody wants any more
}

func (c *clause) speak() error {
	proc, err := c.pool.take(c.ctx)
	if err != nil {
		return err
	}
	err = c.converse(proc)
	switch {
	case err == nil || errors.Is(err, errEngine):
		c.pool.giveBack(proc)
	case c.ctx.Err() != nil || c.refused != nil:
		c.dropping = proc
	default:
		c.pool.broken(proc, err)
	}
	return err
}

// converse sends the clause, and emits the audio that comes back.
func (c *clause) converse(proc *process) error {
	if err := c.send(proc, func(w io.Writer) error { return writeJSON(w, kindSpeech, c.speech) }); err != nil {
		return err
	}
	out, err := newSounds(proc.info.Rate, func(pcm []int16) error {
		c.heard = true
		c.refused = c.emit(pcm)
		return c.refused
	})
	if err != nil {
		return err
	}
	for {
		watch := proc.watch(c.pool.o.Hang)
		f, err := proc.next(c.ctx)
		watch.Stop()
		if err != nil {
			return err
		}
		switch f.kind {
		case kindSound:
			pcm, err := samplesOf(f.body)
			if err != nil {
				return err
			}
			if err := out.write(pcm); err != nil {
				return err
			}
		case kindSpoken:
			return out.flush()
		case kindError:
			return fmt.Errorf("%w: %s", errEngine, f.body)
		default:
			return fmt.Errorf("%w: frame %q in a clause", ErrProtocol, byte(f.kind))
		}
	}
}

// send writes to the process, which must read within Hang.
func (c *clause) send(proc *process, write func(io.Writer) error) error {
	if err := proc.in.SetWriteDeadline(time.Now().Add(c.pool.o.Hang)); err != nil {
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	return written(write(proc.in))
}

// drop tells the process to drop the clause. The process is kept if it does so within Hang, and replaced if not.
func (c *clause) drop() {
	proc := c.dropping
	if err := c.send(proc, func(w io.Writer) error { return writeFrame(w, kindAbandon, nil) }); err != nil {
		c.pool.broken(proc, err)
		return
	}
	watch := proc.watch(c.pool.o.Hang)
	defer watch.Stop()
	for f := range proc.frames {
		if f.kind == kindDropped {
			c.pool.giveBack(proc)
			return
		}
	}
	c.pool.broken(proc, proc.why())
}

var errRate = errors.New("the engine has no usable sample rate")

// sounds converts the audio of an engine to that of a pipeline.Synthesizer: its rate and its chunks.
type sounds struct {
	emit func(pcm []int16) error
	up   *voice.Resampler
	left int // samples that the engine may still send
	pcm  []float32
	out  []int16
}

func newSounds(rate int, emit func([]int16) error) (*sounds, error) {
	up, err := voice.NewResampler(rate, pipeline.OutputRate)
	if err != nil {
		return nil, fmt.Errorf("%w: %d: %w", errRate, rate, err)
	}
	return &sounds{emit: emit, up: up, left: rate * int(maxClauseSound/time.Second)}, nil
}

func (s *sounds) write(pcm []float32) error {
	if s.left -= len(pcm); s.left < 0 {
		return fmt.Errorf("%w: the clause has more than %s of audio", ErrProtocol, maxClauseSound)
	}
	return s.give(s.up.Append(s.pcm[:0], pcm))
}

func (s *sounds) flush() error { return s.give(s.up.Flush(s.pcm[:0])) }

// give emits audio at the rate of the pipeline. It keeps pcm for the next call.
func (s *sounds) give(pcm []float32) error {
	s.pcm, s.out = pcm, voice.FloatToPCM16(s.out[:0], pcm)
	for part := range slices.Chunk(s.out, pipeline.MaxChunk) {
		if err := s.emit(part); err != nil {
			return err
		}
	}
	return nil
}
