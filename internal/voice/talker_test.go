package voice

// Whose speech it is: the user's, or that of people in the background.

import (
	"testing"

	"github.com/onsi/gomega"
)

// hearing is a detector with a Talker.
type hearing struct {
	d *Detector
	t Talker

	agent bool // the agent is playing
}

// near returns the numbers of the frames of x that are the user's.
func (h *hearing) near(x []float32) (all []int) {
	for i := 0; i+FrameSize <= len(x); i += FrameSize {
		if h.t.Frame(h.d, h.d.Frame(x[i:i+FrameSize]).Speech, h.agent) {
			all = append(all, i/FrameSize)
		}
	}
	return all
}

// known returns a hearing that knows a user who speaks at that level.
func known(level float64) *hearing {
	h := &hearing{d: NewDetector(DetectorConfig{})}
	h.near(concat(quiet(1), atLevel(level, newSpeaker(110).say(4)), quiet(1)))
	return h
}

func TestTheBackgroundIsNotTheUser(t *testing.T) {
	for _, below := range []float64{15, 20, 30} {
		for _, pitch := range []float64{95, 150, 220} {
			g := gomega.NewWithT(t)
			television := atLevel(-23-below, newSpeaker(pitch).say(20))
			g.Expect((&hearing{d: NewDetector(DetectorConfig{})}).near(television)).NotTo(gomega.BeEmpty(), "without a user it is somebody")
			h := known(-23)
			g.Expect(h.near(television)).To(gomega.BeEmpty(), "%v dB below, %v Hz", below, pitch)
			over := concat(quiet(1), newSpeaker(110).say(1))
			g.Expect(h.near(add(over, television[:len(over)]))).To(gomega.ContainElement(gomega.BeNumerically("<", 110)), "the user over it")
		}
	}
}

// A known user is found as early as without a Talker, and so is somebody else who is as loud.
func TestTheUserIsFoundAtOnce(t *testing.T) {
	for _, c := range []struct {
		pitch, level float64
		later        int // frames
	}{{110, -23, 2}, {220, -23, 2}, {110, -27, 6}, {110, -15, 2}} {
		g := gomega.NewWithT(t)
		x := concat(quiet(1), atLevel(c.level, newSpeaker(c.pitch).say(1)))
		today := summarise(decide(NewDetector(DetectorConfig{}), x)).first
		found := known(-23).near(x)
		g.Expect(found).NotTo(gomega.BeEmpty())
		g.Expect(found[0]-today).To(gomega.BeNumerically("<=", c.later), "%v Hz at %v dBFS", c.pitch, c.level)
	}
}

// A user who speaks quietly from the beginning is heard at once, and to the end.
func TestAQuietUserIsHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	h := &hearing{d: NewDetector(DetectorConfig{})}
	x := concat(quiet(1), atLevel(-43, newSpeaker(120).say(3)))
	today := summarise(decide(NewDetector(DetectorConfig{}), x))
	found := h.near(x)
	g.Expect(found).To(gomega.HaveLen(today.frames))
	g.Expect(found[0]).To(gomega.Equal(today.first))
}

// The level follows a user who becomes louder, and one who becomes quieter little by little.
func TestTheLevelFollowsTheUser(t *testing.T) {
	g := gomega.NewWithT(t)
	h := known(-35)
	h.near(concat(atLevel(-20, newSpeaker(110).say(6)), quiet(0.5)))
	g.Expect(h.near(atLevel(-38, newSpeaker(150).say(5)))).To(gomega.BeEmpty(), "who is now the background")
	h = known(-20)
	for level := -22.0; level >= -40; level -= 2 {
		x := atLevel(level, newSpeaker(110).say(3))
		g.Expect(len(h.near(x))).To(gomega.BeNumerically(">", 200), "at %v dBFS", level)
	}
}

