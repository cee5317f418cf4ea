package backend

// Engines in processes: results, crashes, hangs, limits and the end of the pool.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// asEngine is the environment variable that makes the test binary a back-end process: an engine that counts samples, and fails as the
// prompt says.
const asEngine = "ANTIPHON_TEST_ENGINE"

func TestMain(m *testing.M) {
	switch os.Getenv(asEngine) {
	case "":
		goleak.VerifyTestMain(m)
	case "mute":
		hang() // never greets
	case "dies":
		os.Exit(3)
	case "speaker":
		if err := ServeSpeakerStdio(context.Background(), speaker{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		if err := ServeStdio(context.Background(), counter{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// hang blocks for as long as any test runs. A blocked process with a timer is no deadlock, which the Go runtime would report.
func hang() { <-time.NewTimer(time.Hour).C }

type counter struct{}

func (counter) Info() Info   { return Info{Name: "counter", Live: true} }
func (counter) Close() error { return nil }
func (counter) Open(_ context.Context, c Config) (Stream, error) {
	if c.Language == "xx" {
		return nil, ErrUnimplemented
	}
	if name, marker, _ := strings.Cut(c.Prompt, " "); name == "slow-open" { // until the test removes the marker
		_ = os.WriteFile(marker, nil, 0o600)
		for there := true; there; {
			<-time.NewTimer(5 * time.Millisecond).C
			_, err := os.Stat(marker)
			there = err == nil
		}
	}
	return &counting{prompt: c.Prompt}, nil
}

type counting struct {
	prompt string
	n      int
}

func (c *counting) Feed(_ context.Context, pcm []float32) (Update, error) {
	c.n += len(pcm)
	name, marker, _ := strings.Cut(c.prompt, " ")
	switch {
	case name == "crash" && c.n > pipeline.InputRate/2:
		os.Exit(7)
	case name == "crash-once" && c.n > pipeline.InputRate/2:
		if _, err := os.Stat(marker); err != nil {
			_ = os.WriteFile(marker, nil, 0o600)
			os.Exit(7)
		}
	case name == "deaf":
		hang()
	case name == "chatty":
		return Update{Partial: strings.Repeat(fmt.Sprint(c.n, " "), 1000)}, nil
	case name == "garbage":
		fmt.Print("this is not a frame at all, it is a complaint")
	}
	return Update{Partial: fmt.Sprint(c.n)}, nil
}

func (c *counting) Finish(context.Context) (Result, error) {
	switch c.prompt {
	case "hang":
		hang()
	case "fail":
		return Result{}, errors.New("no words here")
	}
	return Result{Text: fmt.Sprintf("%d samples", c.n), Boundary: EndOfUtterance}, nil
}

func (c *counting) Close() error { return nil }

func newPool(t *testing.T, kind string, change func(*Options)) *Pool {
	t.Helper()
	o := Options{Hang: 20 * time.Second, Command: func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asEngine+"="+kind)
		return cmd
	}}
	if change != nil {
		change(&o)
	}
	p := NewPool(o)
	t.Cleanup(func() { gomega.NewWithT(t).Expect(p.Close()).To(gomega.Succeed()) })
	return p
}

// say runs one utterance of a second and returns its last result.
func say(t *testing.T, p *Pool, prompt string) (last pipeline.TranscriptResult) {
	t.Helper()
	g := gomega.NewWithT(t)
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{Live: true, Prompt: prompt})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for range 100 {
		g.Expect(u.Write(make([]float32, pipeline.InputRate/100))).To(gomega.Succeed())
	}
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	for r := range u.Results() {
		last = r
	}
	g.Expect(u.Close()).To(gomega.Succeed())
	return last
}

func TestUtterance(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(p.Info()).To(gomega.Equal(Info{Name: "counter", Live: true}))
	for range 3 {
		last := say(t, p, "")
		g.Expect(last).To(gomega.Equal(pipeline.TranscriptResult{Final: true, Text: "16000 samples", Partial: "16000 samples", EOU: true}))
	}
	g.Expect(p.idle).To(gomega.HaveLen(1), "one process did it all")
}

func TestLiveResults(t *testing.T) {
	g := gomega.NewWithT(t)
	u, err := newPool(t, "counter", nil).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(u.Write(make([]float32, slice))).To(gomega.Succeed())
	g.Expect(<-u.Results()).To(gomega.Equal(pipeline.TranscriptResult{Partial: "1600"}))
	g.Expect(u.Write(make([]float32, slice))).To(gomega.Succeed())
	g.Expect(<-u.Results()).To(gomega.Equal(pipeline.TranscriptResult{Partial: "3200"}))
	g.Expect(u.Close()).To(gomega.Succeed())
}

// After a crash a new process gets the whole utterance again.
func TestCrashIsTriedAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	last := say(t, p, "crash-once "+filepath.Join(t.TempDir(), "crashed"))
	g.Expect(last.Text).To(gomega.Equal("16000 samples"))
}

func TestMisbehaviour(t *testing.T) {
	for prompt, want := range map[string]error{"crash": ErrCrashed, "hang": ErrHung, "garbage": ErrFrameTooLarge, "fail": errEngine} {
		t.Run(prompt, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p := newPool(t, "counter", hangs(want, 3*time.Second))
			last := say(t, p, prompt)
			g.Expect(last.Err).To(gomega.MatchError(want))
			var stage *pipeline.StageError
			g.Expect(errors.As(last.Err, &stage)).To(gomega.BeTrue())
			last = say(t, p, "")
			g.Expect(last.Text).To(gomega.Equal("16000 samples"), "the next utterance is fine")
		})
	}
}

// hangs shortens the wait for progress in cases that expect no progress. In other cases a slow machine would exceed a short wait.
func hangs(want error, after time.Duration) func(*Options) {
	return func(o *Options) {
		if errors.Is(want, ErrHung) {
			o.Hang = after
		}
	}
}

// A process that loads a model for the times of words has as long as one that starts.
func TestPatienceWhileAnUtteranceOpens(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", func(o *Options) { o.Hang, o.Start = 10*time.Second, 30*time.Second })
	u := &utterance{pool: p, proc: &process{}}
	g.Expect(u.opening()).To(gomega.Equal(p.o.Hang))
	u.config.Words = true
	g.Expect(u.opening()).To(gomega.Equal(p.o.Start))
	u.proc.timed = true
	g.Expect(u.opening()).To(gomega.Equal(p.o.Hang))
}

// A process sends more results than a pipe holds while it is fed. It must not dead-lock with a reader that waits for it.
func TestChattyEngine(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{Live: true, Prompt: "chatty"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(u.Write(make([]float32, maxQueued))).To(gomega.Succeed())
	g.Expect(u.Write(make([]float32, maxQueued))).To(gomega.Or(gomega.Succeed(), gomega.MatchError(pipeline.ErrOverrun)))
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	var last pipeline.TranscriptResult
	for last = range u.Results() {
		g.Expect(last.Err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(last.Final).To(gomega.BeTrue())
	g.Expect(u.Close()).To(gomega.Succeed())
}

// A process that stops reading is noticed, and loses its own utterance only.
func TestEngineThatStopsReading(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", hangs(ErrHung, time.Second))
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{Prompt: "deaf"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(u.Write(make([]float32, 10*pipeline.InputRate))).To(gomega.Succeed())
	last := <-u.Results()
	g.Expect(last.Err).To(gomega.MatchError(ErrHung))
	g.Expect(u.Write(make([]float32, 1))).To(gomega.MatchError(pipeline.ErrClosed))
	g.Expect(u.Close()).To(gomega.Succeed())
}

// Neither Close of an utterance nor Close of the pool waits for a process that does not read.
func TestCloseWhileBlocked(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", func(o *Options) { o.Hang = time.Hour })
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{Prompt: "deaf"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(u.Write(make([]float32, 10*pipeline.InputRate))).To(gomega.Succeed())
	g.Expect(u.Close()).To(gomega.Succeed())
	g.Expect(p.idle).To(gomega.BeEmpty(), "the process was killed")
	g.Expect(p.Close()).To(gomega.Succeed())
	g.Expect(p.Close()).To(gomega.Succeed())
}

// Close of the pool ends an utterance that is open, and one whose process is still starting.
func TestCloseOfThePool(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Close()).To(gomega.Succeed())
	last := <-u.Results()
	g.Expect(last.Err).To(gomega.MatchError(context.Canceled))
	g.Expect(u.Close()).To(gomega.Succeed())

	mute := newPool(t, "mute", func(o *Options) { o.Start = time.Hour })
	warm := make(chan error)
	go func() { warm <- mute.Warm(context.Background()) }()
	g.Eventually(func() int64 { // it holds a place
		if mute.free.TryAcquire(4) {
			mute.free.Release(4)
			return 0
		}
		return 1
	}).Should(gomega.Equal(int64(1)))
	g.Expect(mute.Close()).To(gomega.Succeed())
	g.Expect(<-warm).To(gomega.MatchError(context.Canceled))
}

// A process ends between two utterances: no utterance is lost.
func TestDeathBetweenUtterances(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	g.Expect(p.idle).To(gomega.HaveLen(1))
	p.idle[0].kill()
	last := say(t, p, "")
	g.Expect(last.Text).To(gomega.Equal("16000 samples"))
}

func TestNoEngine(t *testing.T) {
	for kind, want := range map[string]error{"mute": ErrHung, "dies": ErrCrashed} {
		t.Run(kind, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p := newPool(t, kind, func(o *Options) {
				if kind == "mute" {
					o.Start = 300 * time.Millisecond
				}
			})
			_, err := p.Open(t.Context(), pipeline.TranscribeConfig{})
			g.Expect(err).To(gomega.MatchError(want))
			g.Expect(p.Warm(t.Context())).To(gomega.MatchError(want))
		})
	}
}

func TestRefusals(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", func(o *Options) { o.Max, o.Busy = 1, 50*time.Millisecond })
	_, err := p.Open(t.Context(), pipeline.TranscribeConfig{Live: true, Language: "xx"})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = p.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrBusy))
	g.Expect(u.Close()).To(gomega.Succeed())
	last := say(t, p, "")
	g.Expect(last.Text).To(gomega.Equal("16000 samples"))
	g.Expect(p.Close()).To(gomega.Succeed())
	_, err = p.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrClosed))
}

