// Package servertest has what the tests of the server and the tests of its sessions share: stories with a clock of their own, scripted pipelines, and the inbox of a client.
package servertest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Patience is how long a story waits for what must come, on the clock of its bubble. There the time passes at once.
const Patience = 2 * time.Minute

// Story runs a subtest in a synctest bubble: server, client and pipeline have a clock of their own, which advances when all of them
// wait. So nothing depends on how busy the machine is.
func Story(t *testing.T, name string, tell func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, tell) })
}

// Wait lets d pass in the bubble.
func Wait(d time.Duration) { <-time.After(d) }

// ByScript returns a scripted pipeline for a script in YAML.
func ByScript(t *testing.T, yaml string) *pipeline.Pipeline {
	t.Helper()
	s, err := scripted.Parse(t.Name(), []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(scripted.Options{Script: s})
}
