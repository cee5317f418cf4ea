package page_test

// Predicted barge-in on a page: the volume changes before the server's event.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// volume has the changes of the agent's volume.
type volume struct {
	At, Volume float64
	Muted      bool
}

// withoutPause is an interruption without a pause between its words. 200 ms of silence would reject the candidate, and what follows the pause
// would confirm a candidate that the page has not predicted.
const withoutPause = "stop it right there and listen to me now"

// speaking opens a page whose agent speaks for long, and waits until its sound plays. options are those of the call, as JavaScript.
func speaking(t *testing.T, options string) *visitor {
	t.Helper()
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`await begin(%s).ready`, options)
	v.does(`call.send("say 80 words")`)
	a.g.Eventually(v.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 3500)))
	v.does(`seen.volumes.length = 0`)
	return v
}

// The page ducks the agent by as much as it has asked for, at the speech onset, before the server has sent an event. Then the agent falls silent.
func TestAnInterruptionIsPredicted(t *testing.T) {
	v := speaking(t, `{ duckBy: 12 }`)
	demand, err := rig.Speak(t.Context(), withoutPause)
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	spoke := v.says(rig.Join(demand, rig.Silence(time.Second)))
	v.becomes(`call.metrics.interruptions.confirmed > 0`)
	volumes := told[[]volume](v, `seen.volumes`)
	v.g.Expect(volumes).NotTo(gomega.BeEmpty())
	t.Logf("ducked %.0f ms after the onset; %v; %v", volumes[0].At-spoke, volumes, told[any](v, `call.metrics.interruptions`))
	v.g.Expect(volumes[0].Volume).To(gomega.BeNumerically("~", 0.2512, 0.001))
	v.becomes(`call.metrics.interruptions.ahead === 1`)
	v.becomes(`audio.volume === 1 && !audio.muted`)
	v.becomes(`call.transcript.some((e) => e.role === "agent" && e.interrupted)`)
	v.does(`await call.close()`)
	v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

// A cough ducks the agent for a moment only.
func TestTheLevelIsRestoredAfterACough(t *testing.T) {
	v := speaking(t, `{}`)
	v.says(rig.Join(rig.Cough(), rig.Silence(2*time.Second)))
	v.becomes(`call.metrics.interruptions.candidates > 0`)
	v.becomes(`call.metrics.interruptions.rejected > 0`)
	v.becomes(`audio.volume === 1 && !audio.muted && !call.interrupting`)
	t.Log(told[any](v, `seen.volumes`), told[any](v, `call.metrics.interruptions`))
	v.g.Expect(told[bool](v, `call.transcript.some((e) => e.interrupted)`)).To(gomega.BeFalse())
	v.g.Expect(told[int](v, `call.metrics.interruptions.lostMs`)).To(gomega.BeZero())
	v.does(`await call.close()`)
	v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}
