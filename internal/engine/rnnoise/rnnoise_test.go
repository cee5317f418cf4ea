package rnnoise

// The reducer with the real program, which scripts/models.sh fetches, and without it.

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is the folder of the models of the tests.
const store = "../../../.cache/models"

func open(t *testing.T) *Reducer {
	t.Helper()
	g := gomega.NewWithT(t)
	r := New(Config{Models: store})
	g.Expect(r.Component().State).To(gomega.Equal(pipeline.StateReady), r.Component().Detail)
	t.Cleanup(func() { g.Expect(r.Close()).To(gomega.Succeed()) })
	return r
}

// noise returns seconds of noise like that of a fan, with this RMS level, in the range of 16 bits.
func noise(seconds, level float64) []int16 {
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]int16, int(seconds*pipeline.NoiseRate))
	low := 0.0
	for i := range x {
		low = 0.97*low + 0.243*random.NormFloat64()
		x[i] = int16(level * low)
	}
	return x
}

// vowel returns seconds of a voice of 120 Hz that says a vowel in syllables.
func vowel(seconds float64) []int16 {
	formant := func(f, at, width float64) float64 {
		off := (f - at) / width
		return 1 / (1 + off*off)
	}
	x := make([]int16, int(seconds*pipeline.NoiseRate))
	for i := range x {
		at := float64(i) / pipeline.NoiseRate
		var v float64
		for k := 1; k <= 20; k++ {
			f := 120 * float64(k)
			v += math.Sin(2*math.Pi*f*at) * (formant(f, 700, 130) + 0.5*formant(f, 1100, 160))
		}
		x[i] = int16(3000 * v * math.Max(0, math.Sin(2*math.Pi*3*at)))
	}
	return x
}

func level(x []int16) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(len(x))+1e-9)
}

// pass sends audio through in pieces of n samples, and flushes.
func pass(t *testing.T, s pipeline.NoiseReduction, x []int16, n int) []int16 {
	t.Helper()
	g := gomega.NewWithT(t)
	var y []int16
	var err error
	for at := 0; at < len(x); at += n {
		y, err = s.Append(y, x[at:min(len(x), at+n)])
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	y, err = s.Flush(y)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return y
}

func TestNoiseBecomesQuieterAndSpeechStays(t *testing.T) {
	for _, c := range []struct {
		field pipeline.NoiseField
		least float64
	}{{pipeline.NearField, 5}, {pipeline.FarField, 7}} {
		g := gomega.NewWithT(t)
		s, err := open(t).Open(c.field)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		x := noise(3, 300)
		y := pass(t, s, x, 480)
		second := pipeline.NoiseRate
		g.Expect(level(x[2*second:])-level(y[2*second:])).To(gomega.BeNumerically(">", c.least), "dB of noise")
		x = vowel(3)
		y = pass(t, s, x, 480)
		g.Expect(level(x[second:]) - level(y[second:])).To(gomega.BeNumerically("<", 2))
		s.Close()
		_, err = s.Append(nil, x[:480])
		g.Expect(err).To(gomega.MatchError(pipeline.ErrClosed))
	}
}

// What comes out has the length and the place of what went in, whatever the sizes of the pieces.
func TestNothingMoves(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := open(t).Open(pipeline.NearField)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer s.Close()
	for _, n := range []int{1, 100, 240, 480, 2399, 24000} {
		x := vowel(1.5)
		y := pass(t, s, x, n)
		g.Expect(y).To(gomega.HaveLen(len(x)), "in pieces of %d", n)
		g.Expect(offset(x, y)).To(gomega.BeZero(), "in pieces of %d", n)
	}
	y, err := s.Append(nil, make([]int16, 2400))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	late := float64(2400-len(y)) / pipeline.NoiseRate
	g.Expect(late).To(gomega.BeNumerically("~", s.Delay().Seconds(), 0.01), "the pieces of 10 ms wait for their end")
}

// offset returns by how many samples y is best moved to be x.
func offset(x, y []int16) (best int) {
	most := math.Inf(-1)
	for by := -60; by <= 60; by++ {
		var sum float64
		for i := 100; i+100 < len(x); i++ {
			sum += float64(x[i]) * float64(y[i+by])
		}
		if sum > most {
			best, most = by, sum
		}
	}
	return best
}

// A frame takes the fuel that the comment of frameFuel says, also for sounds at the limits of the format.
func TestAFrameTakesLittleFuel(t *testing.T) {
	g := gomega.NewWithT(t)
	r := open(t)
	s, err := r.Open(pipeline.NearField)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer s.Close()
	most := uint64(0)
	square := noise(1, 1)
	for i := range square {
		square[i] = 32767
		if i/50%2 == 0 {
			square[i] = -32768
		}
	}
	for _, x := range [][]int16{noise(1, 3000), vowel(1), square, make([]int16, 24000)} {
		for at := 0; at < len(x); at += 240 {
			_, err := s.Append(nil, x[at:at+240])
			g.Expect(err).NotTo(gomega.HaveOccurred())
			if used := frameFuel - r.hosts[0].in.fuel.Get(); used <= frameFuel {
				most = max(most, used)
			}
		}
	}
	t.Log("fuel for a frame:", most)
	g.Expect(most).To(gomega.And(gomega.BeNumerically(">", 1000), gomega.BeNumerically("<", frameFuel/10)))
}

func TestWithoutTheProgram(t *testing.T) {
	g := gomega.NewWithT(t)
	r := New(Config{Models: t.TempDir()})
	g.Expect(r.Component()).To(gomega.And(
		gomega.HaveField("State", pipeline.StateMissing), gomega.HaveField("Install", "antiphon models get rnnoise")))
	_, err := r.Open(pipeline.NearField)
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(r.Close()).To(gomega.Succeed())
}

// A program that is not the one of the catalogue does not run.
func TestAnotherProgramIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := filepath.Join(t.TempDir(), "rnnoise")
	g.Expect(os.CopyFS(folder, os.DirFS(filepath.Join(store, "rnnoise")))).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, file), looping, 0o600)).To(gomega.Succeed())
	r := New(Config{Models: filepath.Dir(folder)})
	g.Expect(r.Component().State).To(gomega.Equal(pipeline.StateFailed))
	g.Expect(r.Component().Detail).To(gomega.ContainSubstring(models.ErrChecksum.Error()))
	g.Expect(r.Close()).To(gomega.Succeed())
}

