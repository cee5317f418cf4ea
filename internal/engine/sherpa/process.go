package sherpa

// This file runs the engines in processes of their own.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/confine"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
)

// processEnv is the environment variable that turns a process into an engine. It contains the places as JSON.
const processEnv = "ANTIPHON_SHERPA_PROCESS"

// engineMemory is the most memory of an engine's process, in bytes.
const engineMemory = 2 << 30

func init() { ownprocess.Serve(processEnv, "sherpa", serve) }

// serve recognises or speaks for the parent process until the standard input ends.
func serve(p places) error {
	if err := confine.Self(confine.Limits{Memory: engineMemory}); err != nil {
		return err
	}
	if p.Role == voiceRole {
		v, err := NewVoice(p.Library, p.Model, p.Pronunciation, p.Threads, p.Even)
		if err != nil {
			return err
		}
		return errors.Join(backend.ServeSpeakerStdio(context.Background(), v), v.Close())
	}
	e, err := NewEngine(p.Library, p.Model, p.Threads)
	if err != nil {
		return err
	}
	return errors.Join(backend.ServeStdio(context.Background(), e), e.Close())
}
