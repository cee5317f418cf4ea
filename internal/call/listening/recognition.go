package listening

// The recognition: the recogniser's stream for one turn or recording, on a goroutine of its own.

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
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

// recognition is the recogniser's stream for one turn. write, closeInput and close belong to the session's goroutine; they do not
// block.
type recognition struct {
	turn      turn.ID
	whole     []int16             // the audio of a turn that is over, at room.InputRate; nil for one that goes on
	estimator endofturn.Estimator // belongs to the recognition's goroutine; nil: nothing estimates the end of the turn
	audio     chan Frame
	cancel    context.CancelFunc
	closed    bool
}

// stage is what recognitions run on.
type stage struct {
	name        string          // pipeline.StageTranscriber or pipeline.StageRetranscriber: calls that hang count apart
	ctx         context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	env         env.Env
	workers     *sync.WaitGroup
	transcriber pipeline.Transcriber
	guard       *watchdog.Guard
}

// recognise opens a recognition for turn t. whole is its audio if the turn is over, nil otherwise. e
// estimates the end of the turn; nil for none. report takes its reports on the
// recognition's goroutine. The last report is Final, Failed or Refused, unless the recognition was closed.
func (st *stage) recognise(c pipeline.TranscribeConfig, t turn.ID, whole []int16, e endofturn.Estimator, report func(RecognitionEvent) bool) *recognition {
	ctx, cancel := context.WithCancel(st.ctx)
	r := &recognition{turn: t, whole: whole, estimator: e, audio: make(chan Frame, maxWaiting), cancel: cancel}
	if !c.Live {
		r.closeInput()
	}
	st.workers.Add(1)
	st.env.Go(func() {
		defer st.workers.Done()
		defer cancel()
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

// write gives a frame to the recogniser, which keeps it. It reports false when too much waits already:
// the recognition is of no use any more.
func (r *recognition) write(f Frame) bool {
	if r.closed {
		return true
	}
	select {
	case r.audio <- f:
		return true
	default:
		return false
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

func (st *watchedStage) open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	st.watch.Expect("opening a transcription", st.guard.Limits.Open)
	defer st.watch.Rest()
	return st.transcriber.Open(ctx, c)
}

func (st *watchedStage) write(stream pipeline.Transcription, pcm []float32) error {
	st.watch.Expect("writing audio", st.guard.Limits.Write)
	defer st.watch.Rest()
	return stream.Write(pcm)
}

func (st *watchedStage) closeInput(stream pipeline.Transcription) error {
	st.watch.Expect("closing the input", st.guard.Limits.Write)
	defer st.watch.Rest()
	return stream.CloseInput()
}

func (st *watchedStage) close(stream pipeline.Transcription) {
	st.watch.Expect("closing a transcription", st.guard.Limits.Close)
	defer st.watch.Rest()
	_ = stream.Close() // it only joins: an error was a result
}

// run follows the stream up to its last report. It returns an error only when the session does not want the reports any more.
func (r *recognition) run(ctx context.Context, st *watchedStage, c pipeline.TranscribeConfig, report func(RecognitionEvent) error) error {
	life, leave := context.WithCancel(ctx)
	defer leave()
	stream, err := st.open(life, c)
	switch {
	case errors.Is(err, pipeline.ErrNoLive):
		return report(Refused{r.turn})
	case err != nil:
		return report(Failed{r.turn, err})
	}
	defer func() {
		leave()
		st.close(stream)
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
			var err error
			if !more {
				audio = nil
				late = make(chan struct{})
				timer := st.env.AfterFunc(finalAfter+time.Duration(len(r.whole))*time.Second/room.InputRate, func() { close(late) })
				defer timer.Stop()
				err = st.closeInput(stream)
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
	down, err := voice.NewResampler(room.InputRate, pipeline.InputRate)
	if err != nil {
		return err
	}
	var wide, pcm []float32
	for piece := range slices.Chunk(r.whole, room.InputRate/10) {
		wide = voice.PCM16ToFloat(wide[:0], piece)
		pcm = down.Append(pcm[:0], wide)
		if err := st.write(stream, pcm); err != nil {
			return err
		}
	}
	return st.write(stream, down.Flush(pcm[:0]))
}
