package flite

// Speech by flite: speed, plain text, refusals and cancellation.

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// speak returns how many samples an utterance has and how loud it is at its loudest.
func speak(t *testing.T, s *Synthesizer, u pipeline.Utterance) (samples int, peak int16) {
	t.Helper()
	err := s.Synthesize(t.Context(), u, func(pcm []int16) error {
		if len(pcm) > pipeline.MaxChunk {
			t.Errorf("a chunk of %d samples", len(pcm))
		}
		samples += len(pcm)
		for _, v := range pcm {
			peak = max(peak, v)
		}
		return nil
	})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return samples, peak
}

func TestSpeaks(t *testing.T) {
	g := gomega.NewWithT(t)
	s := New(Options{})
	g.Expect(s.Check()).To(gomega.Succeed())
	for _, name := range Voices() {
		samples, peak := speak(t, s, pipeline.Utterance{Text: "Two plus two is four.", Voice: name})
		g.Expect(samples).To(gomega.BeNumerically("~", 1.6*pipeline.OutputRate, 0.8*pipeline.OutputRate), name)
		g.Expect(peak).To(gomega.BeNumerically(">", 3000), name)
	}
}

func TestSpeed(t *testing.T) {
	g := gomega.NewWithT(t)
	s := New(Options{})
	normal, _ := speak(t, s, pipeline.Utterance{Text: "One, two, three, four, five, six.", Speed: 1})
	fast, _ := speak(t, s, pipeline.Utterance{Text: "One, two, three, four, five, six.", Speed: 1.5})
	g.Expect(float64(normal) / float64(fast)).To(gomega.BeNumerically("~", 1.5, 0.15))
}

// A text is never an option of the program, nor read by a shell.
func TestTextIsOnlyText(t *testing.T) {
	g := gomega.NewWithT(t)
	s := New(Options{})
	victim := filepath.Join(t.TempDir(), "victim")
	for _, text := range []string{"-o " + victim, "--help", "$(touch " + victim + ")", "; touch " + victim, "-lv", "a\x00b\x1b[31m c\xff", "**bold** and `code`", "Grüße, 你好 two"} {
		samples, _ := speak(t, s, pipeline.Utterance{Text: text})
		g.Expect(samples).To(gomega.BeNumerically(">", pipeline.OutputRate/4), text)
	}
	g.Expect(victim).NotTo(gomega.BeAnExistingFile())
}

func TestNothingToSay(t *testing.T) {
	samples, _ := speak(t, New(Options{}), pipeline.Utterance{Text: " … !"})
	gomega.NewWithT(t).Expect(samples).To(gomega.BeZero())
}

func TestRefuses(t *testing.T) {
	g := gomega.NewWithT(t)
	drop := func([]int16) error { return nil }
	broken := filepath.Join(t.TempDir(), "flite")
	g.Expect(os.WriteFile(broken, []byte("#!/bin/sh\necho garbage\n"), 0o755)).To(gomega.Succeed())

	err := New(Options{}).Synthesize(t.Context(), pipeline.Utterance{Text: "hello", Voice: "nobody"}, drop)
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	g.Expect(err.Error()).To(gomega.ContainSubstring("kal16"))

	missing := New(Options{Path: filepath.Join(t.TempDir(), "flite")})
	g.Expect(missing.Synthesize(t.Context(), pipeline.Utterance{Text: "hello"}, drop)).To(gomega.MatchError(pipeline.ErrUnavailable))
	g.Expect(missing.Check().Error()).To(gomega.ContainSubstring(Install))

	g.Expect(New(Options{Path: broken}).Synthesize(t.Context(), pipeline.Utterance{Text: "hello"}, drop)).To(gomega.MatchError(wav.ErrFormat))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(New(Options{}).Synthesize(ctx, pipeline.Utterance{Text: "hello"}, drop)).To(gomega.MatchError(context.Canceled))
}

// Everybody on the machine can read the arguments of a process.
func TestTheTextIsNoArgument(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	program, arguments, input := filepath.Join(folder, "flite"), filepath.Join(folder, "arguments"), filepath.Join(folder, "input")
	g.Expect(os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" > "+arguments+"\ncat > "+input+"\n"), 0o755)).To(gomega.Succeed())
	err := New(Options{Path: program}).Synthesize(t.Context(), pipeline.Utterance{Text: "confidential"}, func([]int16) error { return nil })
	g.Expect(err).To(gomega.MatchError(wav.ErrFormat))
	g.Expect(os.ReadFile(arguments)).NotTo(gomega.ContainSubstring("confidential"))
	g.Expect(os.ReadFile(input)).To(gomega.ContainSubstring("confidential"))
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"**Note:** it is\nlate": "Note: it is late", "3 * 4": "3 times 4", "`x`\t# y": "x y", "* one": "one", "a_b": "a_b", "\x00": "", "-5": "-5",
	} {
		gomega.NewWithT(t).Expect(plain(text)).To(gomega.Equal(want))
	}
}

// A program that does not end is ended with the call, and with the synthesizer.
func TestCancelEndsTheProgram(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "flite")
	gomega.NewWithT(t).Expect(os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 600\n"), 0o755)).To(gomega.Succeed())
	for name, end := range map[string]func(s *Synthesizer, cancel func()){
		"cancel": func(_ *Synthesizer, cancel func()) { cancel() },
		"close":  func(s *Synthesizer, _ func()) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := New(Options{Path: slow})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				ended <- s.Synthesize(ctx, pipeline.Utterance{Text: "hello"}, func([]int16) error { return nil })
			}()
			g.Consistently(ended, "50ms").ShouldNot(gomega.Receive())
			end(s, cancel)
			g.Eventually(ended, "10s").Should(gomega.Receive(gomega.MatchError(context.Canceled)))
		})
	}
}

// BenchmarkClause is the time from a clause to its first audio, which is the time to all of it, beside starting a program that does nothing.
func BenchmarkClause(b *testing.B) {
	s := New(Options{})
	b.Run("flite", func(b *testing.B) {
		for b.Loop() {
			if err := s.Synthesize(b.Context(), pipeline.Utterance{Text: "Two plus two is four."}, func([]int16) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("reference-program-start", func(b *testing.B) {
		for b.Loop() {
			if _, err := (&Synthesizer{path: "/bin/true"}).run(b.Context(), "slt", pipeline.Utterance{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
