package embedded

// This file runs the recogniser in processes of its own.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/confine"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
	"github.com/antiphon-rt/antiphon/internal/engine/sphinx"
)

// processEnv is the environment variable that turns a process into a recogniser. It contains the sphinx.Places as JSON.
const processEnv = "ANTIPHON_RECOGNISER_PROCESS"

// recogniserMemory is the most memory of a recogniser process, in bytes.
const recogniserMemory = 1 << 30

// recogniserFile is the largest file of a recogniser process, in bytes: it writes a language model for pocketsphinx.
const recogniserFile = 64 << 20

func init() { ownprocess.Serve(processEnv, "recogniser", serveRecogniser) }

// serveRecogniser recognises speech for the parent process until the standard input ends.
func serveRecogniser(where sphinx.Places) error {
	if err := confine.Self(confine.Limits{Memory: recogniserMemory, File: recogniserFile}); err != nil {
		return err
	}
	engine, err := sphinx.NewEngine(where)
	if err != nil {
		return err
	}
	return errors.Join(backend.ServeStdio(context.Background(), engine), engine.Close())
}
