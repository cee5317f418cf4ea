package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxReplay is the audio that is kept for a second try, in samples: half a minute.
const maxReplay = 30 * pipeline.InputRate

// utterance is a Transcription in a process of a Pool.
type utterance struct {
	pool   *Pool
	ctx    context.Context //nolint:containedctx // the utterance's own life
	cancel func()
	leave  func() // the pool waits for it
	config Config
	in     *queue
	out    *outbox

	running sync.WaitGroup
	once    sync.Once
	closed  chan struct{}

	// What follows belongs to run, after begin.
	proc  *process
	heard []float32 // fed so far, up to maxReplay
	fed   int       // samples fed so far
	ended bool      // the audio has ended, and the process knows
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

// begin opens the utterance in a process. One that has died since its last utterance costs a second try.
func (u *utterance) begin() error {
	err := u.open()
	if err != nil && retry(err) && u.ctx.Err() == nil {
		err = u.open()
	}
	return err
}

func (u *utterance) open() error {
	ctx := u.ctx
	proc, err := u.pool.take(ctx)
	if err != nil {
		return err
	}
	u.proc = proc
	err = u.handshake()
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

func (u *utterance) handshake() error {
	if err := u.send(func(w io.Writer) error { return writeJSON(w, kindConfig, u.config) }); err != nil {
		return err
	}
	watch := u.proc.watch(u.pool.o.Hang)
	defer watch.Stop()
	f, err := u.proc.next(u.ctx)
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
	defer u.leave()
	defer u.pool.free.Release(1)
	err := u.converse()
	if err != nil && retry(err) && u.ctx.Err() == nil {
		u.pool.broken(u.proc, err)
		u.proc = nil
		if err = u.again(); err == nil {
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

// again opens the utterance in another process, which gets what the last one has heard.
func (u *utterance) again() error {
	if len(u.heard) == maxReplay {
		return fmt.Errorf("%w: the utterance is too long to be tried again", ErrCrashed)
	}
	if err := u.begin(); err != nil {
		return err
	}
	u.in.unread(u.heard)
	u.heard, u.fed, u.ended = nil, 0, false
	return nil
}

// send writes to the process, which must read in time; less of it when the utterance is not wanted any more. After an error
// the process cannot be used: it may have read half a frame.
func (u *utterance) send(write func(io.Writer) error) error {
	late := time.Now().Add(u.pool.o.Hang)
	if err := u.proc.in.SetWriteDeadline(late); err != nil {
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	stop := context.AfterFunc(u.ctx, func() {
		_ = u.proc.in.SetWriteDeadline(time.Now().Add(abandonPatience)) // it worked just now
	})
	defer stop()
	err := write(u.proc.in)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrHung
	}
	return fmt.Errorf("%w: %w", ErrCrashed, err)
}

// finish ends the audio; the result must come in time.
func (u *utterance) finish() error {
	u.ended = true
	return u.send(func(w io.Writer) error { return writeFrame(w, kindEnd, nil) })
}

// converse feeds audio and takes what comes until the last result is out. Between two slices it takes all that has come, so
// that a process which talks much never waits for us while we wait for it.
func (u *utterance) converse() error {
	buf := make([]float32, slice)
	late := time.NewTimer(u.pool.o.Hang)
	defer late.Stop()
	for {
		more, err := u.feed(buf)
		if err != nil {
			return err
		}
		late.Reset(u.patience()) // it has read, or said something
		last, err := u.listen(more, late.C)
		if last || err != nil {
			return err
		}
	}
}

// patience is how long the process may be silent. An engine may go over the whole utterance once more at its end, without a
// word in between: it gets a quarter of the utterance's length more.
func (u *utterance) patience() time.Duration {
	if !u.ended {
		return u.pool.o.Hang
	}
	return u.pool.o.Hang + time.Duration(u.fed)*time.Second/(4*pipeline.InputRate)
}

// listen takes the frames that have come. Without more audio to feed it waits for the next one.
func (u *utterance) listen(more bool, late <-chan time.Time) (last bool, err error) {
	if more {
		for {
			select {
			case f, ok := <-u.proc.frames:
				if last, err = u.frame(f, ok); last || err != nil {
					return last, err
				}
				continue
			default:
			}
			return false, u.ctx.Err()
		}
	}
	if !u.ended {
		late = nil // nothing is owed while nobody speaks
	}
	select {
	case f, ok := <-u.proc.frames:
		return u.frame(f, ok)
	case <-u.in.wake:
		return false, nil
	case <-late:
		return false, ErrHung
	case <-u.ctx.Done():
		return false, u.ctx.Err()
	}
}

func (u *utterance) frame(f frame, ok bool) (last bool, err error) {
	if !ok {
		return false, u.proc.why()
	}
	return u.heardFrom(f)
}

// feed gives the process the next slice of what waits, and says whether more may wait.
func (u *utterance) feed(buf []float32) (more bool, err error) {
	if u.ended {
		return false, nil
	}
	n, end := u.in.read(buf)
	if end {
		return false, u.finish()
	}
	if n == 0 {
		return false, nil
	}
	u.fed += n
	u.heard = append(u.heard, buf[:min(n, maxReplay-len(u.heard))]...)
	return true, u.send(func(w io.Writer) error { return writeAudio(w, buf[:n]) })
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
	if u.send(func(w io.Writer) error { return writeFrame(w, kindAbandon, nil) }) != nil {
		return false
	}
	watch := u.proc.watch(abandonPatience)
	defer watch.Stop()
	for f := range u.proc.frames {
		if f.kind == kindDropped {
			return true
		}
	}
	return false
}