// After an abandoned utterance its process serves the next one.
func TestAbandon(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", nil)
	u, err := p.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(u.Write(make([]float32, 1600))).To(gomega.Succeed())
	g.Expect(u.Close()).To(gomega.Succeed())
	g.Expect(u.Write(make([]float32, 1600))).To(gomega.MatchError(pipeline.ErrClosed))
	g.Expect(p.idle).To(gomega.HaveLen(1))
	last := say(t, p, "")
	g.Expect(last.Text).To(gomega.Equal("16000 samples"))
}

// A caller that goes away while the process opens its utterance does not cost the process.
func TestCancelledOpen(t *testing.T) {
	g := gomega.NewWithT(t)
	p := newPool(t, "counter", func(o *Options) { o.Max = 1 })
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	proc := p.idle[0]
	marker := filepath.Join(t.TempDir(), "opening")
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := p.Open(ctx, pipeline.TranscribeConfig{Live: true, Prompt: "slow-open " + marker})
		gone <- err
	}()
	g.Eventually(marker, "20s").Should(gomega.BeAnExistingFile())
	cancel()
	g.Expect(os.Remove(marker)).To(gomega.Succeed())
	g.Expect(<-gone).To(gomega.MatchError(context.Canceled))
	g.Expect(p.idle).To(gomega.ConsistOf(gomega.BeIdenticalTo(proc)))
	g.Expect(say(t, p, "").Text).To(gomega.Equal("16000 samples"))
}

