package listening

// The recognition: the recogniser's stream for one turn or recording, on a goroutine of its own.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of one recognition.
const (
	maxWaiting = 6000             // frames of 10 ms that may wait for the recogniser: one minute
	finalAfter = 10 * time.Second // the longest wait for the text once the audio has ended; more where it came at once
)

// Frame is 10 ms of a user's audio: mono, at pipeline.InputRate. Nobody changes it.
type Frame struct {
	PCM    []float32
	Speech bool // the detector hears the user in it
}

// size returns the bytes of the frame.
func (f Frame) size() int64 { return 4 * int64(len(f.PCM)) }

// recognition is the recogniser's stream for one turn. write, closeInput and close belong to the session's goroutine; they do not block.
type recognition struct {
	turn      turn.ID
	whole     []int16             // the audio of a turn that is over, at room.InputRate; nil for one that goes on
	estimator endofturn.Estimator // belongs to the recognition's goroutine; nil: nothing estimates the end of the turn
	audio     chan Frame
	memory    *account.Account // for audio
	cancel    context.CancelFunc
	closed    bool
	ended     atomic.Bool // its goroutine reads no audio any more
}

// stage is what recognitions run on.
type stage struct {
	name        string          // pipeline.StageTranscriber or pipeline.StageRetranscriber: calls that hang count apart
	ctx         context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	env         env.Env
	workers     *sync.WaitGroup
	transcriber pipeline.Transcriber
	guard       *watchdog.Guard
	memory      *account.Account // for the audio that waits
}

// recognise opens a recognition for turn t. whole is its audio if the turn is over, nil for a live one; another without audio fails, because there was no
// memory for it. e estimates the end of the turn; nil for none. report takes its reports on the
// recognition's goroutine. The last report is Final, Failed or Refused, unless the recognition was closed.
func (st *stage) recognise(c pipeline.TranscribeConfig, t turn.ID, whole []int16, e endofturn.Estimator, report func(RecognitionEvent) bool) *recognition {
	ctx, cancel := context.WithCancel(st.ctx)
	r := &recognition{turn: t, whole: whole, estimator: e, audio: make(chan Frame, maxWaiting), memory: st.memory, cancel: cancel}
	if !c.Live {
		r.closeInput()
	}
	st.workers.Add(1)
	st.env.Go(func() {
		defer st.workers.Done()
		defer cancel()
		defer r.drain()
		var last RecognitionEvent
		err := st.guard.Run(ctx, st.name, func(w *watchdog.Watch) error {
			return r.run(ctx, &watchedStage{stage: st, watch: w}, c, func(e RecognitionEvent) error {
				return w.Deliver(func() error {
					if isLast(e) {
						last = e // it is reported when the stream is closed
						return nil
					}
					report(e)
					return nil
				})
			})
		})
		if err != nil && last == nil {
			last = Failed{t, err}
		}
		if ctx.Err() == nil {
			report(last)
		}
	})
	return r
}

// isLast reports whether no report follows e.
func isLast(e RecognitionEvent) bool {
	switch e.(type) {
	case Refused, Final, Failed, Recorded, Retranscribed:
		return true
	case Ready, Partial, Ending:
	}
	return false
}

// write gives a frame to the recogniser, which keeps it. It reports false when too much waits already: the recognition is of no use any more.
func (r *recognition) write(f Frame) bool {
	if r.closed || r.ended.Load() {
		return true
	}
	if r.memory.Take(f.size()) != nil {
		return false
	}
	select {
	case r.audio <- f:
		return true
	default:
		r.memory.Give(f.size())
		return false
	}
}

// drain drops the frames that nobody waits for any more. The close of the session gives back a frame that comes at this moment.
func (r *recognition) drain() {
	r.ended.Store(true)
	for range len(r.audio) {
		f := <-r.audio
		r.memory.Give(f.size())
	}
}

// closeInput says that the turn's audio has ended.
func (r *recognition) closeInput() {
	if !r.closed {
		r.closed = true
		close(r.audio)
	}
}

// close gives the recognition up. It reports nothing after that.
func (r *recognition) close() {
	r.cancel()
	r.closeInput()
}

// watchedStage is a stage whose calls have limits.
type watchedStage struct {
	*stage
	watch *watchdog.Watch
}

func (st *watchedStage) within(limit time.Duration, what string, call func() error) error {
	st.watch.Expect(what, limit)
	defer st.watch.Rest()
	return call()
}

