package e2e

// Barge-in with the SDK, which predicts it.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// predicting places a call of a client that predicts barge-in, and returns while the agent says twenty words. It waits for a while
// first, because the detector's thresholds are raised at the beginning.
func predicting(t *testing.T, h *house, webSocket bool) *caller {
	t.Helper()
	c := call(t, callOptions{url: h.url, webSocket: webSocket, native: native.Options{Detector: true}})
	c.ask("say 20 words")
	c.begin()
	c.hear(3500 * time.Millisecond)
	return c
}

// TestPredictedShortSound: the client ducks the agent, the server rejects the candidate, and no word is lost.
func TestPredictedShortSound(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebRTC": false, "WebSocket": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, nil, nil)
			c := predicting(t, h, webSocket)
			c.speak(scripted.Tones("")[:native.Rate*200/1000])
			c.next("antiphon.barge_in.rejected")
			c.hear(time.Duration(len(twenty)) * scripted.Character)
			if webSocket { // there is no silence between the sound before the hold and after it, so the text cannot be decoded
				again := time.Duration(c.Snapshot().Interruptions.RepeatedMS) * time.Millisecond
				c.Consistently(c.heard, time.Second).Should(gomega.BeNumerically("<=", time.Duration(len(twenty))*scripted.Character+again+200*time.Millisecond))
			} else {
				c.Eventually(func() int { return missing(twenty, c.heardText()) }, patience).Should(gomega.BeNumerically("<=", 3),
					"a packet that is lost on the way takes a character with it")
			}
			c.Expect(c.Snapshot().Interruptions.LostMS).To(gomega.BeZero())
			c.Expect(c.Snapshot().Interruptions.Candidates).To(gomega.BeEquivalentTo(1))
			c.Expect(c.Snapshot().Interruptions.Rejected).To(gomega.BeEquivalentTo(1))
			c.Expect(c.count("input_audio_buffer.speech_started") + c.count("output_audio_buffer.cleared")).To(gomega.BeZero())
		})
	}
}

// TestPredictedInterruption: the client ducks the agent before the server has decided, and reports the played position.
func TestPredictedInterruption(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := predicting(t, h, false)
	c.say("stop it now please")
	cut := nextOf[*wire.ConversationItemTruncated](c)
	c.Expect(cut.AudioEndMS).To(gomega.BeNumerically(">", 3000))
	c.Expect(c.Snapshot().Interruptions.Confirmed).To(gomega.BeEquivalentTo(1))
	c.Expect(c.count("antiphon.barge_in.rejected")).To(gomega.BeZero())
	actions := h.actions(t, "playout")
	c.Expect(actions).To(gomega.ContainElements("Hold", "ConfirmReported", "Truncate"))
	c.Expect(actions).NotTo(gomega.ContainElement("TruncateUnheard"))
	c.next("output_audio_buffer.stopped")
}

// missing returns how many characters of text are not in heard, in order. Repeated text does not count.
func missing(text, heard string) int {
	row := make([]int, len(heard)+1) // the length of the longest common subsequence so far
	for i := range len(text) {
		corner := 0
		for j := range len(heard) {
			above := row[j+1]
			if text[i] == heard[j] {
				row[j+1] = corner + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			corner = above
		}
	}
	return len(text) - row[len(heard)]
}
