package calltest

// Files of calls, calls against a real server, and reports.

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

var rewrite = flag.Bool("rewrite", false, "write the golden file")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a call.yaml")
	gomega.NewWithT(t).Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	return path
}

// TestMistakesInFiles: a file gets all of its mistakes with their lines.
func TestMistakesInFiles(t *testing.T) {
	for text, mistakes := range map[string][]any{
		`tools:
- {name: weather, answers: a, fails: b}
- {name: the weather}
- {name: weather}
line: {loss: 2, noise: 99dB, codec: mp3}
call: [{write: hello}]
`: {
			"2:38: a tool answers or fails",
			`3:10: the tool name "the weather" is not 1 to 64 of a-z, A-Z, 0-9, _ and -`,
			"2:1: two tools have the name weather",
			`5:14: want 0% to 50% with the unit, such as 2%, not "2"`,
			`5:24: want 0dB to 60dB with the unit, such as 2dB, not "99dB"`,
			gomega.HavePrefix(`5:37: "mp3" is not known; `),
		},
		`call:
- {say: x, wait: 2s}
- answer: {says: /(/, not: "...", with: {a: 1}}
- over: 1s
- sya: hello
- wait: 3
- write: ""
- {say: x, pause: 2s}
- play: none.wav
`: {
			"2:3: a step has one of say, play, write, wait, silence and answer; this one has 2 of them",
			gomega.HavePrefix("3:18: error parsing regexp: missing closing )"),
			`3:28: "..." has no words`,
			"3:41: with belongs to calls: name the tool",
			"4:3: a step has one of say, play, write, wait, silence and answer; this one has 0 of them",
			`5:3: unknown key "sya"; did you mean "say"?`,
			gomega.HavePrefix("6:9: want a duration such as"),
			"7:10: write is empty",
			"8:19: pause belongs to a say with a list of texts: say: [I want to fly, to Paris]",
			gomega.MatchRegexp(`^9:9: there is no file /.*none\.wav$`),
		},
	} {
		path := file(t, text)
		_, err := Load(path)
		g := gomega.NewWithT(t)
		g.Expect(err).To(gomega.HaveOccurred())
		g.Expect(strings.Split(strings.ReplaceAll(err.Error(), path+":", ""), "\n")).To(gomega.ConsistOf(mistakes...))
	}
	g := gomega.NewWithT(t)
	_, err := Load(file(t, "name: nothing\n"))
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

// inMemory starts a server in the bubble of the test, so that the call takes virtual time.
func inMemory(t *testing.T, p *pipeline.Pipeline) *Target {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, LoopbackOnly: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	target, end := InMemory(s)
	t.Cleanup(func() {
		g.Expect(s.Close(context.Background())).To(gomega.Succeed())
		end()
	})
	return target
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
		problems []any // behind the path of the file
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
			`7: the agent was to say four, and said "One two three."`,
			`7: the agent was not to say two, and said "One two three."`,
			"7: the agent was to be silent within 1s, and the user has not interrupted it",
			`7: interrupted is false, want true: "One two three."`,
			"9: the agent was to call [], and has called [weather]",
			`11: a call was to have the arguments {"city":"Rome"}; the calls have [{"days":0}]`,
			gomega.HavePrefix("13: the agent has given no answer: "),
		}},
	} {
		of := func(t *testing.T) {
			g := gomega.NewWithT(t)
			target := inMemory(t, scripted.New(scripted.Options{}))
			f, err := Load(file(t, row.text))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(f.Name).To(gomega.Equal("a call"))
			r, err := Play(t.Context(), target, f)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			var problems []string
			for _, p := range r.Problems {
				problems = append(problems, strings.TrimPrefix(p, f.Path+":"))
			}
			g.Expect(problems).To(gomega.HaveExactElements(row.problems...), strings.Join(r.Transcript, "\n"))
			g.Expect(r.Keep(t.TempDir(), "x")).To(gomega.Succeed())
		}
		t.Run(name, func(t *testing.T) { synctest.Test(t, of) })
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
func TestTheJudge(t *testing.T) { synctest.Test(t, judge) }

func judge(t *testing.T) {
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
	r, err := Play(t.Context(), inMemory(t, p), f)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Problems).To(gomega.ConsistOf(f.Path + `:5: the judge finds this not true: the agent was rude: "No, it was not."`))
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
		{File: "b.yaml", Name: "b", Problems: []string{"step 1: no", "step 2: no"}, Answers: []Times{{Yield: time.Second}}, Seconds: 2, Kept: []string{"b-1.svg"}},
	}
	var out bytes.Buffer
	g.Expect(WriteJUnit(&out, all)).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.Equal(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="antiphon test" tests="2" failures="1" time="3.500">
  <testcase classname="a.yaml" name="a" time="1.500">
    <system-out>user: hi&#xA;agent: &lt;hi&gt;</system-out>
  </testcase>
  <testcase classname="b.yaml" name="b" time="2.000">
    <failure message="step 1: no">step 1: no&#xA;step 2: no</failure>
    <system-out>&#xA;[[ATTACHMENT|b-1.svg]]</system-out>
  </testcase>
</testsuite>`))
	out.Reset()
	g.Expect(WriteJSON(&out, all[:1])).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.MatchJSON(`[{"file": "a.yaml", "name": "a", "transcript": ["user: hi", "agent: <hi>"], "answers": [{"first_ms": 250, "yield_ms": 0}], "seconds": 1.5}]`))
}

// TestPicture: what a picture shows is in testdata/picture.svg. With -rewrite the test writes it.
func TestPicture(t *testing.T) {
	g := gomega.NewWithT(t)
	at := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	wave := func(from, to float64) []float64 {
		all := make([]float64, 600)
		for i := int(from * 50); i < int(to*50); i++ {
			all[i] = 0.5 + 0.4*math.Sin(float64(i))
		}
		return all
	}
	p := &picture{
		title: "The agent can be interrupted <at once>", length: at(12),
		states: []label{{0, 0, "listening"}, {at(1), 0, "user speaking"}, {at(2.5), 0, "thinking"}, {at(3), 0, "agent speaking"}, {at(6), 0, "held"}, {at(6.4), 0, "listening"}},
		said:   []label{{at(1), 0, "Count to thirty."}, {at(6), 0, "Wait."}}, understood: []label{{at(1.1), 0, "Count to thirty."}, {at(6.4), 0, "Wait."}},
		answered: []label{{at(3), at(6), "One, two, three, four, five, six, seven"}}, acts: []label{{at(2.6), 0, `count {"to":30}`}},
		problems: []label{{at(6.5), 0, `order.yaml:9: the agent was not to say five, and said "One, two, three, four, five"`}, {at(12), 0, strings.Repeat("long ", 50)}},
		user:     wave(1, 2.5), agent: wave(3, 6.2),
	}
	var out bytes.Buffer
	g.Expect(p.write(&out)).To(gomega.Succeed())
	if *rewrite {
		g.Expect(os.WriteFile("testdata/picture.svg", out.Bytes(), 0o600)).To(gomega.Succeed())
	}
	golden, err := os.ReadFile("testdata/picture.svg")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(out.String()).To(gomega.Equal(string(golden)))
	for d := xml.NewDecoder(&out); ; { // it is XML
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
	}
}

// TestPacketsOfABadLine: they are lost and late as the line says, and keep their order.
func TestPacketsOfABadLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		b := newBadLine(&Line{Loss: 0.1, Delay: 80 * time.Millisecond, Jitter: 60 * time.Millisecond}, speechLevel, 1)
		var came []int
		var early, late int
		for i := range 1000 {
			begin := time.Now()
			b.packet(func() {
				came = append(came, i)
				switch d := time.Since(begin); {
				case d < 80*time.Millisecond:
					early++
				case d > 140*time.Millisecond:
					late++
				}
			})
			<-time.After(20 * time.Millisecond)
		}
		<-time.After(time.Second)
		synctest.Wait()
		g.Expect(slices.IsSorted(came)).To(gomega.BeTrue())
		g.Expect(early + late).To(gomega.BeZero())
		g.Expect(len(came)).To(gomega.And(gomega.BeNumerically(">", 850), gomega.BeNumerically("<", 950)))
	})
}

// TestSoundOfABadLine: the noise has its level, and a telephone passes what a telephone passes, without a gap.
func TestSoundOfABadLine(t *testing.T) {
	g := gomega.NewWithT(t)
	quiet := decibels(20)
	level := func(b *badLine, hertz float64) float64 {
		pcm := make([]int16, 100*native.FrameSize)
		for i := range pcm {
			pcm[i] = int16(8000 * math.Sin(2*math.Pi*hertz*float64(i)/native.Rate))
		}
		for rest := pcm; len(rest) > 0; rest = rest[native.FrameSize:] {
			b.frame(rest[:native.FrameSize])
		}
		return 10 * math.Log10(meanSquare(pcm[10*native.FrameSize:]))
	}
	g.Expect(level(newBadLine(&Line{Noise: &quiet}, -20, 1), 0)).To(gomega.BeNumerically("~", -40, 1))
	clean := level(newBadLine(nil, -20, 1), 1000)
	g.Expect(level(newBadLine(&Line{Codec: "g711"}, -20, 1), 1000)).To(gomega.BeNumerically("~", clean, 0.5))
	g.Expect(level(newBadLine(&Line{Codec: "g711"}, -20, 1), 6000)).To(gomega.BeNumerically("<", clean-30))
}

// TestABadLine: over WebRTC packets are lost; a WebSocket refuses that.
func TestABadLine(t *testing.T) {
	g := gomega.NewWithT(t)
	target := begin(t, scripted.New(scripted.Options{}))
	for line, understood := range map[string]bool{"{delay: 100ms, jitter: 40ms, noise: 20dB, codec: g711}": true, "{loss: 50%}": false} {
		f, err := Load(file(t, "line: "+line+"\ncall:\n- say: [Good day to you, my friend]\n  pause: 200ms\n- answer: {heard: good day}\n"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		r, err := Play(t.Context(), target, f)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Passed()).To(gomega.Equal(understood), "%s: %q", line, r.Problems)
		_, err = Play(t.Context(), &Target{WebSocket: true}, f)
		g.Expect(err).To(gomega.MatchError(gomega.HavePrefix(f.Path + ":1: a WebSocket loses and delays no packets")))
	}
}

// TestAnInterruptionBetweenTwoSentences: an agent that the user interrupts while it is silent anyway has yielded.
func TestAnInterruptionBetweenTwoSentences(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &call{result: &Result{}, speaker: native.NewSpeaker(0), over: true, began: time.Now()}
	c.compareTimes(&Answer{Yields: time.Second}, true)
	g.Expect(c.result.pending).To(gomega.BeEmpty())
}

// TestAnAnswerThatIsMadeAtOnce: over a WebSocket an answer can be complete before its playback begins. It is heard all the same.
func TestAnAnswerThatIsMadeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		script, err := scripted.Parse("script.yaml", []byte("synthesizer: {speedup: 1000000}\n"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		f, err := Load(file(t, "call:\n- write: hello\n- answer: {says: you said, within: 1s}\n- silence: 2s\n"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		r, err := Play(t.Context(), inMemory(t, scripted.New(scripted.Options{Script: script})), f)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Problems).To(gomega.BeEmpty())
	})
}
