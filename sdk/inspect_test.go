package sdk_test

// The inspection of a session: predicted and confirmed state, machines and their last steps.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
)

func TestAnInspectionHasPredictedAndConfirmedState(t *testing.T) {
	g := gomega.NewWithT(t)
	server := sdktest.NewServer(t)
	session, err := sdk.New(sdk.Options{Dialer: server})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(session.Inspect().Confirmed).To(gomega.Equal("closed"), "before the first call")

	session = server.Connect(sdk.Options{})
	g.Expect(session.SendText("hello")).To(gomega.Succeed())
	seen := session.Inspect()
	g.Expect(seen.Predicted).To(gomega.Equal("an answer is made"))
	g.Expect(seen.Confirmed).To(gomega.Equal("listening"))
	g.Expect(session.Snapshot().Predicted).To(gomega.BeTrue())

	server.Begin("resp_1").Say("one two three")
	server.Heard(4800)
	server.Tell(sdk.SpeechOnset{})
	seen = session.Inspect()
	g.Expect(seen.Predicted).To(gomega.Equal("an answer is made, agent heard, interrupting?"))
	g.Expect(seen.Machines).To(gomega.Equal([]sdk.MachineState{
		{Name: "bargein", State: "Ducked"}, {Name: "view", State: "an answer is made, agent heard"},
	}))
	last := seen.Last[len(seen.Last)-1]
	last.At = 0
	g.Expect(last).To(gomega.Equal(sdk.Transition{
		Lane: "client", Machine: "bargein", From: "Playing", Event: "Onset", Action: "Duck", To: "Ducked",
	}))
	g.Expect(seen.Last).To(gomega.ContainElement(gomega.And(
		gomega.HaveField("Lane", "server"), gomega.HaveField("Event", "Started"), gomega.HaveField("To", "an answer is made, agent heard"),
	)))
	g.Expect(session.Close(t.Context())).To(gomega.Succeed())
}

func TestMatchesHaveNames(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect([]string{sdk.MachinesUnknown.String(), sdk.MachinesSame.String(), sdk.MachinesDiffer.String()}).
		To(gomega.Equal([]string{"unknown", "same", "differ"}))
}
