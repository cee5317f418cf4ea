package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of one turn's transcription.
const (
	earQueue   = 6000             // frames of 10 ms that may wait for the recogniser: one minute
	finalAfter = 10 * time.Second // the longest wait for the text once the audio has ended
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
		turn turn.ID
		text string
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
	audio  chan []float32
	cancel context.CancelFunc
	closed bool
	full   bool
}

// listen opens a stream for turn t; post takes its reports, the last of which is earFinal, earFailed or earRefused,
// unless the ear was closed.
func listen(
	ctx context.Context, wg *sync.WaitGroup, tr pipeline.Transcriber, c pipeline.TranscribeConfig, t turn.ID, post func(any) bool,
) *ear {
	ctx, cancel := context.WithCancel(ctx)
	e := &ear{turn: t, audio: make(chan []float32, earQueue), cancel: cancel}
	wg.Go(func() {
		defer cancel()
		if last := e.run(ctx, tr, c, post); ctx.Err() == nil {
			post(last)
		}
	})
	return e
}

// write gives mono audio at pipeline.InputRate to the recogniser, which keeps it.
func (e *ear) write(pcm []float32) {
	if e.closed || e.full {
		return
	}
	select {
	case e.audio <- pcm:
	default:
		e.full = true
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
	stream, err := tr.Open(ctx, c)
	switch {
	case errors.Is(err, pipeline.ErrNoLive):
		return earRefused{e.turn}
	case err != nil:
		return earFailed{e.turn, err}
	}
	defer func() { _ = stream.Close() }() // Close only joins: what went wrong was a result
	if c.Live {
		post(earReady{e.turn})
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
				late.Reset(finalAfter)
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
				return earFinal{e.turn, r.Text}
			}
			post(earPartial{e.turn, r.Partial, r.EOU})
		}
	}
}
