package e2e

// The terminal client `antiphon talk`.

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// terminal is a run of `antiphon talk`.
type terminal struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

// buildProgram builds the program antiphon, once for each test.
func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "antiphon")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/antiphon")
	build.Dir = ".." // the program belongs to the module of the server
	out, err := build.CombinedOutput()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	return program
}

func newTerminal(t *testing.T, program, input string, args ...string) *terminal {
	t.Helper()
	c := &terminal{cmd: exec.CommandContext(t.Context(), program, append([]string{"talk"}, args...)...)}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = strings.NewReader(input), &c.out, &c.err
	return c
}

// spoken writes a WAV file and returns its path. A string in parts becomes tones that say it, a time.Duration becomes silence.
func spoken(t *testing.T, parts ...any) string {
	t.Helper()
	g := gomega.NewWithT(t)
	var pcm []int16
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			pcm = append(pcm, tones(p)...)
		case time.Duration:
			pcm = append(pcm, make([]int16, int(p.Seconds()*native.Rate))...)
		}
	}
	file := filepath.Join(t.TempDir(), "said.wav")
	f, err := os.Create(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(native.WriteWAV(f, pcm)).To(gomega.Succeed())
	g.Expect(f.Close()).To(gomega.Succeed())
	return file
}

// TestTerminal drives the terminal client with typed text and with WAV files.
func TestTerminal(t *testing.T) {
	t.Parallel()
	program := buildProgram(t)
	for name, flags := range map[string][]string{"webrtc": {"--text"}, "websocket": {"--text", "--websocket"}} {
		t.Run("piped text is answered, over "+name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			c := newTerminal(t, program, "one\ntwo\n", append(flags, open(t, nil, nil).url)...)
			g.Expect(c.cmd.Run()).To(gomega.Succeed(), c.err.String)
			g.Expect(c.out.String()).To(gomega.Equal("You said: one\nYou said: two\n"))
		})
	}
	for name, flags := range map[string][]string{"webrtc": nil, "websocket": {"--websocket"}} {
		t.Run("speech in a file is answered in a file, over "+name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			heard := filepath.Join(t.TempDir(), "heard.wav")
			file := spoken(t, 500*time.Millisecond, "hello", time.Second)
			c := newTerminal(t, program, "", append(flags, "--microphone", file, "--speaker", heard, open(t, nil, nil).url)...)
			g.Expect(c.cmd.Run()).To(gomega.Succeed(), c.err.String)
			g.Expect(c.out.String()).To(gomega.Equal("You said: hello\n"))
			g.Expect(c.err.String()).To(gomega.ContainSubstring("you: hello"))
			f, err := os.Open(heard)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { _ = f.Close() }()
			pcm, err := native.ReadWAV(f)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(len(pcm)).To(gomega.BeNumerically(">", native.Rate/2), "the agent was heard")
		})
		t.Run("speech over the agent interrupts it, over "+name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			h := open(t, nil, nil)
			file := spoken(t, 500*time.Millisecond, "say 60 words", 4*time.Second, "stop, I know", time.Second)
			c := newTerminal(t, program, "", append(flags, "--microphone", file, "--speaker", "none", h.url)...)
			g.Expect(c.cmd.Run()).To(gomega.Succeed(), c.err.String)
			lines := strings.Split(strings.TrimSpace(c.out.String()), "\n")
			g.Expect(lines).To(gomega.HaveLen(2))
			g.Expect(lines[0]).To(gomega.HaveSuffix(" ..."))
			g.Expect(lines[1]).To(gomega.Equal("You said: stop, I know"))
			g.Expect(strings.Join(h.record.All(), "\n")).To(gomega.ContainSubstring("antiphon.barge_in.candidate"), "it was predicted")
		})
	}
	t.Run("a server that is not there is an error that says what to do", func(t *testing.T) {
		t.Parallel()
		g := gomega.NewWithT(t)
		c := newTerminal(t, program, "", "--text", "http://127.0.0.1:1")
		g.Expect(c.cmd.Run()).NotTo(gomega.Succeed())
		g.Expect(c.err.String()).To(gomega.ContainSubstring("the server is gone: check that it runs"))
	})
	t.Run("an interrupt ends the call", func(t *testing.T) {
		t.Parallel()
		g := gomega.NewWithT(t)
		h := open(t, nil, nil)
		c := newTerminal(t, program, "", "--microphone", spoken(t, "say 60 words", 30*time.Second), "--speaker", "none", h.url)
		var said rig.Lines
		c.cmd.Stderr = &said
		g.Expect(c.cmd.Start()).To(gomega.Succeed())
		g.Eventually(said.All).WithTimeout(20 * time.Second).Should(gomega.ContainElement("you: say 60 words"))
		g.Expect(c.cmd.Process.Signal(syscall.SIGINT)).To(gomega.Succeed())
		g.Expect(c.cmd.Wait()).To(gomega.Succeed(), c.err.String)
	})
}
