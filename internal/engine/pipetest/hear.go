package pipetest

// One utterance from the first sample to the last result.

import (
	"context"
	"errors"
	"testing"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Silence returns this many seconds of silence at the rate of a recogniser.
func Silence(seconds float64) []float32 { return make([]float32, int(seconds*pipeline.InputRate)) }

// Hear has a sound transcribed and returns all results, at least one. If the utterance cannot be opened, the only result has the error.
func Hear(t *testing.T, tr pipeline.Transcriber, c pipeline.TranscribeConfig, pcm []float32) (all []pipeline.TranscriptResult) {
	t.Helper()
	u, err := tr.Open(t.Context(), c)
	if err != nil {
		return []pipeline.TranscriptResult{{Err: err}}
	}
	if err := errors.Join(u.Write(pcm), u.CloseInput()); err != nil {
		t.Error(err)
	}
	for r := range u.Results() {
		all = append(all, r)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	if len(all) == 0 {
		t.Fatal("the utterance ended without a result")
	}
	return all
}

// Last returns the last of the results of Hear: the final one, or one with an error.
func Last(all []pipeline.TranscriptResult) pipeline.TranscriptResult { return all[len(all)-1] }

// EndsWithItsContext checks that the end of an utterance's context ends the utterance and its connection. The stand-in of the recogniser
// closes heard when it has all of the sound, and ended when its connection is closed.
func EndsWithItsContext(t *testing.T, tr pipeline.Transcriber, c pipeline.TranscribeConfig, heard, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	u, err := tr.Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(u.Write(Silence(1)), u.CloseInput()); err != nil {
		t.Error(err)
	}
	<-heard
	cancel()
	if r := <-u.Results(); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("the result is %+v; want that the context was cancelled", r)
	}
	<-ended
	if err := u.Close(); err != nil {
		t.Error(err)
	}
}
