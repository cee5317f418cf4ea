package ownprocess

// The processes: how one is started, and what it does first.

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/antiphon-rt/antiphon/internal/engine/confine"
)

// Serve calls serve and exits if this process is one that Command started with the same environment variable. Otherwise Serve returns at
// once. The init function of a stage's package calls it. name begins the line that the process prints when serve fails. places is the value
// that the stage gave to Command.
func Serve[P any](variable, name string, serve func(places P) error) {
	text, is := os.LookupEnv(variable)
	if !is {
		return
	}
	var places P
	err := json.Unmarshal([]byte(text), &places)
	if err == nil {
		err = serve(places)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command returns a function that makes the command of one process: this program, with confine.Environment and an environment variable that contains, as JSON, the
// result of places. The function asks places anew for each process.
func Command[P any](variable string, places func() P) (func() *exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return func() *exec.Cmd {
		cmd := exec.Command(self)
		text, err := json.Marshal(places())
		if err != nil {
			cmd.Err = err // Start returns it
		}
		cmd.Env = append(confine.Environment(), variable+"="+string(text))
		return cmd
	}, nil
}
