package session

// Which part of the protocol the tests cover.

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestCoverage runs real sessions over both transports. Together they send or take every event of the protocol, with every field
// that e2e/check/protocol.table demands. `make protocol` prints how many events and fields there are.
func TestCoverage(t *testing.T) {
	g := gomega.NewWithT(t)
	var seen protocolcheck.Coverage
	for name, play := range scenes() {
		for _, media := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " over WebRTC", false: " over WebSocket"}[media], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := onStage(t, media, wire.DefaultSession())
					t.Cleanup(func() { seen.Add(c.report(), c.transport()) }) // runs after the end of the session
					play(c.start())
				})
			})
		}
	}
	for _, media := range []bool{true, false} {
		t.Run("a transcription", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := onStage(t, media, conversation.Transcribing(wire.DefaultSession()))
				t.Cleanup(func() { seen.Add(c.report(), c.transport()) })
				dictate(c.start())
			})
		})
	}
	t.Logf("%s", seen.String())
	for _, f := range seen.Lacking() {
		t.Logf("not seen, and need not be: %s", f)
	}
	g.Expect(seen.Gaps()).To(gomega.BeEmpty(), "what the protocol has and no session does, or the other way round")
	g.Expect(seen.String()).To(gomega.HavePrefix("events covered 56 / 57"))
}

// stage is the script of a pipeline with every ability that the protocol has an event for.
const stage = `
transcriber:
  logprobs: true
  partial_every: 50ms
  rules:
    - {when: {exact: two people}, speakers: [{name: A, text: two}, {name: B, text: people}]}
    - {when: {exact: lost}, fail: could not hear it}
prompts:
  - {id: pmpt_guide, version: "2", text: "Be {{mood}}."}
synthesizer:
  speedup: 4
`

func onStage(t *testing.T, media bool, settings wire.Session) *caller {
	t.Helper()
	tide := pipeline.ServerTool{Tool: pipeline.Tool{Name: "tide"}, Run: func(context.Context, string) (string, error) { return "", errors.New("no water") }}
	c := newCallerWith(t, Config{
		Pipeline: byScript(t, strings.ReplaceAll(stage, "\t", "  ")), Settings: settings,
		Options: Options{Tools: pipeline.ServerTools{Tools: []pipeline.ServerTool{takes("wind", time.Second), tide}}, MCP: newDesk().directory(t)},
	})
	if media {
		c.pacer = newPacer(c.s, nil)
	}
	return c
}

// report returns what the checker has read in the events of the session.
func (c *caller) report() protocolcheck.Report {
	c.t.Helper()
	report, err := c.record.read()
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	return report
}
