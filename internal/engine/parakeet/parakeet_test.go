package parakeet

// The recogniser with a library of the tests' own (testdata/standin.c), which gcc builds.

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Samples that are orders to the stand-in.
const (
	endOfUtterance   = "\x01"
	endOfBackchannel = "\x02"
	crashes          = "\x03"
	fails            = "\x04"
	hangs            = "\x05"
	garbage          = "\x06"
	flood            = "\x07"
)

// standIn returns the path of the library, which gcc builds with these flags.
func standIn(t *testing.T, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libparakeet.so")
	out, err := exec.Command("gcc", append(flags, "-shared", "-fPIC", "-o", path, "testdata/standin.c")...).CombinedOutput()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	return path
}

// model returns the path of a file with this content. The stand-in streams if it is "GGUFs".
func model(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.gguf")
	gomega.NewWithT(t).Expect(os.WriteFile(path, []byte(content), 0o600)).To(gomega.Succeed())
	return path
}

// stage returns the stage, which the end of the test closes.
func stage(t *testing.T, c Config) pipeline.Stage[pipeline.Transcriber] {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := Recogniser(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(s.Close()).To(gomega.Succeed()) })
	return s
}

// say returns a text as samples for the stand-in.
func say(text string) []float32 {
	var pcm []float32
	for _, c := range []byte(text) {
		pcm = append(pcm, float32(c)/128)
	}
	return pcm
}

// last returns the last result of an utterance.
func last(t *testing.T, s pipeline.Transcriber, text string) pipeline.TranscriptResult {
	t.Helper()
	return pipetest.Last(pipetest.Hear(t, s, pipeline.TranscribeConfig{Live: true}, say(text)))
}

// Captions come while the user speaks, an end of utterance comes with them, and the final text has the words with their times.
func TestCaptionsAndEndOfUtterance(t *testing.T) {
	g := gomega.NewWithT(t)
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs"), Processes: 1})
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateLoading))
	g.Expect(s.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateReady))
	g.Expect(s.Component().Detail).To(gomega.Equal("model.gguf, parakeet.cpp's C interface 10"))
	g.Expect(s.Impl.(pipeline.WordScorer).Scores()).To(gomega.BeTrue())

	u, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{Live: true, Language: "en", Prompt: "ignored"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(u.Close()).To(gomega.Succeed()) }()
	g.Expect(u.Write(say(" good"))).To(gomega.Succeed())
	r := <-u.Results()
	g.Expect(r.Partial).To(gomega.Equal("good"))
	g.Expect(r.EOU || r.Final).To(gomega.BeFalse())
	g.Expect(u.Write(say(" morning" + endOfUtterance))).To(gomega.Succeed())
	r = <-u.Results()
	g.Expect(r.Partial).To(gomega.Equal("good morning"))
	g.Expect(r.EOU).To(gomega.BeTrue())
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	r = <-u.Results()
	g.Expect(r.Err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Final && r.EOU).To(gomega.BeTrue())
	g.Expect(r.Text).To(gomega.Equal("good morning"))
	g.Expect(r.Words).To(gomega.HaveLen(2))
	g.Expect(r.Words[1].Text).To(gomega.Equal("morning"))
	g.Expect(r.Words[1].Prob).To(gomega.Equal(0.9))
	g.Expect(r.Words[1].End).To(gomega.BeNumerically("<=", time.Millisecond))
}

// An end of backchannel is told from an end of utterance. Text after an end takes the end back.
func TestBoundaries(t *testing.T) {
	g := gomega.NewWithT(t)
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs")})
	r := last(t, s.Impl, " mm-hm"+endOfBackchannel)
	g.Expect(r.Text).To(gomega.Equal("mm-hm"))
	g.Expect(r.Backchannel).To(gomega.BeTrue())
	g.Expect(r.EOU).To(gomega.BeFalse())
	r = last(t, s.Impl, endOfUtterance+strings.Repeat("\x00", 1600)+" well")
	g.Expect(r.EOU || r.Backchannel).To(gomega.BeFalse())
	r = last(t, s.Impl, " yes"+endOfBackchannel+" please"+endOfUtterance)
	g.Expect(r.EOU).To(gomega.BeTrue())
	r = last(t, s.Impl, " yes"+endOfUtterance+endOfBackchannel)
	g.Expect(r.Backchannel).To(gomega.BeTrue())
}

