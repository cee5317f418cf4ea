//go:build !js

package web

// The cards of the runs.

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// cardOf returns the page's HTML for one run.
func cardOf(p Phase, r sdk.Run) string { return shown(viewWith(p, r)) }

func viewWith(p Phase, r sdk.Run) Snapshot {
	v := viewOf(sdk.Snapshot{Runs: []sdk.Run{r}})
	v.Phase = p
	return v
}

func TestARunHasACard(t *testing.T) {
	for _, row := range []struct {
		name       string
		phase      Phase
		run        sdk.Run
		has, hasnt []string
	}{
		{
			"an approval",
			PhaseListening,
			sdk.Run{ID: "run_1", Tool: "book", Status: "waiting_user", Question: &sdk.RunQuestion{ID: "ia_1", Approval: true, Prompt: "Run book with <b>?"}},
			[]string{
				`data-status="waiting_user"`, "Needs your approval", "Run book with &lt;b&gt;?", `aria-label="Approve book"`, `aria-label="Decline book"`,
				`aria-label="Cancel book"`, `role="status"`, "book: Needs your approval", `aria-describedby="prompt-run_1"`,
			},
			[]string{"Your answer", "run-result"},
		},
		{
			"a question",
			PhaseListening,
			sdk.Run{ID: "run_1", Tool: "book", Status: "waiting_user", Question: &sdk.RunQuestion{ID: "ia_1", Prompt: "Where to?"}},
			[]string{"Has a question", "Where to?", `id="reply-run_1"`, `aria-labelledby="prompt-run_1"`, ">Answer<"},
			[]string{"Approve", "disabled id=\"reply"},
		},
		{
			"a question with choices",
			PhaseListening,
			sdk.Run{ID: "run_1", Tool: "book", Status: "waiting_user", Question: &sdk.RunQuestion{ID: "ia_1", Prompt: "Where to?", Choices: []string{"Oslo", "New <York>"}}},
			[]string{"Where to?", `id="choice-0-run_1"`, ">Oslo<", ">New &lt;York&gt;<", `aria-label="Oslo book"`},
			[]string{`id="reply-run_1"`},
		},
		{
			"the end",
			PhaseListening,
			sdk.Run{ID: "run_1", Tool: "book", Status: "succeeded", Result: &sdk.RunResult{Output: "Flight 12"}},
			[]string{`data-status="succeeded"`, "Done", "Flight 12"},
			[]string{"Approve", "Cancel book"},
		},
		{
			"a failure",
			PhaseListening,
			sdk.Run{ID: "run_1", Tool: "book", Status: "failed", Result: &sdk.RunResult{Code: "not_approved", Message: "the user has not approved book"}},
			[]string{"Failed", "the user has not approved book"},
			nil,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			html := cardOf(row.phase, row.run)
			for _, part := range row.has {
				g.Expect(html).To(gomega.ContainSubstring(part))
			}
			for _, part := range row.hasnt {
				g.Expect(html).NotTo(gomega.ContainSubstring(part))
			}
		})
	}
}

func TestButtonsOfARunWorkInACallAndOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	asks := &sdk.RunQuestion{ID: "ia_1", Approval: true, Prompt: "Go?"}
	card := &runCard{Run: runOf(&sdk.Run{ID: "r", Tool: "book", Status: "waiting_user", Question: asks}), InCall: true}
	off := func() []bool {
		all := []bool{}
		for _, part := range []string{"approve", "decline", "cancel"} {
			all = append(all, disabled(card, part))
		}
		return all
	}
	g.Expect(off()).To(gomega.Equal([]bool{false, false, false}))
	card.Run.Question = &sdk.RunQuestion{ID: "ia_1", Approval: true, Prompt: "Go?", Answered: true}
	g.Expect(off()).To(gomega.Equal([]bool{true, true, false}))
	g.Expect(card.Run.statusText()).To(gomega.Equal("Your answer is on its way"))
	card.InCall = false
	g.Expect(off()).To(gomega.Equal([]bool{true, true, true}))
}

// disabled reports whether a button of a card is disabled.
func disabled(card *runCard, part string) bool {
	html := ui.HTML(card.button(part, part, "control", nil))
	return strings.Contains(html, " disabled")
}

func TestTheTimelineOfARun(t *testing.T) {
	g := gomega.NewWithT(t)
	at := "2026-01-02T03:04:05.678Z"
	when, err := time.Parse(time.RFC3339, at)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	v := runOf(&sdk.Run{Timeline: []sdk.RunStep{
		{At: at, Kind: "conversation.state.changed", Text: "running"},
		{At: "soon", Kind: "run.progress", Text: "half"},
		{Kind: "interaction.requested", Text: "Go?"},
		{Kind: "interaction.replied", Text: "to Oslo"},
		{Kind: "interaction.reply.accepted"},
		{Kind: "interaction.auto_decide.timeout"},
		{Kind: "run.step.completed", Text: "call"},
	}})
	g.Expect(v.Steps).To(gomega.Equal([]RunStep{
		{when.Local().Format("15:04:05"), "Working"},
		{"", "half"},
		{"", "Asked you: Go?"},
		{"", "You answered: to Oslo"},
		{"", "Your answer was taken"},
		{"", "Nobody answered in time: it goes on without an answer"},
		{"", "Finished the step call"},
	}))
}
