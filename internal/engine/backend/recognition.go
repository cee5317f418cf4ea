package backend

// This file has the caller's side of an utterance, whether its engine is in this process or in another one.

import (
	"context"
	"sync"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// recognition takes the audio of an utterance and gives its results: it implements pipeline.Transcription.
type recognition struct {
	in      *queue
	out     *outbox
	cancel  context.CancelFunc
	running sync.WaitGroup
	once    sync.Once
	closed  chan struct{} // Close ends the outbox, the context does not: an utterance whose context is done still has a last result
}

// newRecognition returns the caller's side of an utterance that cancel ends.
func newRecognition(live bool, cancel context.CancelFunc) recognition {
	most := maxWhole // samples that may wait for the engine
	if live {
		most = maxQueued
	}
	closed := make(chan struct{})
	return recognition{in: newQueue(most), out: newOutbox(closed), cancel: cancel, closed: closed}
}

func (r *recognition) Write(pcm []float32) error { return r.in.write(pcm) }

func (r *recognition) CloseInput() error {
	r.in.close()
	return nil
}

func (r *recognition) Results() <-chan pipeline.TranscriptResult { return r.out.results }

func (r *recognition) Close() error {
	r.once.Do(func() {
		r.in.close()
		r.cancel()
		close(r.closed)
	})
	r.running.Wait()
	return nil
}
