package embedded

// This file runs the recogniser in processes of its own.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded/sphinx"
	"github.com/antiphon-rt/antiphon/server/pipeline/internal/confine"
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
