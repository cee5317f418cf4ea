package listening

// Speech over the agent: words, rejected candidates, and speech that goes on.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// candidateOf lets the user speak over the agent.
func (b *bench) candidateOf(said []int16) {
	b.t.Helper()
	b.view.AgentAudible = true
	b.quiet(4000) // the client's echo cancellation has adapted
	b.speak(said)
}

func TestOneWordOverTheAgent(t *testing.T) {
	word := scripted.Tones("six")[:24*350]
	for name, c := range map[string]struct {
		near, noLive bool
		text         string
		want         []string
	}{
		"near the end its word is an answer":                   {near: true, text: "six", want: []string{"Onset", "Sustained", "Silence"}},
		"near the end an acknowledgement is an answer":         {near: true, text: "yes", want: []string{"Onset", "Sustained", "Silence"}},
		"near the end a cough has no words and is none":        {near: true, want: []string{"Onset", "Misfire"}},
		"near the end a filler is none":                        {near: true, text: "the", want: []string{"Onset", "Misfire"}},
		"without a live transcription speech is enough":        {near: true, noLive: true, want: []string{"Onset", "Sustained", "Silence"}},
		"in the middle of a response one word is rejected":     {text: "six", want: []string{"Onset", "Misfire"}},
		"in the middle an acknowledgement is rejected":         {text: "yes", want: []string{"Onset", "Misfire"}},
		"in the middle speech without a transcription is, too": {noLive: true, want: []string{"Onset", "Misfire"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			b.near, b.view.NoLiveTranscription = c.near, c.noLive
			b.candidateOf(word)
			b.quiet(300)
			if e := b.in.Partial(b.turns, c.text); c.text != "" && e != nil {
				b.take(e)
			}
			b.quiet(1000)
			b.g.Expect(b.events).To(gomega.Equal(c.want))
		})
	}
}

func TestWordsOfARejectedCandidateBelongToTheTurnThatFollows(t *testing.T) {
	for pause, kept := range map[int]bool{900: true, 2500: false} {
		b := newBench(t, nil)
		six := scripted.Tones("six")[:24*350]
		b.candidateOf(six)
		b.in.Partial(b.turns, "six")
		b.quiet(pause)
		b.view.AgentAudible = false
		b.speak(scripted.Tones("and seven"))
		b.quiet(700)
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Misfire", "Onset", "Silence"}))
		b.g.Expect(len(b.commits[0])/24 > 1080+500+pause).To(gomega.Equal(kept), "after %d ms", pause)
	}
}

func TestSpeechThatGoesOnBeginsTheNextTurn(t *testing.T) {
	long := scripted.Tones("a long sentence that goes on and on without any pause")
	t.Run("after the client has cleared the buffer", func(t *testing.T) {
		b := newBench(t, nil)
		b.candidateOf(long[:24*200])
		b.view.Turn = turn.Idle{} // the machine's state after a clear
		b.in.CandidateRejected()
		b.in.Clear()
		b.speak(long[24*200 : 24*900])
		b.g.Expect(b.events).To(gomega.Equal([]string{"Onset", "Onset"}))
	})
	t.Run("after a rejection at the deadline", func(t *testing.T) {
		b := newBench(t, nil)
		b.candidateOf(long[:24*200])
		b.in.Partial(b.turns, "uh huh")
		b.speak(long[24*200 : 24*1400])
		b.g.Expect(b.events[:3]).To(gomega.Equal([]string{"Onset", "Misfire", "Onset"}))
	})
}
