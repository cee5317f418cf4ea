package e2e

// A pipeline that recognises each utterance again as a whole: its text decides whether the turn has ended.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/server"
)

// secondLook is the script of a recogniser that hears some utterances otherwise than the live one.
const secondLook = `
transcriber:
  rules:
    - {when: {exact: turn it off}, text: turn it on}
    - {when: {exact: my number is}, text: "my number is,"}
    - {when: {exact: a door slams}, text: ""}
`

// TestTheWholeUtteranceDecides: the whole text is the transcript, or it has no end and the turn goes on, or it has no words and the turn is dropped.
func TestTheWholeUtteranceDecides(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	script, err := scripted.Parse("secondLook", []byte(secondLook))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	second := scripted.New(scripted.Options{Script: script})
	t.Cleanup(func() { g.Expect(second.Close()).To(gomega.Succeed()) })
	h := open(t, nil, func(cfg *server.Config) { cfg.Pipeline.Retranscriber = second.Transcriber })
	c := call(t, callOptions{url: h.url, sdk: sdk.Options{TurnDetection: &sdk.TurnDetection{Semantic: true, Eagerness: "high"}}})
	c.say("turn it off")
	c.answer("You said: turn it on")

	c.say("a door slams")
	c.next("input_audio_buffer.cleared")

	said := c.mic.spoken() + length(tones("my number is"))
	c.say("my number is")
	c.Expect(c.nextSeen("input_audio_buffer.committed").spoken - said).To(gomega.BeNumerically(">=", 1500*time.Millisecond))
	c.answer("You said: my number is")
	c.Expect(c.transcripts(0)).To(gomega.Equal([]string{"turn it on", "my number is"}))
}
