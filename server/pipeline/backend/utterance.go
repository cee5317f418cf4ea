package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxReplay is the audio that is kept for a second try, in samples: one minute.
const maxReplay = 60 * pipeline.InputRate

// utterance is a Transcription in a process of a Pool.
type utterance struct {
	pool   *Pool
	ctx    context.Context //nolint:containedctx // the utterance's own life
	cancel func()
	config Config
	in     *queue
	out    *outbox

	running sync.WaitGroup
	once    sync.Once
	closed  chan struct{}

	// What follows belongs to run, after begin.
	proc  *process
	heard []float32 // fed so far, up to maxReplay
	tried bool      // the second try is used up
	ended bool      // the audio has ended
	watch *time.Timer
}

// Write implements pipeline.Transcription.
func (u *utterance) Write(pcm []float32) error { return u.in.write(pcm) }

// CloseInput implements pipeline.Transcription.
func (u *utterance) CloseInput() error {
	u.in.close()
	return nil
}

// Results implements pipeline.Transcription.
func (u *utterance) Results() <-chan pipeline.TranscriptResult { return u.out.results }

// Close implements pipeline.Transcription.
func (u *utterance) Close() error {
	u.once.Do(func() {
		u.in.close()
		u.cancel()
		close(u.closed)
	})
	u.running.Wait()
	return nil
}

// begin opens the utterance in a process.
func (u *utterance) begin(ctx context.Context) error {
	proc, err := u.pool.take(ctx)
	if err != nil {
		return err
	}
	u.proc = proc
	err = u.handshake(ctx)
	switch {
	case errors.Is(err, ErrUnimplemented), errors.Is(err, errEngine):
		u.pool.giveBack(proc)
	case err != nil:
		u.pool.broken(proc, err)
	}
	if err != nil {
		u.proc = nil
	}
	return err
}

// errEngine is an utterance that failed in an engine that is fine.
var errEngine = errors.New("engine")

func (u *utterance) handshake(ctx context.Context) error {
	watch := u.proc.watch(u.pool.o.Hang)
	defer watch.Stop()
	if err := writeJSON(u.proc.in, kindConfig, u.config); err != nil {
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	f, err := u.proc.next(ctx)
	switch {
	case err != nil:
		return err
	case f.kind == kindReady:
		return nil
	case f.kind == kindUnimplemented:
		return fmt.Errorf("%w: %w: %s", pipeline.ErrNoLive, ErrUnimplemented, f.body)
	case f.kind == kindError:
		return fmt.Errorf("%w: %s", errEngine, f.body)
	}
	return fmt.Errorf("%w: frame %q in place of ready", ErrProtocol, byte(f.kind))
}

// run feeds the process until it has said its last word, and gives it back.
func (u *utterance) run() {
	defer u.pool.free.Release(1)
	defer u.cancel()
	err := u.converse()
	for err != nil && retry(err) && !u.tried && u.ctx.Err() == nil {
		u.tried = true
		u.pool.broken(u.proc, err)
		u.proc = nil
		if err = u.begin(u.ctx); err != nil {
			break
		}
		if err = u.replay(); err == nil {
			err = u.converse()
		}
	}
	u.in.close()
	switch {
	case u.proc == nil: // begin has dealt with it
	case err == nil || errors.Is(err, errEngine):
		u.pool.giveBack(u.proc)
	case u.ctx.Err() != nil && u.abandon():
		u.pool.giveBack(u.proc)
	default:
		u.pool.broken(u.proc, err)
	}
	if err != nil {
		if u.ctx.Err() != nil {
			err = context.Cause(u.ctx)
		}
		u.out.put(pipeline.TranscriptResult{Err: stage(err)})
	}
}

// replay gives a fresh process what the last one has heard.
func (u *utterance) replay() error {
	if u.watch != nil {
		u.watch.Stop()
		u.watch = nil
	}
	if len(u.heard) == maxReplay {
		return fmt.Errorf("%w: the utterance is too long to be tried again", errEngine)
	}
	if err := u.send(func() error { return writeAudio(u.proc.in, u.heard) }); err != nil {
		return err
	}
	if u.ended {
		return u.finish()
	}
	return nil
}

// send writes to the process, which is killed if it does not read.
func (u *utterance) send(write func() error) error {
	watch := u.proc.watch(u.pool.o.Hang)
	defer watch.Stop()
	if err := write(); err != nil {
		if u.proc.hung.Load() {
			return ErrHung
		}
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	return nil
}

// finish ends the audio; the result must come in time.
func (u *utterance) finish() error {
	u.ended = true
	err := u.send(func() error { return writeFrame(u.proc.in, kindEnd, nil) })
	u.watch = u.proc.watch(u.pool.o.Hang)
	return err
}

// converse feeds audio and takes what comes until the last result is out.
func (u *utterance) converse() error {
	defer func() {
		if u.watch != nil {
			u.watch.Stop()
		}
	}()
	buf := make([]float32, slice)
	for {
		if !u.ended {
			if err := u.feed(buf); err != nil {
				return err
			}
		}
		select {
		case f, ok := <-u.proc.frames:
			if !ok {
				return u.proc.why()
			}
			if last, err := u.heardFrom(f); last || err != nil {
				return err
			}
		case <-u.in.wake:
		case <-u.ctx.Done():
			return u.ctx.Err()
		}
	}
}

// feed gives the process what waits.
func (u *utterance) feed(buf []float32) error {
	for {
		n, end := u.in.read(buf)
		if end {
			return u.finish()
		}
		if n == 0 {
			return nil
		}
		u.heard = append(u.heard, buf[:min(n, maxReplay-len(u.heard))]...)
		if err := u.send(func() error { return writeAudio(u.proc.in, buf[:n]) }); err != nil {
			return err
		}
	}
}

// heardFrom takes one frame; last: the utterance is over.
func (u *utterance) heardFrom(f frame) (last bool, err error) {
	switch f.kind {
	case kindUpdate, kindFinal:
		var m message
		if err := json.Unmarshal(f.body, &m); err != nil {
			return false, fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		if f.kind == kindFinal {
			u.out.put(final(Result{Text: m.Text, Boundary: m.boundary(), Words: m.Words}))
			return true, nil
		}
		u.out.put(partial(Update{Partial: m.Text, Boundary: m.boundary()}))
		return false, nil
	case kindError:
		return false, fmt.Errorf("%w: %s", errEngine, f.body)
	case kindHello, kindConfig, kindReady, kindUnimplemented, kindAudio, kindEnd, kindAbandon, kindDropped:
	}
	return false, fmt.Errorf("%w: frame %q in an utterance", ErrProtocol, byte(f.kind))
}

// abandonPatience is how long a process may take to let go of an utterance that nobody wants.
const abandonPatience = 2 * time.Second

// abandon asks the process to forget the utterance and says whether it did, so that it can be kept.
func (u *utterance) abandon() bool {
	watch := u.proc.watch(abandonPatience)
	defer watch.Stop()
	if writeFrame(u.proc.in, kindAbandon, nil) != nil {
		return false
	}
	for f := range u.proc.frames {
		if f.kind == kindDropped {
			return true
		}
	}
	return false
}
