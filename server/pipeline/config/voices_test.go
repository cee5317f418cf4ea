package config

// The section `voices`: who gets a gate, and what is refused.

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// buzz returns a sound with the harmonics of 110 Hz, like a vowel.
func buzz(rate, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		at := 2 * math.Pi * 110 * float64(i) / float64(rate)
		pcm[i] = int16(3000 * (math.Sin(at) + math.Sin(2*at)/2 + math.Sin(3*at)/3 + math.Sin(5*at)/5))
	}
	return pcm
}

// recorded writes a WAV file of that many seconds into a folder.
func recorded(t *testing.T, folder, name string, seconds int) {
	t.Helper()
	const rate = 24000
	pcm := voice.PCM16ToBytes(nil, buzz(rate, seconds*rate))
	gomega.NewWithT(t).Expect(os.WriteFile(filepath.Join(folder, name), append(wav.Header(rate, len(pcm)), pcm...), 0o600)).To(gomega.Succeed())
}

func TestTheSectionVoices(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", "../../../.cache/models")
	folder := t.TempDir()
	recorded(t, folder, "ada.wav", 3)
	recorded(t, folder, "short.wav", 1)
	g.Expect(os.WriteFile(filepath.Join(folder, "text.wav"), []byte("no sound"), 0o600)).To(gomega.Succeed())
	pipelineOf := func(section string) (*pipeline.Pipeline, error) {
		f, err := Parse(filepath.Join(folder, Name), []byte(section+"\nstt: {kind: scripted}\nllm: {kind: scripted}\ntts: {kind: scripted}\n"), nil)
		if err != nil {
			return nil, err
		}
		return f.Pipeline(t.Context(), Env{})
	}
	for section, want := range map[string]*pipeline.VoiceGate{
		"":        nil,
		"voices:": nil,
		"voices: {people: [{name: Ada, recordings: [ada.wav]}]}":                                                          {},
		"voices: {folder: prints, people: [{name: Ada, recordings: [ada.wav]}]}":                                          {},
		"voices: {ask: first-turn, deadline: 2s, threshold: 0.75, people: [{name: Ada, recordings: [ada.wav, ada.wav]}]}": {FirstTurn: true, Deadline: 2 * time.Second},
	} {
		p, err := pipelineOf(section)
		g.Expect(err).NotTo(gomega.HaveOccurred(), section)
		g.Expect(p.Gate != nil && p.Gate.Enroller != nil).To(gomega.Equal(strings.Contains(section, "folder")), section)
		g.Expect(p.Gate != nil).To(gomega.Equal(want != nil), section)
		if want != nil {
			g.Expect(p.Gate.FirstTurn).To(gomega.Equal(want.FirstTurn))
			g.Expect(p.Gate.Deadline).To(gomega.Equal(want.Deadline))
			heard := voice.PCM16ToFloat(nil, buzz(pipeline.InputRate, 2*pipeline.InputRate))
			g.Expect(p.Gate.Verifier.Verify(t.Context(), heard)).To(gomega.Equal(pipeline.SpeakerVerdict{Authorised: true, Speaker: "Ada"}))
		}
		g.Expect(p.Close()).To(gomega.Succeed())
	}
	for section, want := range map[string]string{
		"voices: {ask: every-turn}":                                                                  "people",
		"voices: {people: []}":                                                                       "there are no people",
		"voices: {people: [{name: Ada, recordings: [short.wav]}]}":                                   "less than 2 s of speech",
		"voices: {people: [{name: Ada, recordings: [text.wav]}]}":                                    "ffmpeg",
		"voices: {people: [{name: Ada, recordings: [nobody.wav]}]}":                                  "nobody.wav",
		"voices: {people: [{name: Ada, recordings: []}]}":                                            "want 1 to 20",
		"voices: {people: [{name: Ada, recordings: [ada.wav]}, {name: Ada, recordings: [ada.wav]}]}": "twice",
		"voices: {ask: sometimes, people: [{name: Ada, recordings: [ada.wav]}]}":                     "first-turn",
		"voices: {threshold: 2, people: [{name: Ada, recordings: [ada.wav]}]}":                       "0.3 to 1",
	} {
		_, err := pipelineOf(section)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), section)
	}
}

// A server whose weights are missing does not start: nobody passes by mistake.
func TestVoicesWithoutWeights(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	f, err := Parse(Name, []byte("voices: {people: [{name: Ada, recordings: [ada.wav]}]}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = f.Pipeline(t.Context(), Env{})
	g.Expect(err).To(gomega.MatchError(models.ErrNotThere))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("antiphon models get voice-prints")))
}
