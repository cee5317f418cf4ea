package endofturn

// When a judge is asked, what its answer changes, and what happens without one.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// asking is a Judge that keeps what it was asked. The test answers.
type asking struct {
	lengths []int // samples of each question
	answers []chan float64
}

func (a *asking) ask(pcm []float32) <-chan float64 {
	a.lengths = append(a.lengths, len(pcm))
	a.answers = append(a.answers, make(chan float64, 1))
	return a.answers[len(a.answers)-1]
}

// quietFrames gives e so many frames of silence, and returns the estimates.
func quietFrames(e Estimator, n int) (all []float64) {
	quiet := make([]float32, voice.FrameSize)
	for range n {
		if p, due := e.Frame(quiet, false); due {
			all = append(all, p)
		}
	}
	return all
}

// Estimates wait for the first answer of a silence. An answer makes an estimate at once, and moves it.
func TestEstimatesWaitForTheJudge(t *testing.T) {
	g := gomega.NewWithT(t)
	heard := map[float64]float64{}
	for _, answer := range []float64{0.01, 0.99} {
		var j asking
		e := Judged(New("en"), j.ask)
		e.Text("what time is it", 0)
		g.Expect(speak(e, 200*time.Millisecond)).To(gomega.BeEmpty())
		g.Expect(j.lengths).To(gomega.Equal([]int{95 * voice.FrameSize}), "it is asked after 150 ms of silence, with all audio")
		_, due := e.Text("what time is it now", time.Second)
		g.Expect(due).To(gomega.BeFalse(), "a text does not decide before the answer")
		j.answers[0] <- answer
		estimates := quietFrames(e, 1)
		g.Expect(estimates).To(gomega.HaveLen(1))
		heard[answer] = estimates[0]
		quietFrames(e, 100)
		g.Expect(j.lengths).To(gomega.HaveLen(2), "one question at a time")
		j.answers[1] <- answer
		quietFrames(e, 100)
		g.Expect(j.lengths).To(gomega.HaveLen(3))
		j.answers[2] <- answer
		quietFrames(e, 1000)
		g.Expect(j.lengths).To(gomega.HaveLen(3), "there are at most three questions in a silence")
	}
	e := New("en")
	e.Text("what time is it", 0)
	speak(e, 240*time.Millisecond)
	g.Expect(heard[0.99]).To(gomega.BeNumerically(">", heard[0.01]))
}

// A judge that does not answer holds estimates up for a short time only. Then, and after a failure, they are those without a judge.
func TestAJudgeWithoutAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	lexical := New("en")
	lexical.Text("what time is it", 0)
	speak(lexical, 540*time.Millisecond)
	want := quietFrames(lexical, 1)

	var silent asking
	e := Judged(New("en"), silent.ask)
	e.Text("what time is it", 0)
	g.Expect(speak(e, 540*time.Millisecond)).To(gomega.Equal([]int{450}))
	g.Expect(quietFrames(e, 1)).To(gomega.Equal(want))

	var failing asking
	e = Judged(New("en"), failing.ask)
	g.Expect(speak(e, 150*time.Millisecond)).To(gomega.BeEmpty())
	_, due := e.Text("what time is it", time.Second)
	g.Expect(due).To(gomega.BeFalse())
	close(failing.answers[0])
	g.Expect(quietFrames(e, 1)).To(gomega.HaveLen(1), "the estimate is made when the judge has failed")
}

// An answer about an earlier silence does not count, and a judge hears the last 8 s only.
func TestAJudgeHearsTheNewestSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	var j asking
	e := Judged(New("en"), j.ask)
	e.Text("what time is it", 0)
	speak(e, 200*time.Millisecond)
	speak(e, 0)
	j.answers[0] <- 0.99
	g.Expect(quietFrames(e, 20)).To(gomega.BeEmpty(), "the answer to the second question is not there")
	g.Expect(j.lengths).To(gomega.HaveLen(2))
	for range 40 {
		speak(e, 0)
	}
	quietFrames(e, 15)
	g.Expect(j.lengths[2]).To(gomega.Equal(8 * voice.FrameRate))
	g.Expect(len(e.(*estimator).judge.pcm)).To(gomega.BeNumerically("<=", 16*voice.FrameRate)) //nolint:forcetypeassert // New returns it
}
