package e2e

// A person's voice in a call: neural recognition and a neural voice, with the models that scripts/models.sh fetches.

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/rnnoise"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
	"github.com/antiphon-rt/antiphon/wire"
)

// neural opens a server with the neural pipeline.
func neural(t *testing.T) *house {
	t.Helper()
	return neuralWith(t, func(*pipeline.Pipeline) {})
}

// neuralWith opens a server with the neural pipeline that complete has completed.
func neuralWith(t *testing.T, complete func(*pipeline.Pipeline)) *house {
	t.Helper()
	g := gomega.NewWithT(t)
	c := sherpa.Config{Models: "../.cache/models", Processes: 1}
	hears, err := sherpa.Recogniser(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	speaks, err := sherpa.Synthesizer(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := pipeline.Compose("sherpa", hears, embedded.Assistant(embedded.Options{}), speaks)
	p.ReduceNoise(rnnoise.New(rnnoise.Config{Models: c.Models}))
	complete(p)
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	return open(t, nil, func(cfg *server.Config) { cfg.Pipeline = p })
}

// prompt returns a prompt as the microphone takes it, with silence around it.
func prompt(t *testing.T, name string) []int16 {
	t.Helper()
	g := gomega.NewWithT(t)
	said, err := human.Prompt(name)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	up, err := voice.NewResampler(human.Rate, native.Rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm := up.FlushPCM16(up.AppendPCM16(make([]int16, native.Rate/4), said))
	return append(pcm, make([]int16, native.Rate)...)
}

// A person speaks ten sentences. Nine of them are understood but for one word, each with captions while it is spoken. The answer to the
// last one is heard.
func TestAPersonIsUnderstood(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	texts, err := human.Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := call(t, callOptions{name: "person", url: neural(t).url})
	c.sendText([]byte(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","create_response":false}}}}}`))
	c.next("session.updated")
	understood := 0
	for _, name := range []string{
		"agent-alreadyon", "agent-pass", "cannot-complete-as-dialed", "check-number-dial-again", "conf-getpin",
		"conf-kicked", "conf-placeintoconf", "conf-waitforleader", "feature-not-avail-line", "conf-extended",
	} {
		c.speak(prompt(t, name))
		caption := c.nextSeen("conversation.item.input_audio_transcription.delta")
		done := c.nextSeen("conversation.item.input_audio_transcription.completed")
		g.Expect(caption.spoken).To(gomega.BeNumerically("<=", done.spoken))
		heard := done.ServerEvent.(*wire.ConversationItemInputAudioTranscriptionCompleted).Transcript //nolint:forcetypeassert // the name says it
		if n, _ := human.WrongWords(texts[name], heard); n <= 1 {
			understood++
		} else {
			t.Logf("%s: %d words wrong: %q for %q", name, n, heard, texts[name])
		}
	}
	g.Expect(understood).To(gomega.BeNumerically(">=", 9))
	before := c.heard()
	c.send(&wire.ResponseCreate{})
	answer := nextOf[*wire.ResponseDone](c)
	g.Expect(answer.Response.Status).To(gomega.Equal("completed"))
	c.hear(before + time.Second)
}

// A person speaks beside a fan, with noise reduction, and is understood. Somebody who talks in the background then is not heard.
func TestAPersonInNoise(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	texts, err := human.Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := call(t, callOptions{name: "beside a fan", url: neural(t).url})
	c.sendText([]byte(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"noise_reduction":{"type":"near_field"},"turn_detection":{"type":"server_vad","create_response":false}}}}}`))
	g.Expect(nextOf[*wire.SessionUpdated](c).Session.Audio.Input.NoiseReduction).To(gomega.Equal(&wire.NoiseReduction{Type: wire.NearField}))
	random := rand.New(rand.NewPCG(1, 2))
	low := 0.0
	fan := func(pcm []int16, gain float64) []int16 {
		for i, x := range pcm {
			low = 0.97*low + 0.24*random.NormFloat64()
			pcm[i] = int16(gain*float64(x) + 100*low)
		}
		return pcm
	}
	understands := func(name string) {
		t.Helper()
		c.speak(fan(prompt(t, name), 1))
		nextOf[*wire.InputAudioBufferSpeechStarted](c)
		heard := nextOf[*wire.ConversationItemInputAudioTranscriptionCompleted](c).Transcript
		wrong, _ := human.WrongWords(texts[name], heard)
		g.Expect(wrong).To(gomega.BeNumerically("<=", 2), "%q for %q", heard, texts[name])
	}
	understands("cannot-complete-as-dialed")
	background := fan(prompt(t, "conf-placeintoconf"), 0.12) // 18 dB below
	over := c.mic.spoken() + length(background)
	c.speak(background)
	c.speak(fan(prompt(t, "agent-pass"), 1))
	began := nextOf[*wire.InputAudioBufferSpeechStarted](c).AudioStartMS
	g.Expect(began).To(gomega.BeNumerically(">", over.Milliseconds()-500), "the background began no turn")
}

// With semantic_vad the words end a turn: a finished sentence at once, "the number I have is" only with the number.
func TestAPersonMayThink(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	c := call(t, callOptions{name: "thinker", url: neural(t).url})
	c.sendText([]byte(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"low","create_response":false}}}}}`))
	c.next("session.updated")
	// Without the estimate the server waits for 8.2 s.
	finished := prompt(t, "please-try-again")
	said := c.mic.spoken() + length(finished) - time.Second
	c.speak(finished)
	g.Expect(c.nextSeen("input_audio_buffer.committed").spoken - said).To(gomega.BeNumerically("<", 4*time.Second))

	number := append(prompt(t, "vm-num-i-have"), make([]int16, native.Rate/2)...) // 1.5 s of silence in all
	for _, digit := range []string{"5", "5", "5", "1", "2", "1", "2"} {
		number = append(number, prompt(t, "digits/"+digit)[native.Rate/4:]...)
		number = number[:len(number)-native.Rate*9/10]
	}
	said = c.mic.spoken() + length(number)
	c.speak(number)
	g.Expect(c.nextSeen("input_audio_buffer.committed").spoken).To(gomega.BeNumerically(">=", said-100*time.Millisecond), "all digits belong to the turn")
}