func TestServe(t *testing.T) {
	g := gomega.NewWithT(t)
	conn, theirs := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), theirs, counter{}) }()
	expect := func(want kind) []byte {
		k, body, err := readFrame(conn)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(k).To(gomega.Equal(want))
		return body
	}
	expect(kindHello)
	g.Expect(writeJSON(conn, kindConfig, Config{})).To(gomega.Succeed())
	expect(kindReady)
	g.Expect(writeAudio(conn, kindAudio, make([]float32, 4000))).To(gomega.Succeed())
	g.Expect(writeFrame(conn, kindEnd, nil)).To(gomega.Succeed())
	g.Expect(string(expect(kindFinal))).To(gomega.MatchJSON(`{"text":"4000 samples","eou":true}`))
	g.Expect(writeFrame(conn, 'q', nil)).To(gomega.Succeed())
	g.Expect(<-served).To(gomega.MatchError(ErrProtocol), "what the protocol does not allow ends the connection")
	g.Expect(conn.Close()).To(gomega.Succeed())
}

func FuzzReadFrame(f *testing.F) {
	var buf bytes.Buffer
	_ = writeAudio(&buf, kindAudio, []float32{0.5, -0.5})
	f.Add(buf.Bytes())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'A'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, text []byte) {
		r := bytes.NewReader(text)
		for {
			k, body, err := readFrame(r)
			if err != nil {
				return
			}
			if len(body)+1 > MaxFrame {
				t.Fatal("a frame above the limit")
			}
			var again bytes.Buffer
			if err := writeFrame(&again, k, body); err != nil {
				t.Fatal(err)
			}
			if pcm, err := samplesOf(body); err == nil && len(pcm)*4 != len(body) {
				t.Fatal("samples were lost")
			}
		}
	})
}
