//go:build !js

package web

// The inspector of the Talk page.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
)

func TestTheInspectorShowsPredictedAndConfirmedState(t *testing.T) {
	g := gomega.NewWithT(t)
	in := insideOf(sdk.Snapshot{
		Predicted: true, Interrupting: true, Machines: sdk.MachinesDiffer,
		Interruptions: sdk.Interruptions{Candidates: 3, Confirmed: 2, Ahead: 1, Rejected: 1, LeadMS: 180},
	}, sdk.Inspection{
		Predicted: "user speaking", Confirmed: "agent speaking",
		Machines: []sdk.MachineState{{Name: "bargein", State: "Ducked"}},
		Last: []sdk.Transition{
			{At: time.Second, Lane: "server", Machine: "view", From: "a", Event: "SoundStarted", Action: "Sound", To: "Speaking"},
			{At: 1350 * time.Millisecond, Lane: "client", Machine: "bargein", From: "Playing", Event: "Onset", Action: "Duck", To: "Ducked"},
			{At: 1350 * time.Millisecond, Lane: "client", Machine: "bargein", From: "Ducked", Event: "Onset", To: "Ducked"},
		},
	})
	html := shown(Snapshot{Phase: PhaseHearing, Inside: in, Latency: Latency{Total: 400, Silence: 300, Model: 100}})
	for _, part := range []string{
		`id="inspector"`, `>user speaking<`, `>agent speaking<`, `data-machine="bargein"`, `>Ducked<`,
		`data-lane="server"`, `>Duck → Ducked<`, `>Onset changes nothing<`, ">0.35\u00a0s<",
		"1 of 2 interruptions predicted, 180\u00a0ms ahead; 1 withdrawn.", `id="mismatch"`,
		`<rect x="0" width="750" height="10"/>`, `<rect x="750" width="250" height="10"/>`,
	} {
		g.Expect(html).To(gomega.ContainSubstring(part))
	}
	g.Expect(html).To(gomega.ContainSubstring(`data-predicted="true"`))
	g.Expect(html).NotTo(gomega.ContainSubstring("style="), "the policy forbids inline styles")
}

func TestTheInspectorIsEmptyBeforeACall(t *testing.T) {
	g := gomega.NewWithT(t)
	html := shown(Snapshot{Phase: PhaseIdle, Inside: insideOf(sdk.Snapshot{}, sdk.Inspection{})})
	g.Expect(html).To(gomega.ContainSubstring(`>no call<`))
	g.Expect(html).NotTo(gomega.ContainSubstring(`id="mismatch"`))
	g.Expect(html).NotTo(gomega.ContainSubstring(`data-lane`))
}

func TestTheInspectorShowsTheNewestSteps(t *testing.T) {
	g := gomega.NewWithT(t)
	var last []sdk.Transition
	for i := range 64 {
		last = append(last, sdk.Transition{At: time.Duration(i) * time.Second, Lane: "server", Machine: "view", Action: "Step", To: "There"})
	}
	in := insideOf(sdk.Snapshot{}, sdk.Inspection{Last: last})
	g.Expect(in.Steps).To(gomega.HaveLen(maxSteps))
	g.Expect(in.Steps[0].Ago).To(gomega.BeEmpty())
	g.Expect(in.Steps[1].Ago).To(gomega.Equal("1.00\u00a0s"))
}
