package sherpa

// When an utterance is decoded: for captions, at a pause, at its end. The decoder and the clock are the test's own.

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
)

// counting is a decoder that hears "w" for each whole half second of a recording, and takes some time for it.
type counting struct {
	sizes []int // of the recordings, in samples
	clock time.Time
	takes time.Duration
	fails error
}

func (c *counting) text(pcm []float32) (string, error) {
	c.sizes = append(c.sizes, len(pcm))
	c.clock = c.clock.Add(c.takes)
	words := make([]string, len(pcm)/(500*ms))
	for i := range words {
		words[i] = string(rune('a' + i%26))
	}
	return strings.Join(words, " "), c.fails
}

// times gives each word half a second.
func (c *counting) times(_ []float32, text string) (words []backend.Word, err error) {
	for i, w := range strings.Fields(text) {
		words = append(words, backend.Word{Text: w, StartMS: 500 * i, EndMS: 500*i + 500})
	}
	return words, c.fails
}

func (c *counting) now() time.Time { return c.clock }

// vowel returns speech as the detector knows it: a harmonic sound whose pitch and loudness move.
func vowel(milliseconds int) []float32 {
	pcm := make([]float32, milliseconds*ms)
	phase := 0.0
	for i := range pcm {
		at := float64(i) / (1000 * ms)
		phase += 2 * math.Pi * (140 + 25*math.Sin(2*math.Pi*3*at)) / (1000 * ms)
		v := 0.0
		for h := 1; h <= 12; h++ {
			v += math.Sin(float64(h)*phase) / float64(h)
		}
		pcm[i] = float32(0.15 * v * (0.7 + 0.3*math.Sin(2*math.Pi*4*at)))
	}
	return pcm
}

func quiet(milliseconds int) []float32 { return make([]float32, milliseconds*ms) }

// feed gives the audio in slices of 100 ms, and returns the captions that differ from the one before.
func feed(t *testing.T, s *stream, pcm ...[]float32) (captions []string) {
	t.Helper()
	last := ""
	for _, p := range pcm {
		for len(p) > 0 {
			n := min(len(p), 100*ms)
			u, err := s.Feed(t.Context(), p[:n])
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			if u.Partial != last {
				captions, last = append(captions, u.Partial), u.Partial
			}
			p = p[n:]
		}
	}
	return captions
}

func finish(t *testing.T, s *stream) string {
	t.Helper()
	r, err := s.Finish(t.Context())
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return r.Text
}

// The times of words count from the begin of the utterance, also behind a cut. Nobody asks the decoder for times that nobody wants.
func TestTimesBehindACut(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, timed := range []bool{true, false} {
		d := &counting{}
		s := newStream(d, false, d.now)
		s.timed = timed
		feed(t, s, quiet(1000), vowel(5000), quiet(1000), vowel(1200), quiet(600))
		r, err := s.Finish(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if !timed {
			g.Expect(r.Words).To(gomega.BeEmpty())
			continue
		}
		first, second := r.Words[0], r.Words[len(r.Words)-3]
		g.Expect(len(r.Words)).To(gomega.Equal(len(strings.Fields(r.Text))))
		g.Expect([]int{first.StartMS, second.StartMS}).To(gomega.Equal([]int{800, 6810}), "200 ms before the detected speech")
	}
}

// Captions grow while the user speaks. At a pause the text is decoded at once, so that the end needs no decoding.
func TestCaptionsThenTextAtThePause(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{takes: 10 * time.Millisecond}
	s := newStream(c, true, c.now)
	captions := feed(t, s, quiet(300), vowel(2000))
	g.Expect(len(captions)).To(gomega.BeNumerically(">=", 3))
	g.Expect(captions[len(captions)-1]).To(gomega.HavePrefix(captions[0]))
	feed(t, s, quiet(500))
	decoded := len(c.sizes)
	g.Expect(finish(t, s)).To(gomega.Equal("a b c d"))
	g.Expect(c.sizes).To(gomega.HaveLen(decoded), "the end needs no decoding")
}

// A short word is decoded in the first 130 ms after it, and again at the pause. The judge of a barge-in waits for 200 ms.
func TestAShortWordIsDecodedAtOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{takes: 10 * time.Millisecond}
	s := newStream(c, true, c.now)
	feed(t, s, quiet(300), vowel(260))
	g.Expect(c.sizes).To(gomega.BeEmpty())
	feed(t, s, quiet(100))
	u, err := s.Feed(t.Context(), quiet(30))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.sizes).To(gomega.HaveLen(1))
	g.Expect(u.Through).To(gomega.BeNumerically("<", time.Duration(s.spoken/ms)*time.Millisecond), "an end of the turn waits for the text at the pause")
	feed(t, s, quiet(400))
	g.Expect(c.sizes).To(gomega.HaveLen(2))
}

