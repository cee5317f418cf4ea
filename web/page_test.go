//go:build !js

package web

// The rendered page in each phase.

import (
	"regexp"
	"strconv"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// shown returns the page's HTML for a snapshot.
func shown(s Snapshot) string { return ui.HTML(NewPage(nil, s).render()) }

func TestPageShowsEveryPhase(t *testing.T) {
	for _, p := range phases() {
		t.Run(string(p), func(t *testing.T) {
			g := gomega.NewWithT(t)
			html := shown(Snapshot{Phase: p})
			g.Expect(html).To(gomega.ContainSubstring(`data-state="` + string(p) + `"`))
			g.Expect(html).To(gomega.ContainSubstring(Snapshot{Phase: p}.statusText()))
			g.Expect(html).NotTo(gomega.ContainSubstring("style="), "the policy forbids inline styles")
			g.Expect(html).NotTo(gomega.ContainSubstring("<script"), "the policy forbids inline scripts")
		})
	}
}

func TestTranscriptShowsTheCut(t *testing.T) {
	for _, row := range []struct {
		name       string
		line       Line
		has, hasnt []string
	}{
		{
			"cut after some words",
			Line{ID: "a", Role: RoleAgent, Text: "One, two,", Interrupted: true},
			[]string{`data-role="assistant"`, `data-interrupted="true"`, "One, two,", `class="cut">interrupted<`},
			[]string{`data-interrupted="false"`},
		},
		{
			"cut before a word",
			Line{ID: "a", Role: RoleAgent, Interrupted: true},
			[]string{`class="cut">interrupted before a word was heard<`},
			nil,
		},
		{
			"whole",
			Line{ID: "a", Role: RoleAgent, Text: "Four."},
			[]string{`data-interrupted="false"`, "Four."},
			[]string{`class="cut"`},
		},
		{
			"live caption",
			Line{ID: "u", Role: RoleUser, Text: "what is", Live: true},
			[]string{`data-role="user"`, "what is", ">You<"},
			[]string{`data-live="false"`},
		},
		{
			"nothing understood",
			Line{ID: "u", Role: RoleUser, Failed: true},
			[]string{"(not understood)"},
			nil,
		},
		{
			"a remark instead of words",
			Line{ID: "u", Role: RoleUser, Failed: true, Note: "the recogniser stopped"},
			[]string{`class="note">the recogniser stopped<`},
			[]string{"(not understood)"},
		},
		{
			"words are data",
			Line{ID: "u", Role: RoleUser, Text: "<script>alert(1)</script>"},
			[]string{"&lt;script&gt;"},
			[]string{"<script>"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			html := ui.HTML(showLine(row.line))
			for _, part := range row.has {
				g.Expect(html).To(gomega.ContainSubstring(part))
			}
			for _, part := range row.hasnt {
				g.Expect(html).NotTo(gomega.ContainSubstring(part))
			}
		})
	}
}

func TestComponentsShowHowToGetWhatIsMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	html := shown(Snapshot{Phase: PhaseIdle, Pipeline: Pipeline{Name: "embedded", Components: []Component{
		{Stage: "transcription", Name: "sherpa", State: ComponentMissing, Install: "antiphon models get neural-en"},
		{Stage: "synthesis", Name: "flite", State: ComponentReady},
	}}})
	g.Expect(html).To(gomega.ContainSubstring(`data-state="missing"`))
	g.Expect(html).To(gomega.ContainSubstring("<code>antiphon models get neural-en</code>"))
	g.Expect(html).To(gomega.ContainSubstring(`aria-label="Copy the command"`))
	g.Expect(html).To(gomega.ContainSubstring(`data-state="ready"`))
	g.Expect(html).To(gomega.ContainSubstring(">embedded<"))
}

func TestProblemIsAnAlertWithARemedy(t *testing.T) {
	g := gomega.NewWithT(t)
	p := ProblemOf(problemPermission, "NotAllowedError")
	html := shown(Snapshot{Phase: PhaseListening, TextOnly: true, Problem: &p})
	g.Expect(html).To(gomega.ContainSubstring(`data-kind="permission"`))
	g.Expect(html).To(gomega.ContainSubstring(`role="alert"`))
	g.Expect(html).To(gomega.ContainSubstring("NotAllowedError"))
	g.Expect(html).To(gomega.ContainSubstring("Try the microphone again"))

	g.Expect(shown(Snapshot{Phase: PhaseIdle})).To(gomega.ContainSubstring(`data-kind="none"`))
}

func TestKeyIsAskedForInAField(t *testing.T) {
	g := gomega.NewWithT(t)
	p := ProblemOf(problemKey, "")
	html := shown(Snapshot{Phase: PhaseError, Problem: &p})
	g.Expect(html).To(gomega.ContainSubstring(`type="password"`))
	g.Expect(html).To(gomega.ContainSubstring("Use this key"))
}

func TestOldLinesLeaveThePage(t *testing.T) {
	g := gomega.NewWithT(t)
	lines := make([]Line, MaxLines+50)
	for i := range lines {
		lines[i] = Line{ID: "old", Role: RoleUser, Text: "old"}
	}
	lines[len(lines)-1] = Line{ID: "new", Role: RoleUser, Text: "the newest"}
	s := Snapshot{Phase: PhaseListening, Lines: lines, Trimmed: true}
	g.Expect(s.visibleLines()).To(gomega.HaveLen(MaxLines))
	html := shown(s)
	g.Expect(html).To(gomega.ContainSubstring("the newest"))
	g.Expect(html).To(gomega.ContainSubstring("Earlier lines are no longer shown."))
}

func TestAScreenReaderHearsFinalLines(t *testing.T) {
	lines := []Line{
		{ID: "a", Role: RoleUser, Text: "hello"},
		{ID: "b", Role: RoleAgent, Text: "Good", Coming: "morning"},
		{ID: "c", Role: RoleAgent, Text: "Good day"},
		{ID: "d", Role: RoleUser, Text: "what i", Live: true},
	}
	for textOnly, want := range map[bool]string{false: ``, true: `<p>Antiphon: Good day</p>`} {
		g := gomega.NewWithT(t)
		g.Expect(ui.HTML(announced(Snapshot{Lines: lines, TextOnly: textOnly}))).To(gomega.HaveSuffix(`role="log" aria-label="Newest lines">` + want + `</div>`))
		g.Expect(ui.HTML(announced(Snapshot{Lines: lines[:1], TextOnly: textOnly}))).To(gomega.ContainSubstring(`<p>You: hello</p>`))
	}
}

// TestLatencyBar checks that the shares of the bar add up to the time that the line names.
func TestLatencyBar(t *testing.T) {
	g := gomega.NewWithT(t)
	page := shown(Snapshot{Latency: MetricsLatency(310, 370, 372, 420, 424)})
	g.Expect(page).To(gomega.ContainSubstring(`<svg class="latency-bar" viewBox="0 0 424 10"`))
	sum := 0
	for _, rect := range regexp.MustCompile(`<rect class="[a-z-]+" x="(\d+)" width="(\d+)"`).FindAllStringSubmatch(page, -1) {
		from, _ := strconv.Atoi(rect[1])
		width, _ := strconv.Atoi(rect[2])
		g.Expect(from).To(gomega.Equal(sum))
		sum += width
	}
	g.Expect(sum).To(gomega.Equal(424))
}
