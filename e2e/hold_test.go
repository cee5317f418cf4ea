package e2e

// Sounds over the agent that are no barge-in: the agent goes on and loses no word.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// twenty is the scripted model's answer to "say 20 words".
const twenty = "One two three four, five six seven eight. Nine ten eleven twelve, thirteen fourteen fifteen sixteen. " +
	"Seventeen eighteen nineteen twenty."

// TestSoundsThatDoNotInterrupt: after a sound that is no barge-in, the agent goes on after a moment and loses no word
// (livekit/agents#1229, #4039, #4270, and the order of acknowledgement and response in livekit/agents#6662).
func TestSoundsThatDoNotInterrupt(t *testing.T) {
	t.Parallel()
	for name, sound := range map[string]struct {
		pcm  []int16
		held bool // the server must have held the response
	}{
		"a cough":            {noise(200 * time.Millisecond), false},
		"a grunt":            {scripted.Tones("")[:native.Rate*200/1000], true},
		"an acknowledgement": {drawnOut("ok", 300*time.Millisecond), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			c := call(t, callOptions{url: h.url})
			c.ask("say 20 words")
			c.begin()
			c.hear(time.Second)
			c.speak(sound.pcm)
			done := c.answer(twenty)
			c.voiceTurn("and now I talk")

			c.Expect(done.Response.StatusDetails).To(gomega.BeNil())
			c.Expect(c.heardText()).To(saysAllBut(3, twenty))
			c.Expect(c.count("input_audio_buffer.speech_started")).To(gomega.Equal(1), "the last turn's")
			c.Expect(c.count("output_audio_buffer.cleared")).To(gomega.BeZero())
			c.Expect(c.count("conversation.item.truncated")).To(gomega.BeZero())
			actions := h.actions(t, "playout")
			if sound.held {
				c.Expect(actions).To(gomega.Equal([]string{"Begin", "Hold", "MissHeld", "Reject", "Drained", "ForgetTail", "Begin", "Drained"}))
			}
			c.Expect(actions).NotTo(gomega.ContainElement("Confirm"))
		})
	}
}

// TestTurnWaitsWhereItMayNotInterrupt: with interrupt_response off the agent finishes its response, and answers the turn after it.
func TestTurnWaitsWhereItMayNotInterrupt(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url, sdk: sdk.Options{TurnDetection: &sdk.TurnDetection{NoInterrupt: true}}})
	c.ask("say 30 words")
	c.begin()
	c.hear(time.Second)
	c.say("I can wait")
	c.next("input_audio_buffer.committed")
	long := nextOf[*wire.ResponseDone](c)
	c.Expect(long.Response.Status).To(gomega.Equal("completed"))
	c.Eventually(func() int { return c.count("output_audio_buffer.stopped") }, patience).Should(gomega.Equal(2))

	c.Expect(c.count("output_audio_buffer.cleared")).To(gomega.BeZero())
	c.Expect(c.transcripts(0)).To(gomega.Equal([]string{"I can wait"}))
	all := transcript(long) + "You said: I can wait"
	c.hear(time.Duration(len(all))*scripted.Character - 60*time.Millisecond)
	c.Expect(c.heardText()).To(saysAllBut(1, all)) // a lost packet loses one character
	c.Expect(h.actions(t, "playout")).To(gomega.Equal([]string{"Begin", "Drained", "Begin", "Drained"}))
}

// drawnOut returns the tones of a text whose last sound goes on for a while. By its length alone the sound would be a barge-in, but its
// words come earlier and decide otherwise. The lead-in is shortened by the same time.
func drawnOut(text string, by time.Duration) []int16 {
	const symbol, period = native.Rate * 30 / 1000, native.Rate / 125
	pcm := scripted.Tones(text)[6*symbol:]
	last := len(pcm) - symbol
	tone := pcm[last : last+3*period]
	out := append([]int16(nil), pcm[:last]...)
	for range int(by.Seconds()*native.Rate) / len(tone) {
		out = append(out, tone...)
	}
	return append(out, pcm[last:]...)
}

// noise returns a burst of steady noise, as loud as speech.
func noise(d time.Duration) []int16 {
	r := rand.New(rand.NewPCG(1, 2))
	pcm := make([]int16, int(d.Seconds()*native.Rate))
	for i := range pcm {
		pcm[i] = int16(r.IntN(16000) - 8000)
	}
	return pcm
}

// saysAllBut matches a text that begins with text, in which at most n characters are missing at one place.
func saysAllBut(n int, text string) gomega.OmegaMatcher {
	return gomega.WithTransform(func(heard string) int { return lost(heard, text) }, gomega.BeNumerically("<=", n))
}

// containsAllBut is saysAllBut for a text that may begin anywhere.
func containsAllBut(n int, text string) gomega.OmegaMatcher {
	return gomega.WithTransform(func(heard string) int {
		least := len(text)
		for at := range len(heard) {
			least = min(least, lost(heard[at:], text))
		}
		return least
	}, gomega.BeNumerically("<=", n))
}

// lost returns how many characters of text are missing, at one place, at the beginning of heard.
func lost(heard, text string) int {
	heard = heard[:min(len(heard), len(text))]
	begin := 0
	for begin < len(heard) && heard[begin] == text[begin] {
		begin++
	}
	for n := 0; ; n++ {
		if rest := text[min(begin+n, len(text)):]; len(heard) >= begin+len(rest) && heard[begin:begin+len(rest)] == rest {
			return n
		}
	}
}
