package sherpa

// The stages with the real library and models, which scripts/models.sh fetches, and without them.

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unsafe"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is the folder of the models of the tests.
const store = "../../../.cache/models"

// The sizes are those that a C compiler gives for c-api.h of Version on a 64-bit system.
func TestStructsAreThoseOfC(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(unsafe.Sizeof(offlineModelConfig{})).To(gomega.Equal(uintptr(504)))
	g.Expect(unsafe.Offsetof(offlineModelConfig{}.tokens)).To(gomega.Equal(uintptr(96)))
	g.Expect(unsafe.Offsetof(offlineModelConfig{}.moonshine)).To(gomega.Equal(uintptr(176)))
	g.Expect(unsafe.Sizeof(recognizerConfig{})).To(gomega.Equal(uintptr(608)))
	g.Expect(unsafe.Offsetof(recognizerConfig{}.decodingMethod)).To(gomega.Equal(uintptr(528)))
	g.Expect(unsafe.Sizeof(ttsModelConfig{})).To(gomega.Equal(uintptr(416)))
	g.Expect(unsafe.Offsetof(ttsModelConfig{}.provider)).To(gomega.Equal(uintptr(64)))
	g.Expect(unsafe.Offsetof(vitsConfig{}.noiseScale)).To(gomega.Equal(uintptr(32)))
	g.Expect(unsafe.Sizeof(ttsConfig{})).To(gomega.Equal(uintptr(448)))
	g.Expect(unsafe.Offsetof(ttsConfig{}.maxNumSentences)).To(gomega.Equal(uintptr(424)))
	g.Expect(unsafe.Sizeof(generationConfig{})).To(gomega.Equal(uintptr(56)))
}

// plainWords returns the words of a text in lower case, without punctuation.
func plainWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }), " ")
}

// say returns a text as synthesised speech at the recogniser's rate, with silence around it.
func say(t *testing.T, s pipeline.Synthesizer, u pipeline.Utterance) []float32 {
	t.Helper()
	g := gomega.NewWithT(t)
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	pcm := make([]float32, 300*ms)
	g.Expect(s.Synthesize(t.Context(), u, func(chunk []int16) error {
		pcm = down.Append(pcm, voice.PCM16ToFloat(nil, chunk))
		return nil
	})).To(gomega.Succeed())
	return append(down.Flush(pcm), make([]float32, 500*ms)...)
}

// Sentences that the synthesizer speaks are understood, with captions while they are spoken.
func TestSpeaksAndUnderstands(t *testing.T) {
	g := gomega.NewWithT(t)
	c := Config{Models: store, Processes: 1, even: true}
	speaks, err := Synthesizer(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(speaks.Close()).To(gomega.Succeed()) }()
	hears, err := Recogniser(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(hears.Close()).To(gomega.Succeed()) }()
	g.Expect(hears.Component().State).To(gomega.Equal(pipeline.StateLoading))
	g.Expect(hears.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(speaks.Warm(t.Context())).To(gomega.Succeed())
	for _, component := range []pipeline.Component{hears.Component(), speaks.Component()} {
		g.Expect(component.State).To(gomega.Equal(pipeline.StateReady), component.Detail)
	}
	for _, text := range []string{"what is the weather in london", "please call me again at nine in the morning"} {
		u, err := hears.Impl.Open(t.Context(), pipeline.TranscribeConfig{Live: true, Language: "en-US"})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Write(say(t, speaks.Impl, pipeline.Utterance{Text: text + "."}))).To(gomega.Succeed())
		first := <-u.Results()
		g.Expect(first.Final).To(gomega.BeFalse(), "a caption comes before the end")
		g.Expect(u.CloseInput()).To(gomega.Succeed())
		var last pipeline.TranscriptResult
		for last = range u.Results() {
			g.Expect(last.Err).NotTo(gomega.HaveOccurred())
		}
		g.Expect(u.Close()).To(gomega.Succeed())
		g.Expect(plainWords(last.Text)).To(gomega.Equal(text))
	}
	slow := say(t, speaks.Impl, pipeline.Utterance{Text: "hello there", Speed: 0.5, Voice: "alloy"})
	fast := say(t, speaks.Impl, pipeline.Utterance{Text: "hello there", Speed: 2})
	g.Expect(len(slow)).To(gomega.BeNumerically(">", len(fast)+300*ms))
}

