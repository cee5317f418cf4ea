package bargein

// Tests of the benchmark's measurements with recordings that are made up.

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const rate = pipeline.OutputRate

// spoken returns the audio of a response without repetitions, and its tracker.
func spoken(t *testing.T) ([]int16, *tracker) {
	t.Helper()
	g := gomega.NewWithT(t)
	chance := rand.New(rand.NewPCG(3, 3))
	var pcm []int16
	for range 20 {
		word := make([]byte, 6)
		for i := range word {
			word[i] = byte('a' + chance.IntN(26))
		}
		pcm = append(pcm, scripted.Tones(string(word))...)
		pcm = append(pcm, make([]int16, rate/20)...)
	}
	reference, err := tracked(pcm, rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return pcm, newTracker(reference, speechWindow)
}

// seconds returns the part of the audio between two times, in seconds.
func seconds(pcm []int16, from, to float64) []int16 {
	return pcm[int(from*rate):int(to*rate)]
}

// ducked returns a copy at -20 dB.
func ducked(pcm []int16) []int16 {
	low := make([]int16, len(pcm))
	for i, v := range pcm {
		low[i] = v / 10
	}
	return low
}

func silenceOf(s float64) []int16 { return make([]int16, int(s*rate)) }

func record(pieces ...[]int16) *rig.Recording {
	var pcm []int16
	for _, p := range pieces {
		pcm = append(pcm, p...)
	}
	return rig.NewRecording(pcm, rate)
}

// TestDisturbances: the effects of a noise on a response are measured with an error of some 10 ms. Each case changes a response at 3 s.
func TestDisturbances(t *testing.T) {
	pcm, tr := spoken(t)
	for _, c := range []struct {
		name     string
		heard    [][]int16
		left     bool
		back     float64
		repeated float64
		lost     float64
	}{
		{"nothing", [][]int16{seconds(pcm, 0, 8)}, false, 0, 0, 0},
		{"held, and on from there", [][]int16{seconds(pcm, 0, 3), silenceOf(1), seconds(pcm, 3, 7)}, true, 500, 0, 0},
		{"ducked, and played again", [][]int16{seconds(pcm, 0, 3), ducked(seconds(pcm, 3, 3.4)), silenceOf(0.6), seconds(pcm, 3, 7)}, true, 500, 0, 0},
		{"played again although it was heard", [][]int16{seconds(pcm, 0, 3), silenceOf(1), seconds(pcm, 2.7, 7)}, true, 500, 300, 0},
		{"muted while it went on", [][]int16{seconds(pcm, 0, 3), silenceOf(1), seconds(pcm, 4, 8)}, true, 500, 0, 1000},
		{"played again, with 250 ms concealed soon after", [][]int16{
			seconds(pcm, 0, 3), ducked(seconds(pcm, 3, 3.4)), silenceOf(0.6), seconds(pcm, 3, 3.15), silenceOf(0.25), seconds(pcm, 3.4, 7),
		}, true, 900, 0, 250},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p, err := tr.follow(record(c.heard...))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			d := p.disturbed(made{"noise", 2950, 3500}, 7000)
			g.Expect(d.left).To(gomega.Equal(c.left))
			g.Expect(d.back).To(gomega.BeNumerically("~", c.back, 60))
			g.Expect(d.repeated).To(gomega.BeNumerically("~", c.repeated, 80))
			g.Expect(d.lost).To(gomega.BeNumerically("~", c.lost, 150))
			g.Expect(d.words > 0).To(gomega.Equal(c.lost > 0))
		})
	}
}

// TestAPlaceIsFound: a position is found with an error of a few milliseconds; for other sound none is found.
func TestAPlaceIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm, tr := spoken(t)
	rec := record(silenceOf(1), seconds(pcm, 0, 4))
	at, ok := tr.at(rec, 3500, 0, 4000)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(at).To(gomega.BeNumerically("~", 2500, 5))
	_, ok = tr.at(rec, 900, 0, 4000)
	g.Expect(ok).To(gomega.BeFalse())
}

// TestACutIsMeasured: the moments at which the agent is ducked and falls silent are found with an error of one period of its pitch.
func TestACutIsMeasured(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := scripted.Tones("a long text without any pause")
	rec := record(pcm[:rate], ducked(pcm[rate:rate+rate/10]), silenceOf(1))
	c, ok := measureCut(rec, 950)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(c.ducked).To(gomega.BeNumerically("~", 50, period))
	g.Expect(c.silent).To(gomega.BeNumerically("~", 150, period))
	_, ok = measureCut(record(silenceOf(2)), 950)
	g.Expect(ok).To(gomega.BeFalse())
}

// TestTheLastAudiblePositionIsFound: the last audible position of a response is found, also when a candidate was rejected before and
// playout had resumed. Each response is audible up to 2 s first.
func TestTheLastAudiblePositionIsFound(t *testing.T) {
	pcm, tr := spoken(t)
	tr = newTracker(tr.reference, tonesWindow)
	low := ducked(seconds(pcm, 2, 2.12))
	for _, c := range []struct {
		name  string
		after [][]int16
		place float64
	}{
		{"silenced", [][]int16{low}, 2120},
		{"to be played again, and stopped before that", [][]int16{low}, 2000},
		{"played again and stopped at once", [][]int16{low, silenceOf(0.3), seconds(pcm, 1.98, 2.04)}, 2040},
		{"played again and ducked again", [][]int16{low, silenceOf(0.3), seconds(pcm, 1.98, 2.3), ducked(seconds(pcm, 2.3, 2.42))}, 2420},
		{"held, and on from there", [][]int16{silenceOf(0.3), seconds(pcm, 2, 2.08)}, 2080},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			heard := append([][]int16{silenceOf(1), seconds(pcm, 0, 2)}, c.after...)
			rec := record(append(heard, silenceOf(1), seconds(pcm, 5, 6))...) // the next response
			const onset = 2900
			first, ok := measureCut(rec, onset)
			g.Expect(ok).To(gomega.BeTrue())
			from, to, ok := newLevels(rec).last(onset, rec.At(len(rec.PCM)-1)-1500)
			g.Expect(ok).To(gomega.BeTrue())
			atLevel, ok := tr.at(rec, onset+first.ducked, 0, 4000)
			g.Expect(ok).To(gomega.BeTrue())
			place, ok := tr.ended(rec, from, to, onset, atLevel, first, strings.Contains(c.name, "again"))
			g.Expect(ok).To(gomega.BeTrue())
			g.Expect(place).To(gomega.BeNumerically("~", c.place, 15))
		})
	}
	_, _, ok := newLevels(record(pcm)).last(1000, 1000)
	gomega.NewWithT(t).Expect(ok).To(gomega.BeFalse(), "there is no time between")
}

// TestNoises: each noise ends before the next one begins, and none is silent.
func TestNoises(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := noises(t.Context(), 2)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, n := range all {
		g.Expect(n.sound.Duration()).To(gomega.And(gomega.BeNumerically(">", 0), gomega.BeNumerically("<", apart-time.Second)), n.name)
		g.Expect(rig.Envelope(n.sound, rig.SpeechRate)).To(gomega.ContainElement(gomega.BeNumerically(">", rig.Loud)), n.name)
	}
}
