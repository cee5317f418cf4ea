package clients

// Clients in Python: openai, openai-agents, livekit-agents, pipecat and pydantic-ai. Their programs have the same calls and the same report.

import (
	"encoding/base64"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// pythonReport is what a program reports.
type pythonReport struct {
	Said, Heard, Calls []string
	Interruptions      int
	AudioMS            float64
	Errors             []string
}

// pythonSuite tests a program in Python.
type pythonSuite struct {
	*suite
	speaksAll bool // the client sends messages of the user by speech alone, once the conversation has begun
	overHTTP  bool // the client also has the endpoints for recordings and texts
}

func TestPython(t *testing.T) {
	for name, what := range map[string]string{
		"openai": "openai (Python)", "agents": "openai-agents (Python)", "livekit": "livekit-agents, plugin openai", "pipecat": "pipecat, OpenAI realtime",
		"pydantic_ai": "pydantic-ai, OpenAI realtime",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, "python-"+name)
			s := &pythonSuite{newSuite(t, what, runPython(t, name, args{"url": h.url, "key": key})), name == "pipecat", name == "openai"}
			s.run()
			h.stop()
			h.holds(1)
		})
	}
}

// run takes the steps of a program.
func (s *pythonSuite) run() {
	s.step("connect", func() { s.tell("connect", args{}) })
	s.step("write a message", s.writes)
	s.step("let a tool run", s.usesTool)
	s.step("speak a turn", s.speaks)
	s.step("interrupt by voice", s.bargesIn)
	if s.overHTTP {
		s.step("transcribe and speak over HTTP", s.usesSpeech)
	}
	s.step("close", func() { s.tell("close", args{}) })
}

// report returns the present report, in which there is no error.
func (s *pythonSuite) report(g gomega.Gomega) pythonReport {
	r, err := asked[pythonReport](s, "report", args{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Errors).To(gomega.BeEmpty(), "the client complains")
	return r
}

// says waits until the last answer is this one, and all its audio has come.
func (s *pythonSuite) says(words string) {
	s.t.Helper()
	s.Eventually(func(g gomega.Gomega) {
		said := s.report(g).Said
		g.Expect(said).NotTo(gomega.BeEmpty())
		g.Expect(said[len(said)-1]).To(gomega.Equal(words))
	}).Should(gomega.Succeed())
}

// ask has the user say a text, in writing where the client can.
func (s *pythonSuite) asks(text string) {
	s.t.Helper()
	if s.speaksAll {
		s.tell("say", args{"pcm": tones(text)})
	} else {
		s.tell("write", args{"text": text})
	}
}

func (s *pythonSuite) writes() {
	s.tell("write", args{"text": "good morning"})
	s.says("You said: good morning")
	s.Expect(s.report(s).AudioMS).To(gomega.BeNumerically("~", len("You said: good morning")*60, 1), "to the sample")
}

func (s *pythonSuite) usesTool() {
	s.asks("please look up weather")
	s.Eventually(func(g gomega.Gomega) {
		r := s.report(g)
		g.Expect(r.Calls).To(gomega.Equal([]string{"please look up weather"}))
		g.Expect(r.Said[len(r.Said)-1]).To(gomega.MatchRegexp(`^Tool said: "?rain over: please look up weather"?$`), "pipecat sends a text as JSON")
	}).Should(gomega.Succeed())
}

func (s *pythonSuite) speaks() {
	s.tell("say", args{"pcm": tones("hello there")})
	s.says("You said: hello there")
	s.Expect(s.report(s).Heard).To(gomega.ContainElement("hello there"))
}

// bargesIn: the user speaks in the middle of a long answer.
func (s *pythonSuite) bargesIn() {
	before := s.report(s)
	s.asks("say 60 words")
	s.Eventually(func(g gomega.Gomega) {
		g.Expect(s.report(g).AudioMS - before.AudioMS).To(gomega.BeNumerically(">", 1000))
	}).Should(gomega.Succeed())
	s.tell("say", args{"pcm": tones("stop, I know")})
	s.says("You said: stop, I know")
	after := s.report(s)
	s.Expect(after.Heard).To(gomega.ContainElement("stop, I know"))
	s.Expect(after.Interruptions).To(gomega.BeNumerically(">", before.Interruptions))
	s.Expect(after.AudioMS-before.AudioMS).To(gomega.BeNumerically("<", 20_000), "the rest of the answer, which is 34 s long, does not come")
}

// usesSpeech: the endpoints for recordings and texts.
func (s *pythonSuite) usesSpeech() {
	pcm := scripted.Tones("hello there")
	file := voice.PCM16ToBytes(wav.Header(pipeline.OutputRate, 2*len(pcm)), pcm)
	text, err := asked[string](s, "transcribe", args{"wav": base64.StdEncoding.EncodeToString(file)})
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(text).To(gomega.Equal("hello there"))
	spoken, err := asked[struct {
		Bytes               int
		Whole, Deltas, Done string
		Models              []string
	}](s, "speech", args{"text": "Good evening"})
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(spoken.Bytes).To(gomega.Equal(wav.HeaderSize + len("Good evening")*60*48))
	s.Expect(spoken.Whole).To(gomega.HavePrefix("speech of"), "the scripted recogniser does not understand the synthesizer's tones")
	s.Expect([]string{spoken.Deltas, spoken.Done}).To(gomega.Equal([]string{spoken.Whole, spoken.Whole}))
	s.Expect(spoken.Models).To(gomega.ContainElement("scripted"))
}
