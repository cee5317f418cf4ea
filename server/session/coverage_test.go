package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/check"
	"github.com/antiphon-rt/antiphon/server/session/settings"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestCoverage holds real sessions over both transports, until every event of the protocol has been sent or taken with every
// field that it must have: e2e/check/protocol.table is the list. `make protocol` prints how many there are.
func TestCoverage(t *testing.T) {
	g := gomega.NewWithT(t)
	var seen check.Coverage
	for name, play := range scenes() {
		for _, media := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " over WebRTC", false: " over WebSocket"}[media], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := onStage(t, media, wire.DefaultSession())
					t.Cleanup(func() { seen.Add(c.report(), c.transport()) }) // after the session's end
					play(c.start())
				})
			})
		}
	}
	for _, media := range []bool{true, false} {
		t.Run("a transcription", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := onStage(t, media, settings.Transcribing(wire.DefaultSession()))
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
	g.Expect(seen.String()).To(gomega.HavePrefix("events covered 48 / 57"))
}

// stage is a pipeline that can do everything that the protocol has an event for.
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
	c := newCallerWith(t, Config{Pipeline: byScript(t, strings.ReplaceAll(stage, "\t", "  ")), Settings: settings})
	if media {
		c.pacer = newPacer(c.s, nil)
	}
	return c
}

// report is what the checker has read of the session.
func (c *caller) report() check.Report {
	c.t.Helper()
	report, err := c.record.read()
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	return report
}
