package noisebench

// What the benchmarks measure with.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/sdk"
)

// Human talk in the background of a human caller, for 5 minutes.
func TestTalkInTheBackground(t *testing.T) {
	g := gomega.NewWithT(t)
	caller := prompts(t, 'a', 'm')
	others := prompts(t, 'n', 'z')
	onsets, ducks := alone(newListener(true), caller, others, 18, 1)
	g.Expect([]int{onsets, ducks}).To(gomega.Equal([]int{0, 0}))
	onsets, _ = alone(newListener(false), caller, others, 18, 1)
	g.Expect(onsets).To(gomega.BeNumerically(">", 50))
}

// A caller who becomes 10 dB softer is heard in the first or second sentence.
func TestASofterCaller(t *testing.T) {
	g := gomega.NewWithT(t)
	caller := prompts(t, 'a', 'm')
	for k := 0; k < len(caller); k += 30 {
		sentence, _ := heardIn(caller, k, 10)
		g.Expect(sentence).To(gomega.BeNumerically("<", 2), caller[k].Name)
	}
}

// Each condition changes the sound of the microphone or has a network of its own, and keeps the length of the sound.
func TestConditions(t *testing.T) {
	g := gomega.NewWithT(t)
	others := prompts(t, 'a', 'b')
	said := others[:2]
	quiet, spans, err := newTrack(condition{}, said, others)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(spans[0].from).To(gomega.BeNumerically("~", callLead, time.Second))
	g.Expect(spans[1].from).To(gomega.BeNumerically(">", spans[0].to+callGap))
	for _, c := range conditions()[4:] {
		changed, _, err := newTrack(c, said, others)
		g.Expect(err).NotTo(gomega.HaveOccurred(), c.name)
		g.Expect(changed.pcm).To(gomega.HaveLen(len(quiet.pcm)), c.name)
		if c.change == nil {
			g.Expect(c.link.Loss).To(gomega.BeNumerically(">", 0), c.name)
			continue
		}
		g.Expect(changed.pcm).NotTo(gomega.Equal(quiet.pcm), c.name)
	}
}

// A sentence that is heard while the agent speaks has interrupted it. An onset where nobody speaks is a false one.
func TestJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	const s = time.Second
	var r result
	r.judge([]change{
		{2200 * time.Millisecond, sdk.Listening, sdk.UserSpeaking},
		{4 * s, sdk.UserSpeaking, sdk.Thinking},
		{4500 * time.Millisecond, sdk.Thinking, sdk.AgentSpeaking},
		{7 * s, sdk.AgentSpeaking, sdk.UserSpeaking},
		{8 * s, sdk.UserSpeaking, sdk.AgentSpeaking},
		{10300 * time.Millisecond, sdk.AgentSpeaking, sdk.UserSpeaking},
		{10600 * time.Millisecond, sdk.UserSpeaking, sdk.AgentSpeaking},
		{11 * s, sdk.AgentSpeaking, sdk.UserSpeaking},
	}, []span{{2 * s, 4 * s}, {10 * s, 12 * s}})
	g.Expect(r).To(gomega.Equal(result{
		onsets: []time.Duration{200 * time.Millisecond, 300 * time.Millisecond}, answers: []time.Duration{500 * time.Millisecond},
		interrupted: 1, falseOnsets: 1, falseCuts: 1,
	}))
}

// Each word that is said over the agent is one short sound.
func TestStoppings(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, s := range stoppings() {
		x, err := s.sound()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		first, last := spoken(x)
		g.Expect(last-first).To(gomega.And(gomega.BeNumerically(">", human.Rate/5), gomega.BeNumerically("<", 3*human.Rate/2)), s.text)
	}
}

// A pair of sentences belongs to the row of its time between the begin of the agent and that of the user.
func TestRowsOfTalkOver(t *testing.T) {
	g := gomega.NewWithT(t)
	rows := []*instant{{least: -sameInstant}, {most: sameInstant}}
	g.Expect(rowOf(rows, -sameInstant)).To(gomega.BeIdenticalTo(rows[0]))
	g.Expect(rowOf(rows, 0)).To(gomega.BeIdenticalTo(rows[1]))
	g.Expect(rowOf(rows, sameInstant)).To(gomega.BeNil())
	rows[1].add(talkOver{agent: 2 * time.Second, begin: 2100 * time.Millisecond, heard: 2500 * time.Millisecond, wrong: 1, words: 9})
	g.Expect(*rows[1]).To(gomega.Equal(instant{most: sameInstant, all: 1, heard: 1, both: []time.Duration{400 * time.Millisecond}, wrong: 1, words: 9}))
}
