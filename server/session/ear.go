package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

// Limits of one turn's transcription.
const (
	earQueue   = 6000             // frames of 10 ms that may wait for the recogniser: one minute
	finalAfter = 10 * time.Second // the longest wait for the text once the audio has ended; more where it came at once
)

// What an ear reports.
type (
	earReady   struct{ turn turn.ID }
	earRefused struct{ turn turn.ID } // no live transcription
	earPartial struct {
		turn turn.ID
		text string
		eou  bool
	}
	earFinal struct {
		turn  turn.ID
		text  string
		words []pipeline.Word
	}
	earFailed struct {
		turn turn.ID
		err  error
	}
)

var (
	errEarLate    = errors.New("the recogniser did not answer in time")
	errEarOverrun = errors.New("the recogniser cannot keep up with the audio")
	errEarSilent  = errors.New("the recogniser ended without a result")
)

// ear is the recogniser's stream of one turn, on a goroutine of its own. write, closeInput and close belong to the
// session's goroutine; they do not block.
type ear struct {
	turn   turn.ID
	whole  []int16 // a turn that is over, at format.InputRate; nil for one that goes on
	audio  chan []float32
	cancel context.CancelFunc
	closed bool
}

// listen opens a stream for turn t, of which whole is the audio if it is over; post takes its reports, the last of which
// is earFinal, earFailed or earRefused, unless the ear was closed.
func listen(
	ctx context.Context, wg *sync.WaitGroup, tr pipeline.Transcriber, c pipeline.TranscribeConfig, t turn.ID, whole []int16, post func(any) bool,
) *ear {
	ctx, cancel := context.WithCancel(ctx)
	e := &ear{turn: t, whole: whole, audio: make(chan []float32, earQueue), cancel: cancel}
	if !c.Live {
		e.closeInput()
	}
	wg.Go(func() {
		defer cancel()
		var last any
		if err := contain(pipeline.StageTranscriber, func() error {
			last = e.run(ctx, tr, c, post)
			return nil
		}); err != nil {
			last = earFailed{t, err}
		}
		if ctx.Err() == nil {
			post(last)
		}
	})
	return e
}

// write gives mono audio at pipeline.InputRate to the recogniser, which keeps it. It reports false when too much waits
// already: the stream is of no use any more.
func (e *ear) write(pcm []float32) bool {
	if e.closed {
		return true
	}
	select {
	case e.audio <- pcm:
		return true
	default:
		return false
	}
}

// closeInput says that the turn's audio has ended.
func (e *ear) closeInput() {
	if !e.closed {
		e.closed = true
		close(e.audio)
	}
}

// close gives the turn up; nothing is reported any more.
func (e *ear) close() {
	e.cancel()
	e.closeInput()
}

// run returns the last report.
func (e *ear) run(ctx context.Context, tr pipeline.Transcriber, c pipeline.TranscribeConfig, post func(any) bool) any {
	life, leave := context.WithCancel(ctx)
	defer leave()
	stream, err := tr.Open(life, c)
	switch {
	case errors.Is(err, pipeline.ErrNoLive):
		return earRefused{e.turn}
	case err != nil:
		return earFailed{e.turn, err}
	}
	defer func() {
		leave()
		_ = stream.Close() // it only joins: what went wrong was a result
	}()
	if c.Live {
		post(earReady{e.turn})
	}
	if err := e.feed(stream); err != nil {
		return earFailed{e.turn, err}
	}
	late := time.NewTimer(time.Hour)
	late.Stop()
	defer late.Stop()
	audio := e.audio
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-late.C:
			return earFailed{e.turn, errEarLate}
		case pcm, more := <-audio:
			if !more {
				audio = nil
				late.Reset(finalAfter + time.Duration(len(e.whole))*time.Second/format.InputRate)
				err = stream.CloseInput()
			} else if err = stream.Write(pcm); errors.Is(err, pipeline.ErrOverrun) {
				err = errEarOverrun
			}
			if err != nil {
				return earFailed{e.turn, err}
			}
		case r, more := <-stream.Results():
			switch {
			case !more:
				return earFailed{e.turn, errEarSilent}
			case r.Err != nil:
				return earFailed{e.turn, r.Err}
			case r.Final:
				return earFinal{e.turn, r.Text, r.Words}
			}
			post(earPartial{e.turn, r.Partial, r.EOU})
		}
	}
}

// feed gives the whole of a turn that is over to the recogniser.
func (e *ear) feed(stream pipeline.Transcription) error {
	if e.whole == nil {
		return nil
	}
	down, err := voice.NewResampler(format.InputRate, pipeline.InputRate)
	if err != nil {
		return err
	}
	var wide, pcm []float32
	for piece := range slices.Chunk(e.whole, format.InputRate/10) {
		wide = voice.PCM16ToFloat(wide[:0], piece)
		pcm = down.Append(pcm[:0], wide)
		if err := stream.Write(pcm); err != nil {
			return err
		}
	}
	return stream.Write(down.Flush(pcm[:0]))
}
