package e2e

// What the server says about the voices and the sounds of real recordings.

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/internal/engine/voiceprint"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
	"github.com/antiphon-rt/antiphon/wire"
)

// A person speaks, and the client learns that it was speech.
func TestAPersonIsHeardAsSpeech(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	c := call(t, callOptions{name: "sounds", url: open(t, nil, nil).url})
	c.send(&wire.AntiphonHello{Sounds: true})
	c.speak(prompt(t, "cannot-complete-as-dialed"))
	committed := nextOf[*wire.InputAudioBufferCommitted](c)
	e := nextOf[*wire.AntiphonInputSounds](c)
	g.Expect(e.ItemID).To(gomega.Equal(committed.ItemID))
	g.Expect(e.Sound).To(gomega.Equal("speech"))
}

// Only the person who is enrolled over HTTP gets an answer. Another voice, that of flite, gets none.
func TestOnlyAKnownVoiceIsAnswered(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	v, err := voiceprint.New(voiceprint.Config{Models: "../.cache/models"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(v.KeepIn(t.TempDir())).To(gomega.Succeed())
	url := neuralWith(t, func(p *pipeline.Pipeline) {
		p.Gate = &pipeline.VoiceGate{Verifier: v, Enroller: v, Deadline: time.Minute} // the machine may be busy
	}).url
	enrol(t, url, "Ada", "conf-placeintoconf", "conf-waitforleader", "cannot-complete-as-dialed")
	c := call(t, callOptions{name: "known voice", url: url})
	c.send(&wire.AntiphonHello{})
	c.sendText([]byte(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad","silence_duration_ms":900}}}}}`))
	c.next("session.updated")

	c.speak(byFlite(t, "Please tell me what I should do now and how late it is."))
	stranger := nextOf[*wire.InputAudioBufferCommitted](c).ItemID
	g.Expect(nextOf[*wire.AntiphonVoice](c).State).To(gomega.Equal("resolving"))
	e := nextOf[*wire.AntiphonVoice](c)
	g.Expect([]string{e.ItemID, e.State, e.Reason}).To(gomega.Equal([]string{stranger, "rejected", "not_authorised"}))
	g.Expect(nextOf[*wire.ConversationItemDeleted](c).ItemID).To(gomega.Equal(stranger))

	c.speak(prompt(t, "check-number-dial-again"))
	known := nextOf[*wire.InputAudioBufferCommitted](c).ItemID
	g.Expect(nextOf[*wire.AntiphonVoice](c).State).To(gomega.Equal("resolving"))
	e = nextOf[*wire.AntiphonVoice](c)
	g.Expect([]string{e.ItemID, e.State, e.Speaker}).To(gomega.Equal([]string{known, "authorised", "Ada"}))
	g.Expect(nextOf[*wire.ConversationItemInputAudioTranscriptionCompleted](c).ItemID).To(gomega.Equal(known))
	g.Expect(nextOf[*wire.ResponseDone](c).Response.Status).To(gomega.Equal("completed"))
	g.Expect(c.count("response.created")).To(gomega.Equal(1), "the stranger got no answer")
}

// enrol lets a person pass the voice gate of a server. The recording has these prompts.
func enrol(t *testing.T, url, name string, prompts ...string) {
	t.Helper()
	g := gomega.NewWithT(t)
	var pcm []int16
	for _, p := range prompts {
		said, err := human.Prompt(p)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		pcm = append(pcm, said...)
	}
	sound := voice.PCM16ToBytes(nil, pcm)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	g.Expect(form.WriteField("name", name)).To(gomega.Succeed())
	file, err := form.CreateFormFile("file", "recording.wav")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = file.Write(append(wav.Header(human.Rate, len(sound)), sound...))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(form.Close()).To(gomega.Succeed())
	w, err := http.Post(url+"/v1/antiphon/voices", form.FormDataContentType(), &body)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(w.Body.Close()).To(gomega.Succeed())
	g.Expect(w.StatusCode).To(gomega.Equal(http.StatusOK))
}

// byFlite returns a text that flite speaks, as the microphone takes it, with silence around it.
func byFlite(t *testing.T, text string) []int16 {
	t.Helper()
	g := gomega.NewWithT(t)
	up, err := voice.NewResampler(pipeline.OutputRate, native.Rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm := make([]int16, native.Rate/4)
	g.Expect(embedded.Synthesizer(embedded.Options{}).Impl.Synthesize(t.Context(), pipeline.Utterance{Text: text, Voice: "rms"}, func(chunk []int16) error {
		pcm = up.AppendPCM16(pcm, chunk)
		return nil
	})).To(gomega.Succeed())
	return append(up.FlushPCM16(pcm), make([]int16, native.Rate)...)
}
