package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/sphinx"
	"github.com/antiphon-rt/antiphon/voice"
)

// processEnv makes a process a recogniser: it holds the sphinx.Places as JSON.
const processEnv = "ANTIPHON_RECOGNISER_PROCESS"

// A program that embeds the pipeline is its own recogniser: the pipeline starts the program again, and here that process
// turns into one, before main. So the embedding program needs no line for it, and no second binary.
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

func serveRecogniser(places string) error {
	var where sphinx.Places
	if err := json.Unmarshal([]byte(places), &where); err != nil {
		return err
	}
	engine, err := sphinx.NewEngine(where)
	if err != nil {
		return err
	}
	return errors.Join(backend.ServeStdio(context.Background(), engine), engine.Close())
}

// doctorSays is what Doctor has said and understood.
const doctorSays = "hello"

// speak has the voice say a word, at the recogniser's rate.
func speak(ctx context.Context, p *pipeline.Pipeline) ([]float32, error) {
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	if err != nil {
		return nil, err
	}
	var pcm []float32
	err = p.Synthesizer.Synthesize(ctx, pipeline.Utterance{Text: doctorSays, Voice: "kal16"}, func(chunk []int16) error {
		pcm = down.Append(pcm, voice.PCM16ToFloat(nil, chunk))
		return nil
	})
	return down.Flush(pcm), err
}

var errMisheard = errors.New("the recogniser did not understand a spoken word")

func understand(ctx context.Context, p *pipeline.Pipeline, said []float32) error {
	t, err := p.Transcriber.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // it only joins
	if err := errors.Join(t.Write(said), t.CloseInput()); err != nil {
		return err
	}
	for r := range t.Results() {
		if r.Err != nil {
			return r.Err
		}
		if r.Final && r.Text != doctorSays {
			return fmt.Errorf("%w: %q for %q", errMisheard, r.Text, doctorSays)
		}
	}
	return nil
}
