package wyoming

// Live recognition: the audio goes to the service as it comes, and the service sends pieces of the transcript.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// live begins an utterance whose audio goes to the service as it comes.
func (e *engine) live(ctx context.Context, c backend.Config) (backend.Stream, error) {
	s, err := e.begin(ctx, c)
	if err != nil {
		return nil, e.service.last.Note(ctx, err)
	}
	return &liveUtterance{engine: e, conn: s, show: func(backend.Update) {}, ended: make(chan struct{})}, nil
}

// liveUtterance is a backend.Stream and backend.Announcer.
type liveUtterance struct {
	engine *engine
	conn   *conn
	show   func(backend.Update)
	size   int // samples so far

	reading sync.WaitGroup
	once    sync.Once
	ended   chan struct{} // closed when the text is whole or the connection has failed
	text    string        // valid after that, as err
	err     error
}

func (u *liveUtterance) Announce(show func(backend.Update)) { u.show = show }

// read follows the answers of the service.
func (u *liveUtterance) read() {
	defer close(u.ended)
	var h hearing
	for !h.whole {
		e, err := u.conn.read()
		if err == nil {
			err = h.take(e, u.show)
		}
		if err != nil {
			u.err = err
			return
		}
	}
	u.text = h.final()
}

func (u *liveUtterance) Feed(ctx context.Context, pcm []float32) (backend.Update, error) {
	u.once.Do(func() { u.reading.Go(u.read) })
	select {
	case <-u.ended:
		if u.err != nil {
			return backend.Update{}, u.engine.service.last.Note(ctx, u.failure())
		}
		return backend.Update{}, nil // the service has heard enough: a text before the end of the audio is the text
	default:
	}
	if u.size += len(pcm); u.size > int(growing.MaxAudio.Seconds())*pipeline.InputRate {
		return backend.Update{}, fmt.Errorf("%w: an utterance may last %v", pipeline.ErrTooLong, growing.MaxAudio)
	}
	if err := u.conn.write(voice.PCM16ToBytes(nil, voice.FloatToPCM16(nil, pcm))); err != nil {
		return backend.Update{}, u.engine.service.last.Note(ctx, err)
	}
	return backend.Update{}, nil
}

// failure returns why the reading has failed; nil if it has not. Only Finish sets a deadline for it.
func (u *liveUtterance) failure() error {
	if errors.Is(u.err, os.ErrDeadlineExceeded) {
		return u.conn.wrong(fmt.Errorf("sent nothing for %v after audio-stop", u.engine.service.FirstByte))
	}
	return u.conn.fail(u.err)
}

func (u *liveUtterance) Finish(ctx context.Context) (backend.Result, error) {
	u.once.Do(func() { u.reading.Go(u.read) })
	r, err := func() (backend.Result, error) {
		select {
		case <-u.ended:
		default:
			if err := u.conn.send("audio-stop", nil, nil); err != nil {
				return backend.Result{}, err
			}
			late := time.AfterFunc(u.engine.service.FirstByte, func() { _ = u.conn.SetReadDeadline(time.Now()) }) // makes read return
			defer late.Stop()
		}
		<-u.ended
		return backend.Result{Text: u.text}, u.failure()
	}()
	return r, u.engine.service.last.Note(ctx, err)
}

func (u *liveUtterance) Close() error {
	_ = u.conn.Close() // it may be broken already
	u.reading.Wait()
	return nil
}