// The marks that a model writes as text never reach the text.
func TestLiteralMarks(t *testing.T) {
	for _, content := range []string{"GGUFs", "GGUF1"} {
		g := gomega.NewWithT(t)
		s := stage(t, Config{Library: standIn(t), Model: model(t, content)})
		for _, r := range pipetest.Hear(t, s.Impl, pipeline.TranscribeConfig{Live: content == "GGUFs"}, say(" hello<EOB> there <EOU>")) {
			g.Expect(r.Text + r.Partial).NotTo(gomega.ContainSubstring("<"))
			if r.Final {
				g.Expect(r.Text).To(gomega.Equal("hello there"))
				g.Expect(r.EOU).To(gomega.BeTrue())
			}
		}
	}
}

// A model that does not stream refuses live results, and says why. It decodes whole utterances.
func TestAModelThatDoesNotStream(t *testing.T) {
	g := gomega.NewWithT(t)
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUF1"), Language: "de"})
	_, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("model.gguf does not stream: not a streaming model")))
	all := pipetest.Hear(t, s.Impl, pipeline.TranscribeConfig{}, say("guten tag"))
	g.Expect(all).To(gomega.HaveLen(1))
	g.Expect(all[0].Text).To(gomega.Equal("guten tag de"), "the stand-in adds the language")
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateReady))
	all = pipetest.Hear(t, s.Impl, pipeline.TranscribeConfig{}, say(""))
	g.Expect(all[0].Err).NotTo(gomega.HaveOccurred())
	g.Expect(all[0].Text).To(gomega.BeEmpty())
}

// A library that crashes, hangs or answers nonsense fails one turn with a clear error. The next turn works.
func TestOneTurnFails(t *testing.T) {
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs"), Processes: 1, hang: 2 * time.Second})
	for order, says := range map[string]string{
		crashes: "back-end process ended unexpectedly",
		hangs:   "back-end process made no progress",
		fails:   "could not decode: no memory for the graph",
		garbage: "its answer is not the JSON that the C interface describes",
		flood:   "a text is longer than 262144 bytes",
	} {
		g := gomega.NewWithT(t)
		r := last(t, s.Impl, " one"+order)
		g.Expect(r.Err).To(gomega.MatchError(gomega.ContainSubstring(says)))
		g.Expect(r.Err).To(gomega.MatchError(gomega.HavePrefix(pipeline.StageTranscriber)))
		g.Expect(last(t, s.Impl, " two").Text).To(gomega.Equal("two"), says)
	}
}

// Turns that end, that fail and that are abandoned free what they have of the library. The stand-in crashes otherwise.
func TestOneProcessTakesManyTurns(t *testing.T) {
	g := gomega.NewWithT(t)
	var log servertest.Log
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs"), Processes: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		g.Expect(last(t, s.Impl, " fine"+endOfUtterance).Text).To(gomega.Equal("fine"))
		for _, order := range []string{fails, garbage, flood} {
			g.Expect(last(t, s.Impl, order).Err).To(gomega.HaveOccurred())
		}
		u, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Write(say(" abandoned"))).To(gomega.Succeed())
		g.Expect((<-u.Results()).Partial).To(gomega.Equal("abandoned"))
		g.Expect(u.Close()).To(gomega.Succeed())
	}
	g.Expect(s.Close()).To(gomega.Succeed())
	g.Expect(strings.Count(log.String(), "the library prints")).To(gomega.Equal(1), "the model was loaded once")
	g.Expect(log.String()).NotTo(gomega.ContainSubstring("is replaced"))
}

// A text without an end fails the turn, and not the server.
func TestTooMuchText(t *testing.T) {
	g := gomega.NewWithT(t)
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs")})
	g.Expect(last(t, s.Impl, strings.Repeat("a", maxText+1)).Err).To(gomega.MatchError(gomega.ContainSubstring("more than 65536 bytes of text")))
	g.Expect(last(t, s.Impl, strings.Repeat("a ", maxWords+1)).Err).To(gomega.MatchError(gomega.ContainSubstring("4096 words")))
	g.Expect(last(t, s.Impl, " fine").Text).To(gomega.Equal("fine"))
}