// Words have the times at which they are said: here after a second of silence each.
func TestTimesOfWords(t *testing.T) {
	g := gomega.NewWithT(t)
	speaks, err := Synthesizer(Config{Models: store, Processes: 1, even: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(speaks.Close()).To(gomega.Succeed()) }()
	hears, err := Recogniser(Config{Models: store, Processes: 1})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(hears.Close()).To(gomega.Succeed()) }()
	c, err := hears.Impl.(pipeline.ConfigNegotiator).NegotiateConfig(pipeline.TranscribeConfig{Words: true, Prompt: "x"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c).To(gomega.Equal(pipeline.TranscribeConfig{Words: true}))

	var pcm []float32
	var onsets, ends []int // of the sentences, in milliseconds
	for _, text := range []string{"What is the weather in London?", "Please call me again very early in the morning.", "What is your name?"} {
		said := say(t, speaks.Impl, pipeline.Utterance{Text: text})
		audible := func(v float32) bool { return v > 0.01 || v < -0.01 }
		first := slices.IndexFunc(said, audible)
		last := len(said) - 1
		for !audible(said[last]) {
			last--
		}
		onsets, ends = append(onsets, (len(pcm)+first)/ms), append(ends, (len(pcm)+last)/ms)
		pcm = append(append(pcm, said...), make([]float32, 1000*ms)...)
	}
	r := pipetest.Last(pipetest.Hear(t, hears.Impl, c, pcm))
	g.Expect(r.Err).NotTo(gomega.HaveOccurred())
	texts := make([]string, len(r.Words))
	for i, w := range r.Words {
		texts[i] = w.Text
		g.Expect(w.End).To(gomega.BeNumerically(">", w.Start), w.Text)
		if i > 0 {
			g.Expect(w.Start).To(gomega.BeNumerically(">=", r.Words[i-1].End), w.Text)
		}
	}
	g.Expect(strings.Join(texts, " ")).To(gomega.Equal(r.Text))
	g.Expect(plainWords(r.Text)).To(gomega.Equal("what is the weather in london please call me again very early in the morning what is your name"))
	for sentence, first := range []int{0, 6, 15} {
		g.Expect(int(r.Words[first].Start.Milliseconds())).To(gomega.BeNumerically("~", onsets[sentence], 40), r.Words[first].Text)
	}
	for sentence, last := range []int{5, 14, 18} {
		g.Expect(int(r.Words[last].End.Milliseconds())).To(gomega.BeNumerically("~", ends[sentence], 100), r.Words[last].Text)
	}
}

// The decoder of another model has nothing to attend with, and says so.
func TestNoAttention(t *testing.T) {
	g := gomega.NewWithT(t)
	file, err := os.ReadFile(store + "/moonshine-tiny-en/" + moonshineDecoder)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for name, wrong := range map[string][]byte{"empty": {}, "a part of the file": file[:1000], "the end of the file": file[len(file)/2:]} {
		_, err := attending(slices.Clone(wrong), attended())
		g.Expect(err).To(gomega.MatchError(errAttention), name)
	}
	_, err = attending(file, []int{6})
	g.Expect(err).To(gomega.MatchError(errAttention), "it has six layers")
}

// Without the library and models, each stage says how to get them, and nothing crashes.
func TestNothingIsInstalled(t *testing.T) {
	g := gomega.NewWithT(t)
	c := Config{Models: t.TempDir()}
	speaks, err := Synthesizer(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	hears, err := Recogniser(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, component := range []pipeline.Component{hears.Component(), speaks.Component()} {
		g.Expect(component.State).To(gomega.Equal(pipeline.StateMissing))
		g.Expect(component.Install).To(gomega.Equal("antiphon models get neural-en"))
	}
	g.Expect(hears.Warm(t.Context())).To(gomega.Succeed())
	_, err = hears.Impl.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	err = speaks.Impl.Synthesize(t.Context(), pipeline.Utterance{Text: "hello"}, func([]int16) error { return nil })
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
	checker, ok := speaks.Impl.(pipeline.VoiceChecker)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(checker.CheckVoice("nobody")).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	negotiator, ok := hears.Impl.(pipeline.ConfigNegotiator)
	g.Expect(ok).To(gomega.BeTrue())
	_, err = negotiator.NegotiateConfig(pipeline.TranscribeConfig{Language: "de"})
	g.Expect(err).To(gomega.HaveOccurred())
	g.Expect(speaks.Close()).To(gomega.Succeed())
	g.Expect(hears.Close()).To(gomega.Succeed())
}

// A library of another version is refused before any of its structs is used.
func TestAnotherVersionIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "other.c")
	g.Expect(os.WriteFile(source, []byte(`const char *SherpaOnnxGetVersionStr(void) { return "2.0.1"; }`), 0o600)).To(gomega.Succeed())
	for _, name := range []string{"libonnxruntime.so", "libsherpa-onnx-c-api.so"} {
		out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(dir, name), source).CombinedOutput()
		g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	}
	_, err := NewEngine(dir, store+"/moonshine-tiny-en", 1)
	g.Expect(err).To(gomega.MatchError(ErrVersion))
	_, err = NewEngine(t.TempDir(), store+"/moonshine-tiny-en", 1)
	g.Expect(err).To(gomega.MatchError(ErrLibrary))
}

// A folder that is no model is refused: the stage fails, and says so.
func TestAFolderThatIsNoModel(t *testing.T) {
	g := gomega.NewWithT(t)
	hears, err := Recogniser(Config{Models: store, Model: t.TempDir()})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(hears.Warm(t.Context())).NotTo(gomega.Succeed())
	g.Expect(hears.Component().State).To(gomega.Equal(pipeline.StateFailed))
	g.Expect(hears.Close()).To(gomega.Succeed())
}
