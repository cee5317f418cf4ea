//go:build linux

package faults

// A recogniser process of the embedded pipeline that stops in the middle of a turn.

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// TestStoppedRecogniser: a recogniser process that stops (SIGSTOP) loses one turn of one caller. The server says so, ends the process, and
// hears the next turn of that caller. Another caller loses no word.
func TestStoppedRecogniser(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	p := start(t, false, "--pipeline", "embedded")
	speech := spoken(t, "what is seven times eight")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var callers [2]*caller
	for i := range callers {
		c, err := newCaller("caller "+strconv.Itoa(i), p.url, "", false, nil, 0)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(c.connect()).To(gomega.Succeed())
		t.Cleanup(func() { _ = c.hangUp() })
		callers[i] = c
	}
	first, other := callers[0], callers[1]

	// The turn takes some seconds, and the process stops soon after its first sound.
	said, err := first.mic.Speak(spoken(t, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(first.await(ctx, "speech_started", func() bool { return first.started > 0 })).To(gomega.Succeed())
	stopped := p.children(g)
	g.Expect(stopped).NotTo(gomega.BeEmpty())
	for _, pid := range stopped {
		g.Expect(syscall.Kill(pid, syscall.SIGSTOP)).To(gomega.Succeed())
	}
	<-said
	g.Expect(first.await(ctx, "a failed transcription", func() bool { return len(first.trouble) > 0 })).To(gomega.Succeed())
	g.Expect(first.trouble[0]).To(gomega.HavePrefix("transcription failed"))

	for _, c := range []*caller{other, first} {
		n := len(c.heard)
		_, err = c.mic.Speak(speech)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(c.await(ctx, "the words", func() bool { return len(c.heard) > n })).To(gomega.Succeed())
		g.Expect(c.heard[n]).To(gomega.ContainSubstring("seven times eight"))
	}
	g.Eventually(func() []int { return p.children(g) }, patience).ShouldNot(gomega.ContainElement(stopped[0]))
	p.goroutines()
}

// spoken returns speech that flite has synthesized, as a native client's microphone takes it.
func spoken(t *testing.T, text string) []int16 {
	t.Helper()
	g := gomega.NewWithT(t)
	file := filepath.Join(t.TempDir(), "speech.wav")
	out, err := exec.CommandContext(t.Context(), "flite", "-voice", "slt", "-t", text, "-o", file).CombinedOutput()
	g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	wav, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	const header, rate = 44, 16_000
	r, err := voice.NewResampler(rate, native.Rate)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	samples := r.Flush(r.Append(nil, voice.PCM16ToFloat(nil, voice.BytesToPCM16(nil, wav[header:]))))
	return voice.FloatToPCM16(nil, samples)
}

// children returns the processes that the program has started and that have not ended.
func (p *program) children(g *gomega.WithT) (pids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // state, parent, ...
		if len(fields) < 2 || fields[0] == "Z" || fields[1] != strconv.Itoa(p.cmd.Process.Pid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		pids = append(pids, pid)
	}
	return pids
}
