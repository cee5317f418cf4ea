package calltest

// Files of calls, calls against a real server, and reports.

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a call.yaml")
	gomega.NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	return path
}

// TestMistakesInFiles: a file gets all of its mistakes with their lines.
func TestMistakesInFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	path := file(t, `tools:
- {name: weather, answers: a, fails: b}
call:
- {say: x, wait: 2s}
- answer: {says: /(/, not: "...", with: {a: 1}}
- over: 1s
- sya: hello
- play: none.wav
`)
	_, err := Load(path)
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(strings.Split(strings.ReplaceAll(err.Error(), path+":", ""), "\n")).To(gomega.ConsistOf(
		"2:38: a tool answers or fails",
		"4:3: a step has one of say, play, write, wait, silence and answer; this one has 2 of them",
		gomega.HavePrefix("5:18: error parsing regexp: missing closing )"),
		`5:28: "..." has no words`,
		"5:41: with belongs to calls: name the tool",
		"6:9: over belongs to say or play",
		"6:3: a step has one of say, play, write, wait, silence and answer; this one has 0 of them",
		`7:3: unknown key "sya"; did you mean "say"?`,
		"7:3: a step has one of say, play, write, wait, silence and answer; this one has 0 of them",
		gomega.MatchRegexp(`^8:9: there is no file /.*none\.wav$`),
	))
	_, err = Load(file(t, "name: nothing\n"))
	g.Expect(err).To(gomega.MatchError(gomega.HaveSuffix("call is missing")))
	for _, empty := range []string{"", "# nothing\n", "call: []\n"} {
		_, err = Load(file(t, empty))
		g.Expect(err).To(gomega.MatchError(gomega.HaveSuffix("call is empty: it has no steps")), empty)
	}
}

func TestPatterns(t *testing.T) {
	for _, row := range []struct {
		expected, text string
		matches        bool
	}{
		{"it is ten", "Well: IT IS, ten.", true},
		{"it's ten", "It's ten", true},
		{"ten", "often", false},
		{"tête à tête", "un Tête à tête!", true},
		{"/ten|21/", "It is 21.", true},
		{"/^ten/", "It is ten.", false},
	} {
		p, err := pattern(row.expected)
		g := gomega.NewWithT(t)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(p.MatchString(row.text)).To(gomega.Equal(row.matches), "%s in %s", row.expected, row.text)
	}
}

// begin starts a server.
func begin(t *testing.T, p *pipeline.Pipeline) *Target {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, LoopbackOnly: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.Succeed())
		h.Close()
	})
	return &Target{URL: h.URL, Loopback: true, Patience: time.Minute}
}

const tools = `tools:
- name: weather
  parameters: {type: object, properties: {days: {type: integer}}, required: [days]}
  answers: '{"temperature": 21}'
`

// TestCalls plays calls with an agent whose answers are known.
func TestCalls(t *testing.T) {
	for name, row := range map[string]struct {
		text     string
		problems []any
	}{
		"an agent that does all": {tools + `call:
- write: say 60 words
- say: Wait, stop that please.
  over: 500ms
- answer: {interrupted: true, says: one two, not: sixty, yields: 20s}
- answer: {says: You said, calls: [], interrupted: false}
- silence: 500ms
- write: the weather
- answer: {calls: [weather], with: {days: 0}, says: [Tool said, "21"], within: 30s}
`, nil},
		"an agent that does nothing of it": {tools + `call:
- write: say 3 words
- answer: {says: four, not: two, interrupted: true, yields: 1s}
- write: the weather
- answer: {calls: [], with: {}}
- write: the weather
- answer: {calls: [weather], with: {city: Rome}}
- write: fail
- answer: {}
`, []any{
			`step 2: the agent was to say four, and said "One two three."`,
			`step 2: the agent was not to say two, and said "One two three."`,
			"step 2: the agent was to be silent within 1s, and the user has not interrupted it",
			`step 2: interrupted is false, want true: "One two three."`,
			"step 4: the agent was to call [], and has called [weather]",
			`step 6: a call was to have the arguments {"city":"Rome"}; the calls have [{"days":0}]`,
			gomega.HavePrefix("step 8: the agent has given no answer: "),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			target := begin(t, scripted.New(scripted.Options{}))
			if row.problems != nil {
				target.Patience = 5 * time.Second
			}
			f, err := Load(file(t, row.text))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(f.Name).To(gomega.Equal("a call"))
			r, err := Play(t.Context(), target, f)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(r.Problems).To(gomega.HaveExactElements(row.problems...), strings.Join(r.Transcript, "\n"))
			g.Expect(r.Keep(t.TempDir(), "x")).To(gomega.Succeed())
		})
	}
}

// honest is a model that finds only true what it is told to be true.
type honest struct{}

func (honest) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	last := r.Messages[len(r.Messages)-1].Text
	answer := "Good day."
	if strings.Contains(last, "agent: Good day.") {
		answer = "No, it was not."
		if strings.HasSuffix(last, "the agent was polite") {
			answer = "**Yes**, it said good day."
		}
	}
	return pipeline.Usage{}, emit(pipeline.TextDelta{Text: answer})
}

// TestTheJudge: the server's model reads the call and judges it, in a session of its own.
func TestTheJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	p := scripted.New(scripted.Options{})
	p.Model = honest{}
	f, err := Load(file(t, `call:
- write: hello
- answer: {judge: the agent was polite}
- write: hello
- answer: {judge: the agent was rude}
`))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r, err := Play(t.Context(), begin(t, p), f)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Problems).To(gomega.ConsistOf(`step 4: the judge finds this not true: the agent was rude: "No, it was not."`))
}

// TestAServerThatIsNotThere: a call that cannot be placed is an error, and not a result.
func TestAServerThatIsNotThere(t *testing.T) {
	g := gomega.NewWithT(t)
	f, err := Load(file(t, "call: [{write: hello}]"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = Play(t.Context(), &Target{URL: "http://127.0.0.1:1", Patience: time.Second}, f)
	g.Expect(err).To(gomega.HaveOccurred())
}

func TestReports(t *testing.T) {
	g := gomega.NewWithT(t)
	all := []*Result{
		{File: "a.yaml", Name: "a", Transcript: []string{"user: hi", "agent: <hi>"}, Answers: []Times{{First: 250 * time.Millisecond}}, Seconds: 1.5},
		{File: "b.yaml", Name: "b", Problems: []string{"step 1: no", "step 2: no"}, Answers: []Times{{Yield: time.Second}}, Seconds: 2},
	}
	var out bytes.Buffer
	for _, r := range all {
		r.Print(&out)
	}
	g.Expect(out.String()).To(gomega.Equal("ok     a (1.5 s, answer after 250 ms)\nFAILED b (2.0 s, silent after 1000 ms)\n  step 1: no\n  step 2: no\n"))
	out.Reset()
	g.Expect(WriteJUnit(&out, all)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.Equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="antiphon test" tests="2" failures="1" time="3.500">
  <testcase classname="a.yaml" name="a" time="1.500">
    <system-out>user: hi&#xA;agent: &lt;hi&gt;</system-out>
  </testcase>
  <testcase classname="b.yaml" name="b" time="2.000">
    <failure message="step 1: no">step 1: no&#xA;step 2: no</failure>
  </testcase>
</testsuite>`))
	out.Reset()
	g.Expect(WriteJSON(&out, all[:1])).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.MatchJSON(`[{"file": "a.yaml", "name": "a", "transcript": ["user: hi", "agent: <hi>"], "answers": [{"first_ms": 250, "yield_ms": 0}], "seconds": 1.5}]`))
}
