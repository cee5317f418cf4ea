//go:build services

package services

// One service speaks, and another one understands it.

import (
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

const sentence = "The weather is nice today. We will go to the park in the afternoon."

// service starts a program of .cache/services that ends with the test, and returns the host and port on which it listens. args returns its
// arguments for them.
func service(t *testing.T, program string, args func(host, port string) []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t), "bin", program), args(host, port)...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &log, &log, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s says:\n%s", program, &log)
		}
	})
	gomega.NewWithT(t).Eventually(func() error {
		c, err := net.Dial("tcp", at)
		if err == nil {
			err = c.Close()
		}
		return err
	}, time.Minute, 100*time.Millisecond).Should(gomega.Succeed(), "%s does not listen", program)
	return at
}

// wyoming starts a Wyoming service and returns its address.
func wyoming(t *testing.T, program string, args ...string) string {
	t.Helper()
	return "tcp://" + service(t, program, func(host, port string) []string {
		return append([]string{"--local-files-only", "--uri", "tcp://" + net.JoinHostPort(host, port)}, args...)
	})
}

// installed returns the folder with the programs and their data.
func installed(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../../.cache/services")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// open returns the pipeline of a file.
func open(t *testing.T, src string) *pipeline.Pipeline {
	t.Helper()
	f, err := config.Parse("antiphon.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Pipeline(t.Context(), config.Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if err := p.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// piper starts wyoming-piper and returns its address.
func piper(t *testing.T) string {
	t.Helper()
	return wyoming(t, "wyoming-piper", "--voice", "en_US-joe-medium", "--data-dir", filepath.Join(installed(t), "voices"))
}

// understood checks that a recogniser understands the sentence, whole and live.
func understood(t *testing.T, r pipeline.Transcriber, pcm []float32) {
	t.Helper()
	plain := strings.NewReplacer(",", "", ".", "")
	for _, live := range []bool{false, true} {
		begin := time.Now()
		partials, end := recognise(t, r, pcm, live)
		t.Logf("live %v, all audio at once: %d partial results, text after %v", live, partials, time.Since(begin))
		g := gomega.NewWithT(t)
		g.Expect(end.Err).NotTo(gomega.HaveOccurred())
		g.Expect(strings.ToLower(plain.Replace(end.Text))).To(gomega.Equal(strings.ToLower(plain.Replace(sentence))))
	}
}

func TestWyomingServices(t *testing.T) {
	g := gomega.NewWithT(t)
	stt := wyoming(t, "wyoming-faster-whisper", "--model", filepath.Join(installed(t), "whisper"), "--data-dir", installed(t), "--language", "en",
		"--stt-library", "faster-whisper", "--compute-type", "int8", "--cpu-threads", "2", "--beam-size", "1")
	tts := piper(t)
	p := open(t, "stt: {kind: wyoming, url: '"+stt+"'}\ntts: {kind: wyoming, url: '"+tts+"'}")
	g.Expect(p.Components()[0].Detail).To(gomega.Equal("faster-whisper at " + stt))
	g.Expect(p.Components()[2].Detail).To(gomega.Equal("piper at " + tts))
	g.Expect(p.Synthesizer.(pipeline.VoiceChecker).CheckVoice("no-such-voice")).To(gomega.MatchError(pipeline.ErrUnknownVoice))
	pcm := speak(t, p.Synthesizer, sentence)
	g.Expect(time.Duration(len(pcm)) * time.Second / pipeline.InputRate).To(gomega.BeNumerically("~", 4*time.Second, 2*time.Second))
	understood(t, p.Transcriber, pcm)
}

// TestWhisperOverHTTP: faster-whisper-server has /v1/audio/transcriptions without streaming.
func TestWhisperOverHTTP(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := speak(t, open(t, "tts: {kind: wyoming, url: '"+piper(t)+"'}\nstt: {kind: scripted}").Synthesizer, sentence)
	url := "http://" + service(t, "faster-whisper-server", func(host, port string) []string {
		return []string{filepath.Join(installed(t), "whisper"), "--host", host, "--port", port}
	}) + "/v1"
	for _, format := range []string{"json", "verbose_json"} {
		understood(t, open(t, "stt: {kind: openai, url: '"+url+"', format: "+format+", language: en}").Transcriber, pcm)
	}
	r := open(t, "stt: {kind: openai, url: '"+url+"', format: verbose_json, language: en, no_partials: true}").Transcriber
	_, end := recognise(t, r, make([]float32, 2*pipeline.InputRate), false)
	g.Expect(end.Err).NotTo(gomega.HaveOccurred())
	t.Logf("2 s of silence: %q", end.Text)

	f, err := config.Parse("antiphon.yaml", []byte("stt: {kind: openai, url: '"+url+"/nowhere'}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), config.Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = p.Close() })
	_, end = recognise(t, p.Transcriber, pcm, false)
	g.Expect(end.Err).To(gomega.MatchError(gomega.ContainSubstring("answered 404 Not Found: Not Found (check url and model")))
}

// speak returns a text as speech at pipeline.InputRate.
func speak(t *testing.T, s pipeline.Synthesizer, text string) []float32 {
	t.Helper()
	var pcm []int16
	begin, first := time.Now(), time.Duration(0)
	if err := s.Synthesize(t.Context(), pipeline.Utterance{Text: text}, func(chunk []int16) error {
		if first == 0 {
			first = time.Since(begin)
		}
		pcm = append(pcm, chunk...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("first audio after %v, all after %v", first, time.Since(begin))
	down, err := voice.NewResampler(pipeline.OutputRate, pipeline.InputRate)
	if err != nil {
		t.Fatal(err)
	}
	return down.Flush(down.Append(nil, voice.PCM16ToFloat(nil, pcm)))
}

// recognise returns how many partial results came, and the last result.
func recognise(t *testing.T, r pipeline.Transcriber, pcm []float32, live bool) (partials int, end pipeline.TranscriptResult) {
	t.Helper()
	u, err := r.Open(t.Context(), pipeline.TranscribeConfig{Live: live, Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Write(pcm); err != nil {
		t.Fatal(err)
	}
	if live {
		<-u.Results() // a partial result, before the audio ends
		partials++
	}
	if err := u.CloseInput(); err != nil {
		t.Fatal(err)
	}
	for end = range u.Results() {
		if !end.Final && end.Err == nil {
			partials++
		}
	}
	return partials, end
}
