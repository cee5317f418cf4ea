package sphinx

// Recognition of commands and free speech by pocketsphinx, and its front end.

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// spoken returns a text in one of Flite's voices, changed as a call changes it.
func spoken(t *testing.T, who, text string, way pipetest.Path) []float32 {
	t.Helper()
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "speech.wav")
	out, err := exec.CommandContext(t.Context(), "flite", "-voice", who, "-t", text, "-o", file).CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	wav, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	const header = 44 // of the files that Flite writes
	pcm, err := way.Send(voice.BytesToPCM16(nil, wav[header:]), int(binary.LittleEndian.Uint32(wav[24:])))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return pcm
}

// call returns the effects of a WebRTC call in a quiet room.
func call() pipetest.Path { return pipetest.Path{Lead: 0.3, Bitrate: 32000, Noise: 0.0005} }

func newEngine(t *testing.T) *Engine {
	t.Helper()
	e, err := NewEngine(Places{})
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(e.Close()).To(gomega.Succeed()) })
	return e
}

// recognise feeds the sound in slices of 100 ms and returns the result with all partial ones.
func recognise(t *testing.T, e *Engine, pcm []float32) (r backend.Result, partials []string) {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := e.Open(t.Context(), backend.Config{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for len(pcm) > 0 {
		n := min(len(pcm), 1600)
		u, err := s.Feed(t.Context(), pcm[:n])
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if k := len(partials); u.Partial != "" && (k == 0 || partials[k-1] != u.Partial) {
			partials = append(partials, u.Partial)
		}
		pcm = pcm[n:]
	}
	r, err = s.Finish(t.Context())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(s.Close()).To(gomega.Succeed())
	return r, partials
}

// TestRecogniser loads the model once for all its parts.
func TestRecogniser(t *testing.T) {
	e := newEngine(t)
	t.Run("commands are understood", func(t *testing.T) { testCommands(t, e) })
	t.Run("open vocabulary", func(t *testing.T) { testOpenVocabulary(t, e) })
	t.Run("utterances leave no trace", func(t *testing.T) { testNoTrace(t, e) })
	t.Run("the final text is decoded again", func(t *testing.T) { testFinalPasses(t, e) })
	t.Run("levels", func(t *testing.T) { testLevels(t, e) })
}

// testCommands speaks commands to the assistant. Each must be recognised word by word.
func testCommands(t *testing.T, e *Engine) {
	for _, text := range []string{
		"what is two plus two", "count to one hundred", "stop", "wait", "tell me a story", "what time is it", "hello", "how are you",
		"who are you", "what is seven times eight", "repeat after me good morning",
	} {
		t.Run(text, func(t *testing.T) {
			g := gomega.NewWithT(t)
			r, partials := recognise(t, e, spoken(t, "kal16", text, call()))
			g.Expect(r.Text).To(gomega.Equal(text))
			g.Expect(r.Words).To(gomega.HaveLen(len(strings.Fields(text))))
			g.Expect(r.Words[0].StartMS).To(gomega.BeNumerically("~", 500, 150), "0.3 s of ours and 0.2 s of Flite's silence come first")
			if len(r.Words) > 2 {
				g.Expect(len(partials)).To(gomega.BeNumerically(">=", 2), "partial results come before the final one")
			}
		})
	}
}

// testOpenVocabulary counts word errors in sentences that are not in phrases.txt.
func testOpenVocabulary(t *testing.T, e *Engine) {
	g := gomega.NewWithT(t)
	wrong, all := 0, 0
	for _, who := range []string{"kal16", "rms"} {
		for _, text := range []string{"i would like to order a large pizza with mushrooms", "we went to the beach last summer"} {
			r, _ := recognise(t, e, spoken(t, who, text, call()))
			n := wordErrors(strings.Fields(text), strings.Fields(r.Text))
			if n > 0 {
				t.Logf("%s: %q was heard as %q", who, text, r.Text)
			}
			wrong += n
			all += len(strings.Fields(text))
		}
	}
	t.Logf("%d of %d words wrong", wrong, all)
	g.Expect(float64(wrong) / float64(all)).To(gomega.BeNumerically("<", 0.15))
}

func wordErrors(want, got []string) int {
	row := make([]int, len(got)+1)
	for j := range row {
		row[j] = j
	}
	for i := range want {
		diagonal := row[0]
		row[0] = i + 1
		for j := range got {
			same := diagonal
			if want[i] != got[j] {
				same++
			}
			diagonal = row[j+1]
			row[j+1] = min(same, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(got)]
}

// testNoTrace: silence, noise or another speaker before an utterance does not change its text.
func testNoTrace(t *testing.T, e *Engine) {
	g := gomega.NewWithT(t)
	question := spoken(t, "kal16", "what is two plus two", call())
	first, _ := recognise(t, e, question)
	for name, before := range map[string][]float32{
		"digital silence": make([]float32, 3*rate), "nothing": nil, "one sample": {0.5}, "a quiet voice": spoken(t, "awb", "good morning", pipetest.Path{Gain: 0.05}),
		"loud noise": spoken(t, "slt", "x", pipetest.Path{Lead: 1, Noise: 0.3}),
	} {
		r, _ := recognise(t, e, before)
		if strings.Contains(name, "silence") {
			g.Expect(r.Text).To(gomega.BeEmpty(), name)
		}
		again, _ := recognise(t, e, question)
		g.Expect(again).To(gomega.Equal(first), "after "+name)
	}
	s, err := e.Open(t.Context(), backend.Config{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = s.Feed(t.Context(), question[:len(question)/2])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(s.Close()).To(gomega.Succeed(), "abandoned in the middle")
	again, _ := recognise(t, e, question)
	g.Expect(again).To(gomega.Equal(first))
}

// testFinalPasses: the library decodes the utterance again at its end. The final text of this sentence is better than its last
// partial result.
func testFinalPasses(t *testing.T, e *Engine) {
	g := gomega.NewWithT(t)
	const text = "our neighbors want to sell their old house in spring"
	r, partials := recognise(t, e, spoken(t, "awb", text, call()))
	g.Expect(partials).NotTo(gomega.BeEmpty())
	live, final := strings.Fields(partials[len(partials)-1]), strings.Fields(r.Text)
	want := strings.Fields(text)
	g.Expect(wordErrors(want, final)).To(gomega.BeNumerically("<", wordErrors(want, live)), "live %q, final %q", live, final)
}

// testLevels: the same words at other levels, with digital silence around them.
func testLevels(t *testing.T, e *Engine) {
	for _, gain := range []float32{0.1, 1.5} {
		g := gomega.NewWithT(t)
		r, _ := recognise(t, e, spoken(t, "kal16", "what is two plus two", pipetest.Path{Lead: 0.5, Gain: gain}))
		g.Expect(r.Text).To(gomega.Equal("what is two plus two"), "gain %v", gain)
	}
}

// TestFrontendIsPocketsphinx compares our cepstra with the library's own, which it logs to a folder.
func TestFrontendIsPocketsphinx(t *testing.T) {
	g := gomega.NewWithT(t)
	p, err := Find(Places{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	folder := t.TempDir()
	d, err := Load(p, Setting{"mfclogdir", folder}, Setting{"remove_noise", "no"}, Setting{"remove_silence", "no"},
		Setting{"lowerf", "130"}, Setting{"upperf", "6800"}, Setting{"nfilt", "25"}, Setting{"transform", "dct"}, Setting{"lifter", "22"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer d.Close()
	var processRaw func(ps uintptr, data *int16, n uintptr, noSearch, fullUtt int32) int32
	purego.RegisterLibFunc(&processRaw, d.lib.handle, "ps_process_raw")
	pcm := spoken(t, "kal16", "hello there", pipetest.Path{Noise: 0.01})
	raw := voice.FloatToPCM16(nil, pcm)
	g.Expect(d.Start()).To(gomega.Succeed())
	g.Expect(processRaw(d.ps, &raw[0], uintptr(len(raw)), 0, 0)).To(gomega.BeNumerically(">=", 0))
	g.Expect(d.Finish()).To(gomega.Succeed())
	logs, err := filepath.Glob(filepath.Join(folder, "*"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(logs).To(gomega.HaveLen(1))
	theirs, err := os.ReadFile(logs[0])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	f := newFrontend()
	f.floor = 0
	var ours []cepstrum
	for _, v := range voice.PCM16ToFloat(nil, raw) {
		ours = f.write(ours, []float32{v})
	}
	theirs = theirs[4:] // the number of values
	worst := 0.0
	for i, c := range ours {
		for j, v := range c {
			x := math.Float32frombits(binary.LittleEndian.Uint32(theirs[4*(ceps*i+j):]))
			worst = max(worst, math.Abs(float64(v-x)))
		}
	}
	t.Logf("%d frames, largest difference %.4f", len(ours), worst)
	g.Expect(worst).To(gomega.BeNumerically("<", 1e-3))
}

func TestMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	empty := t.TempDir()
	var missing *MissingError
	_, err := Find(Places{Libraries: []string{empty}})
	g.Expect(err).To(gomega.BeAssignableToTypeOf(missing))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("libpocketsphinx")))
	_, err = Find(Places{Model: empty})
	g.Expect(err).To(gomega.BeAssignableToTypeOf(missing))
	_, err = NewEngine(Places{Model: empty})
	g.Expect(err).To(gomega.BeAssignableToTypeOf(missing))
	fake := filepath.Join(empty, "libpocketsphinx.so.3")
	g.Expect(os.WriteFile(fake, []byte("no library"), 0o600)).To(gomega.Succeed())
	_, err = NewEngine(Places{Libraries: []string{empty}})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(fake)))
}

func BenchmarkRealTimeFactor(b *testing.B) {
	e, err := NewEngine(Places{})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	file := filepath.Join(b.TempDir(), "speech.wav")
	if err := exec.CommandContext(b.Context(), "flite", "-voice", "kal16", "-t", "please count to one hundred and tell me a story", "-o", file).Run(); err != nil {
		b.Fatal(err)
	}
	wav, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	pcm := voice.PCM16ToFloat(nil, voice.BytesToPCM16(nil, wav[44:]))
	for b.Loop() {
		s, err := e.Open(context.Background(), backend.Config{Live: true})
		if err != nil {
			b.Fatal(err)
		}
		for at := 0; at < len(pcm); at += 1600 {
			if _, err := s.Feed(context.Background(), pcm[at:min(at+1600, len(pcm))]); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.Finish(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	perOp := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(perOp/(float64(len(pcm))/rate), "x-real-time")
}