func (st *watchedStage) write(stream pipeline.Transcription, pcm []float32) error {
	return st.within(st.guard.Limits.Write, "writing audio", func() error { return stream.Write(pcm) })
}

// run follows the stream up to its last report. It returns an error only when the session does not want the reports any more.
func (r *recognition) run(ctx context.Context, st *watchedStage, c pipeline.TranscribeConfig, report func(RecognitionEvent) error) error {
	life, leave := context.WithCancel(ctx)
	defer leave()
	var stream pipeline.Transcription
	err := account.ErrFull
	if c.Live || r.whole != nil {
		err = st.within(st.guard.Limits.Open, "opening a transcription", func() (err error) {
			stream, err = st.transcriber.Open(life, c)
			return err
		})
	}
	switch {
	case errors.Is(err, pipeline.ErrNoLive):
		return report(Refused{r.turn})
	case err != nil:
		return report(Failed{r.turn, err})
	}
	defer func() {
		leave()
		_ = st.within(st.guard.Limits.Close, "closing a transcription", stream.Close) // it only joins: an error was a result
	}()
	if c.Live {
		if err := report(Ready{r.turn}); err != nil {
			return err
		}
	}
	if err := r.feed(st, stream); err != nil {
		return report(Failed{r.turn, err})
	}
	return r.follow(ctx, st, stream, report)
}

// follow carries audio to the stream and its results to report, up to the last result.
func (r *recognition) follow(ctx context.Context, st *watchedStage, stream pipeline.Transcription, report func(RecognitionEvent) error) error {
	var late chan struct{} // closed when the text is late; nil before the audio has ended
	audio := r.audio
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return report(Failed{r.turn, errLate})
		case frame, more := <-audio:
			r.memory.Give(frame.size())
			var err error
			if !more {
				audio = nil
				late = make(chan struct{})
				timer := st.env.AfterFunc(finalAfter+time.Duration(len(r.whole))*time.Second/room.InputRate, func() { close(late) })
				defer timer.Stop()
				err = st.within(st.guard.Limits.Write, "closing the input", stream.CloseInput)
			} else if err = st.write(stream, frame.PCM); errors.Is(err, pipeline.ErrOverrun) {
				err = errOverrun
			}
			if err != nil {
				return report(Failed{r.turn, err})
			}
			if err := r.estimate(frame, report); err != nil {
				return err
			}
		case result, more := <-stream.Results():
			switch {
			case !more:
				return report(Failed{r.turn, errNoText})
			case result.Err != nil:
				return report(Failed{r.turn, result.Err})
			case result.Final:
				return report(Final{r.turn, result.Text, result.Words, result.EOU})
			}
			if err := r.partial(result, report); err != nil {
				return err
			}
		}
	}
}

// partial reports a partial result, and what it says about the end of the turn.
func (r *recognition) partial(result pipeline.TranscriptResult, report func(RecognitionEvent) error) error {
	if err := report(Partial{r.turn, result.Partial, result.EOU}); err != nil || r.estimator == nil {
		return err
	}
	if p, due := r.estimator.Text(result.Partial, result.Through); due {
		return report(Ending{r.turn, p})
	}
	return nil
}

// estimate reports what a frame says about the end of the turn.
func (r *recognition) estimate(f Frame, report func(RecognitionEvent) error) error {
	if r.estimator == nil || len(f.PCM) != voice.FrameSize {
		return nil
	}
	if p, due := r.estimator.Frame(f.PCM, f.Speech); due {
		return report(Ending{r.turn, p})
	}
	return nil
}

// feed gives the whole of a turn that is over to the recogniser.
func (r *recognition) feed(st *watchedStage, stream pipeline.Transcription) error {
	if r.whole == nil {
		return nil
	}
	return eachPiece(r.whole, func(pcm []float32) error { return st.write(stream, pcm) })
}

// forStages returns audio at room.InputRate as stages of the pipeline take it, at pipeline.InputRate.
func forStages(pcm []int16) (all []float32, err error) {
	err = eachPiece(pcm, func(piece []float32) error {
		all = append(all, piece...)
		return nil
	})
	return all, err
}

// eachPiece gives the same to take in pieces.
func eachPiece(pcm []int16, take func([]float32) error) error {
	down, err := voice.NewResampler(room.InputRate, pipeline.InputRate)
	if err != nil {
		return err
	}
	var out []float32
	for piece := range slices.Chunk(pcm, room.InputRate/10) {
		out = down.AppendFloats(out[:0], piece)
		if err := take(out); err != nil {
			return err
		}
	}
	return take(down.Flush(out[:0]))
}
