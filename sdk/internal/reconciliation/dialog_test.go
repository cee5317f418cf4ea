package reconciliation

import (
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

// opened returns a dialog whose server has opened its session.
func opened() *Dialog {
	d := New(Waits{
		TurnSilence: 15 * time.Second, Commit: 5 * time.Second, AnswerStart: 10 * time.Second, AnswerSilence: time.Minute,
		SoundSilence: 4 * time.Second, Unmeasured: 6 * time.Minute,
	})
	d.Configured(true, true)
	return &d
}

func TestAMessageIsPredictedUntilTheServerAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	d := opened()
	seq := d.Expect(view.Ask{}, "m", 10*time.Second, 0)
	g.Expect(d.Thinking(d.Predicted())).To(gomega.BeTrue())
	g.Expect(d.Thinking(d.Confirmed())).To(gomega.BeFalse())
	g.Expect(d.Idle()).To(gomega.BeFalse())
	g.Expect(d.Deadline()).To(gomega.Equal(10 * time.Second))
	d.Refused(seq)
	g.Expect(d.Predicted()).To(gomega.Equal(d.Confirmed()))
	g.Expect(d.Deadline()).To(gomega.Equal(deadline.Never))
	g.Expect(d.Steps).To(gomega.HaveLen(3))
}

func TestTooManyInputsAreNotPredicted(t *testing.T) {
	g := gomega.NewWithT(t)
	d := opened()
	for range view.Most {
		g.Expect(d.Expect(view.Ask{}, "m", time.Second, 0)).NotTo(gomega.BeZero())
	}
	g.Expect(d.Expect(view.Ask{}, "m", time.Second, 0)).To(gomega.BeZero())
}

func TestAnInterruptionTakesTheDueAnswerBack(t *testing.T) {
	g := gomega.NewWithT(t)
	d := opened()
	d.Expect(view.Ask{}, "m", 10*time.Second, 0)
	d.Expect(view.Cancel{}, "", 5*time.Second, 0)
	d.Interrupted()
	g.Expect(d.Thinking(d.Predicted())).To(gomega.BeFalse())
	g.Expect(d.Deadline()).To(gomega.Equal(5*time.Second), "the cancel is still expected to be answered")
	g.Expect(d.ResponseCreated("r", 0)).To(gomega.BeTrue(), "the user does not want it any more")
	g.Expect(d.ResponseCreated("s", 0)).To(gomega.BeFalse())
}

// A candidate predicts an interruption. Without a confirmation the prediction is taken back.
func TestACandidateIsAPrediction(t *testing.T) {
	for name, end := range map[string]func(*Dialog){
		"rejected":      (*Dialog).Rejected,
		"not confirmed": (*Dialog).NotConfirmed,
		"timed out":     func(d *Dialog) { d.TimedOut(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d := opened()
			d.ResponseCreated("r", 0)
			d.SoundStarted("r", 0)
			d.ResponseDone("r", 0)
			d.Measured(0, 1, 0)
			d.ExpectVerdict(time.Second, 0)
			g.Expect(d.Predicted().Interrupting).To(gomega.BeTrue())
			d.ExpectInterruption(time.Second, 0)
			g.Expect(d.Predicted().Sound).To(gomega.BeZero())
			d.SpeechEnded()
			g.Expect(d.Predicted().Sound).NotTo(gomega.BeZero())
			end(d)
			g.Expect(d.Predicted().Interrupting).To(gomega.BeFalse())
		})
	}
}

func TestEachWaitEnds(t *testing.T) {
	for name, row := range map[string]struct {
		begin func(d *Dialog)
		after time.Duration
		want  Timeout
	}{
		"a turn without an end":      {func(d *Dialog) { d.SpeechStarted("u", 0) }, 15 * time.Second, Timeout{TurnEndless, "u"}},
		"a turn without a commit":    {func(d *Dialog) { d.SpeechStarted("u", 0); d.SpeechStopped("u", true, 0) }, 5 * time.Second, Timeout{TurnEndless, "u"}},
		"a turn without an answer":   {func(d *Dialog) { d.SpeechStarted("u", 0); d.Committed("u", false, 0) }, 10 * time.Second, Timeout{TurnUnanswered, "u"}},
		"a message without answer":   {func(d *Dialog) { d.Expect(view.Ask{}, "m", 7*time.Second, 0) }, 7 * time.Second, Timeout{InputUnanswered, "m"}},
		"a cancel without effect":    {func(d *Dialog) { d.Expect(view.Cancel{}, "", 7*time.Second, 0) }, 7 * time.Second, Timeout{PredictionFailed, "Cancel"}},
		"a response without a sign":  {func(d *Dialog) { d.ResponseCreated("r", 0) }, time.Minute, Timeout{ResponseSilent, "r"}},
		"a playback without its end": {func(d *Dialog) { d.SoundStarted("r", 0) }, 4 * time.Second, Timeout{Kind: SoundOver}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d := opened()
			row.begin(d)
			d.Measured(0, 0, row.after-1)
			g.Expect(d.Deadline()).To(gomega.Equal(row.after))
			g.Expect(d.TimedOut(row.after - 1)).To(gomega.BeEmpty())
			g.Expect(d.TimedOut(row.after)).To(gomega.Equal([]Timeout{row.want}))
			d.DropTurn()
			d.SoundEnded("", false)
			g.Expect(d.Deadline()).To(gomega.Equal(deadline.Never))
		})
	}
}

// Where nobody measures the levels, silence cannot be told from sound.
func TestSilenceThatNobodyMeasuresCountsForSoLong(t *testing.T) {
	g := gomega.NewWithT(t)
	d := opened()
	d.SoundStarted("r", 0)
	g.Expect(d.TimedOut(5 * time.Minute)).To(gomega.BeEmpty())
	g.Expect(d.TimedOut(7 * time.Minute)).To(gomega.Equal([]Timeout{{Kind: SoundOver}}))
}

// The end of the sound of one response says nothing of another.
func TestTheSoundOfAnotherResponseGoesOn(t *testing.T) {
	g := gomega.NewWithT(t)
	d := opened()
	d.SoundStarted("r", 0)
	g.Expect(d.SoundEnded("s", false)).To(gomega.BeFalse())
	g.Expect(d.SoundEnded("r", true)).To(gomega.BeTrue())
	g.Expect(d.SoundEnded("", false)).To(gomega.BeFalse(), "none is heard")
}

func TestTheLastNamesHaveNumbers(t *testing.T) {
	g := gomega.NewWithT(t)
	var n idNumbers
	g.Expect(n.find("a")).To(gomega.BeZero())
	for i := range keptIDs + 1 {
		g.Expect(n.number(strconv.Itoa(i))).To(gomega.BeEquivalentTo(i + 1))
	}
	g.Expect(n.name(1)).To(gomega.BeEmpty(), "too many since")
	g.Expect(n.name(2)).To(gomega.Equal("1"))
	g.Expect(n.number("1")).To(gomega.BeEquivalentTo(2))
}
