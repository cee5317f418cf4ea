package embedded

// This file runs the recogniser in processes of its own, and tries the pipeline for `antiphon doctor`.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/sphinx"
	"github.com/antiphon-rt/antiphon/server/pipeline/internal/confine"
	"github.com/antiphon-rt/antiphon/voice"
)

// processEnv is the environment variable that turns a process into a recogniser. It contains the sphinx.Places as JSON.
const processEnv = "ANTIPHON_RECOGNISER_PROCESS"

// recogniserMemory is the most memory of a recogniser process, in bytes.
const recogniserMemory = 1 << 30

// recogniserFile is the largest file of a recogniser process, in bytes: it writes a language model for pocketsphinx.
const recogniserFile = 64 << 20

// The pipeline starts its own program again for each recogniser process. In that process, init serves the recogniser and exits before
// main begins. So a program that uses the pipeline needs no code for it and no second binary.
func init() {
	places, is := os.LookupEnv(processEnv)
	if !is {
		return
	}
	if err := serveRecogniser(places); err != nil {
		fmt.Fprintln(os.Stderr, "recogniser:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serveRecogniser recognises speech for the parent process until the standard input ends.
func serveRecogniser(places string) error {
	var where sphinx.Places
	if err := json.Unmarshal([]byte(places), &where); err != nil {
		return err
	}
	if err := confine.Self(confine.Limits{Memory: recogniserMemory, File: recogniserFile}); err != nil {
		return err
	}
	engine, err := sphinx.NewEngine(where)
	if err != nil {
		return err
	}
	return errors.Join(backend.ServeStdio(context.Background(), engine), engine.Close())
}

// doctorWord is the word that Doctor speaks and recognises.
const doctorWord = "hello"

// speak returns the samples of doctorWord, at the sample rate of the recogniser.
func speak(ctx context.Context, p *pipeline.Pipeline) ([]float32, error) {
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	if err != nil {
		return nil, err
	}
	var pcm []float32
	err = p.Synthesizer.Synthesize(ctx, pipeline.Utterance{Text: doctorWord, Voice: "kal16"}, func(chunk []int16) error {
		pcm = down.Append(pcm, voice.PCM16ToFloat(nil, chunk))
		return nil
	})
	return down.Flush(pcm), err
}

var errMisheard = errors.New("the recogniser did not understand a spoken word")

// understand returns an error if the recogniser does not recognise doctorWord in the samples.
func understand(ctx context.Context, p *pipeline.Pipeline, said []float32) error {
	t, err := p.Transcriber.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // it only waits for goroutines
	if err := errors.Join(t.Write(said), t.CloseInput()); err != nil {
		return err
	}
	for r := range t.Results() {
		if r.Err != nil {
			return r.Err
		}
		if r.Final && r.Text != doctorWord {
			return fmt.Errorf("%w: %q for %q", errMisheard, r.Text, doctorWord)
		}
	}
	return nil
}