// When the program fails, the calls of its instance end, and new calls get another one. After three failures there is no more.
func TestAProgramThatFails(t *testing.T) {
	g := gomega.NewWithT(t)
	r := open(t)
	for range maxFailures {
		s, err := r.Open(pipeline.NearField)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		bad, is := s.(*stream)
		g.Expect(is).To(gomega.BeTrue())
		bad.state = 0xfffffff0 // outside of its memory
		kept := []int16{1, 2, 3}
		y, err := s.Append(kept, noise(0.1, 100))
		g.Expect(err).To(gomega.MatchError(ErrProgram))
		g.Expect(y).To(gomega.Equal(kept))
		_, again := s.Flush(nil)
		g.Expect(again).To(gomega.MatchError(ErrProgram))
		s.Close()
		s.Close()
	}
	_, err := r.Open(pipeline.NearField)
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(r.Component().State).To(gomega.Equal(pipeline.StateFailed))
}

// Many calls share an instance for each processor, and closing the reducer ends them.
func TestManyCalls(t *testing.T) {
	g := gomega.NewWithT(t)
	r := open(t)
	var all []pipeline.NoiseReduction
	for range 100 {
		s, err := r.Open(pipeline.FarField)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		all = append(all, s)
	}
	g.Expect(len(r.hosts)).To(gomega.BeNumerically("<=", maxHosts))
	memory := r.hosts[0].in.module.Memory().Size()
	g.Expect(memory).To(gomega.BeNumerically("<=", 24<<20))
	first := pass(t, all[0], noise(0.5, 500), 480)
	g.Expect(pass(t, all[99], noise(0.5, 500), 480)).To(gomega.Equal(first), "each call has a state of its own")
	for _, s := range all[1:] {
		s.Close()
	}
	g.Expect(r.Close()).To(gomega.Succeed())
	_, err := all[0].Append(nil, noise(0.1, 100))
	g.Expect(err).To(gomega.HaveOccurred())
	all[0].Close()
	_, err = r.Open(pipeline.NearField)
	g.Expect(err).To(gomega.MatchError(pipeline.ErrClosed))
}

// BenchmarkFrame is the work for 20 ms of a call, resampling included.
func BenchmarkFrame(b *testing.B) {
	r := New(Config{Models: store})
	defer func() { _ = r.Close() }()
	s, err := r.Open(pipeline.NearField)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	x := noise(1, 1000)
	var y []int16
	at := 0
	for b.Loop() {
		if y, err = s.Append(y[:0], x[at:at+480]); err != nil {
			b.Fatal(err)
		}
		at = (at + 480) % len(x)
	}
}