// The text of the whole speech comes soon after the end of the speech, and says how far it reaches: an end of the turn waits for it.
func TestTheTextSaysHowFarItReaches(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{takes: 10 * time.Millisecond}
	s := newStream(c, true, c.now)
	spoken := 0
	for at := 0; ; at += 20 {
		pcm := quiet(20)
		if at < 2000 {
			pcm = vowel(2020)[at*ms : (at+20)*ms]
		}
		u, err := s.Feed(t.Context(), pcm)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Through).To(gomega.BeNumerically("<=", time.Duration(at+20)*time.Millisecond))
		if spoken = s.spoken / ms; at >= 2000 && u.Through >= time.Duration(spoken+postRoll/ms)*time.Millisecond {
			g.Expect(at - spoken).To(gomega.BeNumerically("<", 200))
			g.Expect(u.Partial).To(gomega.Equal("a b c d"))
			return
		}
		g.Expect(at).To(gomega.BeNumerically("<", 3000), "no text of the end")
	}
}

// Without a pause, the end decodes. Without live results, only the end does.
func TestTheEndDecodes(t *testing.T) {
	for _, live := range []bool{true, false} {
		g := gomega.NewWithT(t)
		c := &counting{}
		s := newStream(c, live, c.now)
		feed(t, s, quiet(300), vowel(2000))
		before := len(c.sizes)
		g.Expect(before > 0).To(gomega.Equal(live))
		g.Expect(finish(t, s)).NotTo(gomega.BeEmpty())
		g.Expect(c.sizes).To(gomega.HaveLen(before + 1))
	}
}

// A slow decoder makes captions rarer, and takes at most a quarter of the time.
func TestASlowDecoderMakesCaptionsRarer(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{takes: 400 * time.Millisecond}
	s := newStream(c, true, c.now)
	feed(t, s, quiet(300), vowel(4500))
	g.Expect(len(c.sizes)).To(gomega.BeNumerically("<=", 4))
}

// A long utterance is cut at its pauses. Speech without a pause is cut, too, so that no recording is too long for the model.
func TestLongSpeechIsCut(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{}
	s := newStream(c, true, c.now)
	feed(t, s, vowel(6000), quiet(400), vowel(2000), quiet(400))
	g.Expect(s.done).To(gomega.HaveLen(1))
	first := s.done[0]
	g.Expect(finish(t, s)).To(gomega.HavePrefix(first + " a b"))

	s = newStream(c, true, c.now)
	feed(t, s, vowel(30_000))
	g.Expect(len(s.done)).To(gomega.BeNumerically(">=", 3))
	for _, size := range c.sizes {
		g.Expect(size).To(gomega.BeNumerically("<=", maxSegment))
	}
}

// Nothing is decoded for silence, however long, and the audio that is kept has a limit.
func TestSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{}
	s := newStream(c, true, c.now)
	feed(t, s, quiet(60_000))
	g.Expect(finish(t, s)).To(gomega.BeEmpty())
	g.Expect(c.sizes).To(gomega.BeEmpty())
	g.Expect(len(s.segment)).To(gomega.BeNumerically("<=", maxSegment))
}

func TestADecoderThatFails(t *testing.T) {
	g := gomega.NewWithT(t)
	c := &counting{fails: errors.New("broken")}
	s := newStream(c, false, c.now)
	feed(t, s, vowel(1000))
	_, err := s.Finish(t.Context())
	g.Expect(err).To(gomega.MatchError(c.fails))
	var _ backend.Stream = s
}

func TestPlausible(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, want := range map[string]string{
		"Hello there.":                 "Hello there.",
		"no no no":                     "no no no",
		"of the of the of the of the":  "of the",
		"so the voice a b a b a b a b": "so the voice a b",
		strings.Repeat("x ", 10) + "y": "x y",
		"1 2 3 4 5 6 7 8 9 10 11 12":   "",
	} {
		g.Expect(plausible(text, 1000*ms)).To(gomega.Equal(want), text)
	}
	g.Expect(plausible("", 0)).To(gomega.BeEmpty())
}