// One loud sound, such as a cough, does not make the user a stranger.
func TestACoughDoesNotHideTheUser(t *testing.T) {
	g := gomega.NewWithT(t)
	h := known(-26)
	h.near(concat(atLevel(-10, newSpeaker(90).say(0.3)), quiet(0.5)))
	g.Expect(len(h.near(atLevel(-26, newSpeaker(110).say(2))))).To(gomega.BeNumerically(">", 150))
}

// A user who leans back, or turns the head, is heard again within the first sentence, and so is one who does so again later.
func TestAUserWhoBecomesSofterIsHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	h := known(-23)
	found := h.near(atLevel(-33, newSpeaker(110).say(2)))
	g.Expect(found).NotTo(gomega.BeEmpty())
	g.Expect(found[0]).To(gomega.BeNumerically("<", 100))
	g.Expect(len(found)).To(gomega.BeNumerically(">", 100))
	h.near(quiet(1))
	g.Expect(h.near(atLevel(-46, newSpeaker(150).say(3)))).To(gomega.BeEmpty(), "one soft sentence does not let the background in")
}

// wait lets the agent speak for that many seconds, and nobody else.
func (h *hearing) wait(seconds float64) {
	h.agent = true
	h.near(quiet(seconds))
	h.agent = false
}

// A user who takes another microphone is heard from the third sentence on, if nobody else speaks.
func TestAUserAtAnotherMicrophoneIsHeard(t *testing.T) {
	sentence := concat(atLevel(-41, newSpeaker(110).say(1.5)), quiet(3))
	g := gomega.NewWithT(t)
	h := known(-23)
	h.wait(3)
	g.Expect(h.near(concat(sentence, sentence))).To(gomega.BeEmpty())
	found := h.near(sentence)
	g.Expect(found).NotTo(gomega.BeEmpty())
	g.Expect(found[0]).To(gomega.BeNumerically("<", 20))

	h = known(-23)
	g.Expect(h.near(concat(sentence, sentence, sentence, sentence, quiet(6)))).To(gomega.BeEmpty(), "nobody was quiet for the agent")
	g.Expect(h.near(concat(sentence, sentence, sentence))).NotTo(gomega.BeEmpty(), "after a long silence")

	h = known(-23)
	h.wait(3)
	h.agent = true
	h.near(concat(sentence, sentence, sentence))
	h.agent = false
	g.Expect(h.near(sentence)).To(gomega.BeEmpty(), "who speaks while the agent does so waits for no answer")
}

// A television that stops only for short moments, or for once, stays in the background. So does what speaks for long.
func TestATelevisionThatPausesIsNotTheUser(t *testing.T) {
	long := concat(atLevel(-41, newSpeaker(150).say(11)), quiet(3))
	click := concat(atLevel(-41, newSpeaker(150).say(0.2)), quiet(3))
	short := concat(atLevel(-41, newSpeaker(150).say(1.5)), quiet(2.2))
	other := concat(atLevel(-36.5, newSpeaker(150).say(2)), quiet(3), atLevel(-44.5, newSpeaker(150).say(1.5)), quiet(3))
	for name, x := range map[string][]float32{
		"long": concat(long, long, long), "clicks": concat(click, click, click), "short": concat(short, short, short, short, short), "levels": concat(other, other, other),
		"faint": concat(atLevel(-53, newSpeaker(150).say(1.5)), quiet(3), atLevel(-53, newSpeaker(150).say(1.5)), quiet(3), atLevel(-53, newSpeaker(150).say(1.5))),
	} {
		g := gomega.NewWithT(t)
		h := known(-23)
		h.wait(3)
		g.Expect(h.near(x)).To(gomega.BeEmpty(), name)
	}
}

func TestATalkerForgetsAndDoesNotAllocate(t *testing.T) {
	g := gomega.NewWithT(t)
	h := known(-23)
	h.t.Reset()
	g.Expect(h.t).To(gomega.Equal(Talker{}))
	x := newSpeaker(110).say(0.01)
	g.Expect(testing.AllocsPerRun(100, func() { h.t.Frame(h.d, h.d.Frame(x).Speech, false) })).To(gomega.BeZero())
}
