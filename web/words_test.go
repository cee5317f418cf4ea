package web

// The texts of the page.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestEveryPhaseHasItsWords(t *testing.T) {
	for _, row := range []struct {
		snapshot          Snapshot
		state, hint, talk string
	}{
		{Snapshot{Phase: PhaseLoading}, "Getting ready", "The page is loading its program.", "Loading"},
		{Snapshot{Phase: PhaseIdle}, "Ready when you are", "Press the button and speak, or write a message.", "Talk"},
		{Snapshot{Phase: PhaseConnecting}, "Connecting", "One moment.", "Cancel"},
		{
			Snapshot{Phase: PhaseConnecting, MicAsked: true},
			"Connecting", "Allow the microphone in your browser's question.", "Cancel",
		},
		{Snapshot{Phase: PhaseListening}, "Listening", "Say something, or write a message.", "End"},
		{
			Snapshot{Phase: PhaseListening, Muted: true},
			"Your microphone is muted", "Unmute to be heard again, or write a message.", "End",
		},
		{
			Snapshot{Phase: PhaseListening, TextOnly: true},
			"Waiting for your message", "This call has no microphone. Write a message.", "End",
		},
		{Snapshot{Phase: PhaseHearing}, "You are speaking", "Pause when you have finished.", "End"},
		{Snapshot{Phase: PhaseThinking}, "Thinking", "The answer is on its way.", "End"},
		{Snapshot{Phase: PhaseThinking, Progress: "thinking"}, "Thinking", "The model thinks before it answers. This can take a while.", "End"},
		{Snapshot{Phase: PhaseThinking, Progress: "loading"}, "Loading the model", "The first answer takes longer, because the model is being loaded.", "End"},
		{Snapshot{Phase: PhaseSpeaking}, "Speaking", "Speak to interrupt, or press Interrupt.", "End"},
		{Snapshot{Phase: PhaseSpeaking, TextOnly: true}, "Speaking", "Press Interrupt to stop the answer.", "End"},
		{Snapshot{Phase: PhaseInterrupted}, "Interrupted", "It stopped. Go on.", "End"},
		{
			Snapshot{Phase: PhaseReconnecting},
			"Connection lost, trying again", "Nothing is lost yet. This can take a few seconds.", "End",
		},
		{Snapshot{Phase: PhaseError}, "The call failed", "Read below what you can do.", "Talk"},
		{
			Snapshot{Phase: PhaseError, Lines: []Line{{ID: "1"}}},
			"The call failed", "What was said stays on this page until the next call.", "Talk",
		},
	} {
		t.Run(string(row.snapshot.Phase)+": "+row.state, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(row.snapshot.statusText()).To(gomega.Equal(row.state))
			g.Expect(row.snapshot.hintText()).To(gomega.Equal(row.hint))
			g.Expect(row.snapshot.talkLabel()).To(gomega.Equal(row.talk))
		})
	}
}

// TestAMissingPartIsShownBeforeTheCall: while a stage is missing, the page says what the user can do.
func TestAMissingPartIsShownBeforeTheCall(t *testing.T) {
	for stage, want := range map[string]string{"transcriber": "Writing works", "model": "nothing is answered", "synthesizer": "come in writing", "new": "see Pipeline"} {
		s := Snapshot{Phase: PhaseIdle, Pipeline: Pipeline{Components: []Component{{Stage: stage, State: ComponentMissing}}}}
		gomega.NewWithT(t).Expect(s.hintText()).To(gomega.ContainSubstring(want))
	}
}

func TestOnlyAnAnswerUnderWayCanBeInterrupted(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, p := range phases() {
		want := p == PhaseSpeaking || p == PhaseThinking
		g.Expect(Snapshot{Phase: p}.canInterrupt()).To(gomega.Equal(want), string(p))
	}
}

func TestEveryProblemSaysWhatToDo(t *testing.T) {
	kinds := []ProblemKind{
		problemNoMicrophone, problemPermission, problemMicBusy, problemServerGone, problemSilent, problemInsecure,
		problemUnsupported, problemKey, problemBusy, problemBlocked, problemServer, problemAway, problemAnew,
	}
	g := gomega.NewWithT(t)
	titles := make(map[string]ProblemKind)
	for _, kind := range kinds {
		p := ProblemOf(kind, "detail")
		g.Expect(p.Kind).To(gomega.Equal(kind))
		g.Expect(p.Detail).To(gomega.Equal("detail"))
		g.Expect(p.Advice).NotTo(gomega.BeEmpty(), string(kind))
		g.Expect(titles).NotTo(gomega.HaveKey(p.Title), string(kind))
		titles[p.Title] = kind
		if p.Remedy != remedyNone {
			g.Expect(remedyLabels[p.Remedy]).NotTo(gomega.BeEmpty(), string(kind))
		}
	}
}

// phases lists every phase in the order of a call.
func phases() []Phase {
	return []Phase{
		PhaseLoading, PhaseIdle, PhaseConnecting, PhaseListening, PhaseHearing,
		PhaseThinking, PhaseSpeaking, PhaseInterrupted, PhaseReconnecting, PhaseError,
	}
}
