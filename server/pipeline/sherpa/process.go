package sherpa

// This file runs the engines in processes of their own.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/antiphon-rt/antiphon/server/pipeline/backend"
	"github.com/antiphon-rt/antiphon/server/pipeline/internal/confine"
)

// processEnv is the environment variable that turns a process into an engine. It contains the places as JSON.
const processEnv = "ANTIPHON_SHERPA_PROCESS"

// engineMemory is the most memory of an engine's process, in bytes.
const engineMemory = 2 << 30

// A stage starts its own program again for each process. In that process, init serves the engine and exits before main begins. So a
// program that uses the stages needs no code for it and no second binary.
func init() {
	where, is := os.LookupEnv(processEnv)
	if !is {
		return
	}
	if err := serve(where); err != nil {
		fmt.Fprintln(os.Stderr, "sherpa:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve recognises or speaks for the parent process until the standard input ends.
func serve(where string) error {
	var p places
	if err := json.Unmarshal([]byte(where), &p); err != nil {
		return err
	}
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
