package voice

import (
	"testing"

	"github.com/onsi/gomega"
)

// tell returns after how many milliseconds of a sound the agent must be silent, -1 for never. The sound begins after a second of silence, and ends
// with half a second of it.
func tell(d *Detector, l *Lasting, sound []float32) int {
	told := -1
	x := append(make([]float32, FrameRate), sound...)
	x = append(x, make([]float32, FrameRate/2)...)
	for at := 0; at+FrameSize <= len(x); at += FrameSize {
		if l.Frame(d, d.Frame(x[at:at+FrameSize]).Speech) && told < 0 {
			told = (at + FrameSize - FrameRate) * 1000 / FrameRate
		}
	}
	return told
}

// A sentence silences the agent soon, a word that is over does not, and a cough, and speech that is softer than the user's, only when they last.
func TestLasting(t *testing.T) {
	g := gomega.NewWithT(t)
	sentence := atLevel(-25, newSpeaker(120).say(3))
	d, user := NewDetector(DetectorConfig{}), &Lasting{}
	g.Expect(tell(d, user, sentence)).To(gomega.BeNumerically("~", 400, 80))
	g.Expect(tell(d, user, sentence[:FrameRate/4])).To(gomega.Equal(-1))
	coughs := make([]float32, FrameRate/2)
	cough(newNoise(1), coughs)
	g.Expect(tell(NewDetector(DetectorConfig{}), &Lasting{}, coughs)).To(gomega.Equal(-1))
	softer := atLevel(-33, sentence)
	g.Expect(tell(d, user, softer)).To(gomega.BeNumerically(">", 1000))
}
