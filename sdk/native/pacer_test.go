//go:build !js

package native

// What the sound of a call tells its session: the loudness of both sides, and nothing after its end.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

func TestLevelsAreThoseOfTheLastFrames(t *testing.T) {
	g := gomega.NewWithT(t)
	var told []sdk.Levels
	events := newEventSink(func(e sdk.PeerEvent) { told = append(told, e.(sdk.LevelsMeasured).Levels) })
	m := &levelMeter{events: events, mic: -120, agent: -120}
	loud, quiet := []int16{20000, -20000}, []int16{0, 0}
	m.agentFrame(loud)
	for _, pcm := range [][]int16{loud, quiet, quiet, quiet, quiet, quiet} {
		m.microphoneFrame(pcm)
	}
	g.Expect(told).To(gomega.HaveLen(2), "one for three frames")
	g.Expect(min(told[0].Mic, told[0].Agent)).To(gomega.BeNumerically(">", 0.9))
	g.Expect(told[1]).To(gomega.Equal(sdk.Levels{}))
	events.stop()
	for range 3 {
		m.microphoneFrame(loud)
	}
	g.Expect(told).To(gomega.HaveLen(2), "the call has ended")
}
