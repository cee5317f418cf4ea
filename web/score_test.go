package web

// The notes of the score.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func kinds(s *score, now time.Duration) map[noteKind]int {
	count := make(map[noteKind]int)
	s.each(now, func(n note, _ float64) { count[n.kind]++ })
	return count
}

func TestScoreWritesWhoSpeaks(t *testing.T) {
	g := gomega.NewWithT(t)
	var s score
	s.enter(PhaseListening, 0)
	s.hear(time.Second, 0.9, 0)
	g.Expect(s.quiet()).To(gomega.BeTrue(), "noise while nobody speaks")

	s.enter(PhaseHearing, time.Second)
	s.hear(time.Second, 0.9, 0)
	s.hear(time.Second+noteEvery/2, 0.9, 0)
	s.hear(time.Second+noteEvery, 0.1, 0)
	g.Expect(kinds(&s, time.Second)).To(gomega.Equal(map[noteKind]int{noteYou: 1}), "one note in its time, none for silence")

	s.enter(PhaseSpeaking, 2*time.Second)
	s.hear(2*time.Second, 0.9, 0.6)
	g.Expect(kinds(&s, 2*time.Second)).To(gomega.Equal(map[noteKind]int{noteYou: 1, noteAgent: 1}), "the echo makes no note of the user")
}

func TestScoreMarksACutOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	var s score
	s.enter(PhaseSpeaking, 0)
	s.enter(PhaseInterrupted, time.Second)
	s.enter(PhaseInterrupted, 2*time.Second)
	g.Expect(kinds(&s, 2*time.Second)).To(gomega.Equal(map[noteKind]int{noteCut: 1}))
}

func TestScoreForgets(t *testing.T) {
	g := gomega.NewWithT(t)
	var s score
	s.enter(PhaseSpeaking, 0)
	for i := range 3 * maxNotes {
		s.hear(time.Duration(i)*noteEvery, 0, 1)
	}
	g.Expect(s.n).To(gomega.BeNumerically("<=", maxNotes))
	last := time.Duration(3*maxNotes) * noteEvery
	s.hear(last+noteLife+time.Second, 0, 0)
	g.Expect(s.quiet()).To(gomega.BeTrue())
}

func TestNotesMoveWithTime(t *testing.T) {
	g := gomega.NewWithT(t)
	var s score
	s.enter(PhaseSpeaking, 0)
	s.hear(time.Second, 0, 1)
	s.each(3*time.Second, func(n note, moved float64) {
		g.Expect(n.pitch).To(gomega.Equal(notePitches - 1))
		g.Expect(moved).To(gomega.BeNumerically("~", 2*noteSpeed, 0.001))
	})
}
