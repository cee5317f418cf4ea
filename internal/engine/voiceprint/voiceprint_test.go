package voiceprint

// The verifier with the network that scripts/models.sh fetches, and with files that are no weights. Real voices are in e2e.

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is the folder of the models of the tests.
const machine = "../../../.cache/models"

// buzz returns sound with the harmonics of a pitch in Hz, like a vowel.
func buzz(pitch float64, seconds float64) []float32 {
	pcm := make([]float32, int(seconds*pipeline.InputRate))
	for i := range pcm {
		at := float64(i) / pipeline.InputRate
		for h := 1.0; h < 12; h++ {
			pcm[i] += float32(0.1 / h * math.Sin(2*math.Pi*pitch*h*at+math.Sin(3*at)))
		}
	}
	return pcm
}

func TestVerifier(t *testing.T) {
	g := gomega.NewWithT(t)
	v, err := New(Config{Models: machine})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = v.OfRecordings(t.Context(), buzz(110, 3), buzz(110, 1))
	g.Expect(err).To(gomega.MatchError(ErrTooShort))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("recording 2")))
	_, err = v.OfRecordings(t.Context())
	g.Expect(err).To(gomega.MatchError(ErrTooShort))
	g.Expect(v.Verify(t.Context(), buzz(110, 2))).To(gomega.BeZero(), "nobody is enrolled")

	low, err := v.OfRecordings(t.Context(), buzz(110, 3))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(low.Likeness(low)).To(gomega.BeNumerically("~", 1, 1e-3))
	g.Expect(v.Enrol("Ada", low)).To(gomega.Succeed())
	g.Expect(v.Verify(t.Context(), buzz(110, 2))).To(gomega.Equal(pipeline.SpeakerVerdict{Authorised: true, Speaker: "Ada"}))
	high, err := v.OfTurn(t.Context(), buzz(290, 2))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(low.Likeness(high)).To(gomega.BeNumerically("<", 0.7))
	g.Expect(v.Verify(t.Context(), buzz(290, 2))).To(gomega.BeZero())
	for name, pcm := range map[string][]float32{"nothing": nil, "silence": make([]float32, 32000), "a short sound": buzz(110, 0.5)} {
		g.Expect(v.Verify(t.Context(), pcm)).To(gomega.BeZero(), name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = v.Verify(ended, buzz(110, 2))
	g.Expect(err).To(gomega.MatchError(context.Canceled))
}

func TestPeopleHaveALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	v := &Verifier{people: map[string]*Print{}}
	for i := range MaxPeople {
		g.Expect(v.Enrol(fmt.Sprint(i), &Print{})).To(gomega.Succeed())
	}
	g.Expect(v.Enrol("one more", &Print{})).To(gomega.MatchError(ErrTooManyPeople))
	g.Expect(v.Enrol("7", &Print{})).To(gomega.Succeed(), "somebody who is there is replaced")
}

func TestWeightsAreMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	_, err := New(Config{Models: folder})
	g.Expect(err).To(gomega.MatchError(models.ErrNotThere))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(Install)))
	g.Expect(os.Mkdir(filepath.Join(folder, "voice-prints"), 0o755)).To(gomega.Succeed())
	_, err = New(Config{Models: folder})
	g.Expect(err).To(gomega.MatchError(models.ErrNotThere))
	g.Expect(os.WriteFile(filepath.Join(folder, "voice-prints", weights), []byte("no weights"), 0o600)).To(gomega.Succeed())
	_, err = New(Config{Models: folder})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("--again voice-prints")))
}

// Long pauses are left out, short ones stay, and soft speech is amplified.
func TestSpeech(t *testing.T) {
	g := gomega.NewWithT(t)
	loudSound := buzz(110, 0.6)
	pause := make([]float32, pipeline.InputRate)
	pcm := append(append(append([]float32{}, loudSound...), pause...), loudSound...)
	g.Expect(speech(pcm)).To(gomega.HaveLen(len(pcm) - len(pause) + piece*keep + 160)) // the piece at the end of the pause has the next sound's beginning
	soft := buzz(110, 0.6)
	for i := range soft {
		soft[i] /= 1000
	}
	var sum float64
	for _, x := range speech(soft) {
		sum += float64(x) * float64(x)
	}
	g.Expect(math.Sqrt(sum / float64(len(soft)))).To(gomega.BeNumerically("~", loud, 1e-3))
}
