package smartturn

// The engine's process.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/confine"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
)

const (
	// processEnv is the environment variable that turns a process into an engine. It contains the places as JSON.
	processEnv = "ANTIPHON_SMARTTURN_PROCESS"
	// engineMemory is the most memory of an engine's process, in bytes.
	engineMemory = 1 << 30
)

func init() { ownprocess.Serve(processEnv, name, serve) }

// serve answers the parent process until the standard input ends.
func serve(p places) error {
	if err := confine.Self(confine.Limits{Memory: engineMemory}); err != nil {
		return err
	}
	e, err := NewEngine(p.Library, p.Model, 1)
	if err != nil {
		return err
	}
	return errors.Join(backend.ServeStdio(context.Background(), e), e.Close())
}
