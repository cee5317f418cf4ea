package sdk_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
)

// TestWithoutPrediction: a session that predicts nothing shows the confirmed state, and the other one what will follow.
func TestWithoutPrediction(t *testing.T) {
	for none, state := range map[bool]sdk.State{false: sdk.Thinking, true: sdk.Listening} {
		g := gomega.NewWithT(t)
		session := sdktest.NewServer(t).Connect(sdk.Options{NoPrediction: none})
		g.Expect(session.SendText("hello")).To(gomega.Succeed())
		shown := session.Snapshot()
		g.Expect(shown.State).To(gomega.Equal(state))
		g.Expect(shown.Confirmed).To(gomega.Equal(sdk.Listening))
		g.Expect(shown.Predicted).To(gomega.Equal(!none))
		g.Expect(session.Close(t.Context())).To(gomega.Succeed())
	}
}
