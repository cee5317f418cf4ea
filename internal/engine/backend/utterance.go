package backend

// This file runs one utterance in a back-end process.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxReplay limits the audio that is kept for a second try, in samples: 30 s.
const maxReplay = 30 * pipeline.InputRate

// utterance is a Transcription in a process of a Pool.
type utterance struct {
	recognition
	pool   *Pool
	ctx    context.Context //nolint:containedctx // it is the context of the utterance, not of one call
	leave  func()          // tells the pool that the utterance is over
	config Config

	// Only the goroutine of run uses the fields below, after begin.
	proc     *process
	sent     []float32 // the audio that the process has got, up to maxReplay samples
	sentSize int       // how many samples the process has got
	ended    bool      // the process was told that the audio has ended
}

// begin opens the utterance in a process. If the process has ended since its last utterance, begin tries another one.
func (u *utterance) begin() error {
	err := u.open()
	if err != nil && retry(err) && u.ctx.Err() == nil {
		err = u.open()
	}
	return err
}

// open takes a process from the pool and opens the utterance in it.
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
	case err != nil && errors.Is(err, u.ctx.Err()) && u.abandon(): // the caller has gone, and the process is as good as before
		u.pool.giveBack(proc)
	case err != nil:
		u.pool.broken(proc, err)
	}
	if err != nil {
		u.proc = nil
	}
	return err
}

// errEngine: the utterance has failed, and the process can be used for the next one.
var errEngine = errors.New("engine")

// handshake sends the configuration and waits until the process has opened the utterance.
func (u *utterance) handshake() error {
	if err := u.send(func(w io.Writer) error { return writeJSON(w, kindConfig, u.config) }); err != nil {
		return err
	}
	watch := u.proc.watch(u.opening())
	defer watch.Stop()
	f, err := u.proc.next(u.ctx)
	switch {
	case errors.Is(err, ErrHung):
		return fmt.Errorf("%w while it opened the utterance", err)
	case err != nil:
		return err
	case f.kind == kindReady:
		u.proc.timed = u.proc.timed || u.config.Words
		return nil
	case f.kind == kindUnimplemented:
		return fmt.Errorf("%w: %w: %s", pipeline.ErrNoLive, ErrUnimplemented, f.body)
	case f.kind == kindError:
		return fmt.Errorf("%w: %s", errEngine, f.body)
	}
	return fmt.Errorf("%w: frame %q in place of ready", ErrProtocol, byte(f.kind))
}

// opening returns how long the process may take to open the utterance. Its first one with times of words loads another model.
func (u *utterance) opening() time.Duration {
	if u.config.Words && !u.proc.timed {
		return max(u.pool.o.Hang, u.pool.o.Start)
	}
	return u.pool.o.Hang
}

// run feeds the process until the last result has come, and gives the process back to the pool.
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
	case u.proc == nil: // begin has given it back
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
		u.out.put(pipeline.TranscriptResult{Err: u.pool.stage(err)})
	}
}

// again opens the utterance in another process, which gets the audio from the begin.
func (u *utterance) again() error {
	if len(u.sent) == maxReplay {
		return fmt.Errorf("%w: the utterance is too long to be tried again", ErrCrashed)
	}
	if err := u.begin(); err != nil {
		return err
	}
	u.in.unread(u.sent)
	u.sent, u.sentSize, u.ended = nil, 0, false
	return nil
}

// send writes to the process. The process must read within Hang, and within abandonPatience after the utterance is cancelled.
// After an error the process cannot be used any more: it may have read half a frame.
func (u *utterance) send(write func(io.Writer) error) error {
	late := time.Now().Add(u.pool.o.Hang)
	if err := u.proc.in.SetWriteDeadline(late); err != nil {
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	shortened := make(chan struct{})
	stop := context.AfterFunc(u.ctx, func() {
		_ = u.proc.in.SetWriteDeadline(time.Now().Add(abandonPatience)) // does not fail: it succeeded above
		close(shortened)
	})
	defer func() {
		if !stop() {
			<-shortened // the process may get another utterance next, with deadlines of its own
		}
	}()
	return written(write(u.proc.in))
}

// written returns what the error of a write says of the process.
func written(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: it took no audio", ErrHung)
	}
	return fmt.Errorf("%w: %w", ErrCrashed, err)
}

// finish tells the process that the audio has ended.
func (u *utterance) finish() error {
	u.ended = true
	return u.send(func(w io.Writer) error { return writeFrame(w, kindEnd, nil) })
}

// converse feeds audio and handles frames until the last result has come. After each slice of audio it handles all frames that have
// come, so that the process and the server never wait for each other.
func (u *utterance) converse() error {
	buf := make([]float32, slice)
	late := time.NewTimer(u.pool.o.Hang)
	defer late.Stop()
	for {
		more, err := u.feed(buf)
		if err != nil {
			return err
		}
		late.Reset(u.patience()) // the process has read audio or sent a frame
		last, err := u.listen(more, late.C)
		if last || err != nil {
			return err
		}
	}
}

// patience returns how long the process may send nothing. At the end an engine may work on the whole utterance once more without
// sending anything: it gets a quarter of the length of the utterance in addition.
func (u *utterance) patience() time.Duration {
	if !u.ended {
		return u.pool.o.Hang
	}
	return u.pool.o.Hang + time.Duration(u.sentSize)*time.Second/(4*pipeline.InputRate)
}

// listen handles the frames that have come. If no audio waits, it waits for the next frame or for audio.
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
		late = nil // the process owes no answer while there is no new audio
	}
	select {
	case f, ok := <-u.proc.frames:
		return u.frame(f, ok)
	case <-u.in.wake:
		return false, nil
	case <-late:
		return false, fmt.Errorf("%w: no frame after the end of the audio", ErrHung)
	case <-u.ctx.Done():
		return false, u.ctx.Err()
	}
}

func (u *utterance) frame(f frame, ok bool) (last bool, err error) {
	if !ok {
		return false, u.proc.why()
	}
	return u.takeFrame(f)
}

// feed sends the next slice of waiting audio to the process, and reports whether more may wait.
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
	u.sentSize += n
	u.sent = append(u.sent, buf[:min(n, maxReplay-len(u.sent))]...)
	return true, u.send(func(w io.Writer) error { return writeAudio(w, kindAudio, buf[:n]) })
}

// takeFrame handles one frame. last: it has the final result.
func (u *utterance) takeFrame(f frame) (last bool, err error) {
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
		u.out.put(partial(Update{Partial: m.Text, Boundary: m.boundary(), Through: time.Duration(m.ThroughMS) * time.Millisecond}))
		return false, nil
	case kindError:
		return false, fmt.Errorf("%w: %s", errEngine, f.body)
	case kindHello, kindConfig, kindReady, kindUnimplemented, kindAudio, kindEnd, kindAbandon, kindDropped, kindSpeech,
		kindSound, kindSpoken:
	}
	return false, fmt.Errorf("%w: frame %q in an utterance", ErrProtocol, byte(f.kind))
}

// abandonPatience limits how long a process may take to drop a cancelled utterance.
const abandonPatience = 2 * time.Second

// abandon tells the process to drop the utterance. It reports whether the process has done so and can be used again.
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