// A library that cannot be used is refused with the reason, in Warm, in the component and in Open.
func TestALibraryThatCannotBeUsed(t *testing.T) {
	text := filepath.Join(t.TempDir(), "libparakeet.so")
	gomega.NewWithT(t).Expect(os.WriteFile(text, []byte("no library"), 0o600)).To(gomega.Succeed())
	for _, each := range []struct{ library, content, says string }{
		{standIn(t, "-DABI=4"), "GGUFs", "has version 4 of the C interface, want 5 to 10"},
		{standIn(t, "-DABI=11"), "GGUFs", "has version 11 of the C interface, want 5 to 10"},
		{standIn(t, "-DABI=4", "-DOLD"), "GGUFs", "has version 4 of the C interface"},
		{standIn(t, "-DNO_FEED"), "GGUFs", "parakeet_capi_stream_feed_json"},
		{standIn(t, "-Dparakeet_capi_abi_version=other"), "GGUFs", "parakeet_capi_abi_version"},
		{"libantiphon-has-no-such-library.so", "GGUFs", "libantiphon-has-no-such-library.so"},
		{text, "GGUFs", "the library of parakeet.cpp cannot be used"},
		{standIn(t), "GGUF?", "parakeet.cpp cannot use the model: "},
	} {
		t.Run(each.says, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := stage(t, Config{Library: each.library, Model: model(t, each.content)})
			g.Expect(s.Warm(t.Context())).To(gomega.MatchError(gomega.ContainSubstring(each.says)))
			g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateFailed))
			g.Expect(s.Component().Detail).To(gomega.ContainSubstring(each.says))
			_, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(each.says)))
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("see docs/models.md")), "it says what to do")
		})
	}
}

// After the user has mended the library, the next turn works.
func TestAMendedLibrary(t *testing.T) {
	g := gomega.NewWithT(t)
	path := filepath.Join(t.TempDir(), "libparakeet.so")
	g.Expect(os.Rename(standIn(t, "-DABI=4"), path)).To(gomega.Succeed())
	s := stage(t, Config{Library: path, Model: model(t, "GGUFs")})
	g.Expect(s.Warm(t.Context())).NotTo(gomega.Succeed())
	g.Expect(os.Rename(standIn(t), path)).To(gomega.Succeed())
	g.Expect(last(t, s.Impl, " mended").Text).To(gomega.Equal("mended"))
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateReady))
}

// Missing files are found without a process. The message says what to do.
func TestMissingFiles(t *testing.T) {
	g := gomega.NewWithT(t)
	for says, c := range map[string]Config{
		"libparakeet.so: no such file": {Library: filepath.Join(t.TempDir(), "libparakeet.so"), Model: model(t, "GGUFs")},
		"/none.gguf: no such file":     {Model: filepath.Join(t.TempDir(), "none.gguf")},
		"is not a GGUF file":           {Model: model(t, "PK")},
		"is not a file":                {Model: t.TempDir()},
	} {
		s := stage(t, c)
		g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateMissing))
		g.Expect(s.Component().Detail).To(gomega.ContainSubstring(says))
		g.Expect(s.Warm(t.Context())).To(gomega.Succeed())
		_, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{})
		g.Expect(err).To(gomega.MatchError(pipeline.ErrUnavailable))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("docs/models.md")))
	}
	_, err := Recogniser(Config{})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("model: no file")))
	_, err = Recogniser(Config{Model: "m", Library: "build/libparakeet.so"})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("want an absolute one, or a name such as")))
}

// A language that the model does not know fails the turn, and says so. The stage stays ready.
func TestALanguageThatTheModelDoesNotKnow(t *testing.T) {
	g := gomega.NewWithT(t)
	s := stage(t, Config{Library: standIn(t), Model: model(t, "GGUFs")})
	g.Expect(s.Warm(t.Context())).To(gomega.Succeed())
	_, err := s.Impl.Open(t.Context(), pipeline.TranscribeConfig{Language: "xx"})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(`model.gguf, language "xx": unknown locale`)))
	g.Expect(s.Component().State).To(gomega.Equal(pipeline.StateReady))
	c, err := s.Impl.(pipeline.ConfigNegotiator).NegotiateConfig(pipeline.TranscribeConfig{Language: "xx", Prompt: "names", Words: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c).To(gomega.Equal(pipeline.TranscribeConfig{Language: "xx", Words: true}), "this model streams, and then it knows the times of words")
}
