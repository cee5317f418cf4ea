package rpc

// A back end in Go over gRPC, and back ends that fail.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc/pb"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counter is an engine that hears the length of the audio.
type counter struct{ batch bool }

func (c counter) Open(_ context.Context, cfg backend.Config) (backend.Stream, error) {
	if c.batch && cfg.Live {
		return nil, fmt.Errorf("%w: no live results", backend.ErrUnimplemented)
	}
	return &count{config: cfg}, nil
}

func (c counter) Info() backend.Info {
	return backend.Info{Name: "counter", Detail: "1.0", Live: !c.batch, Probs: true}
}
func (c counter) Close() error { return nil }

type count struct {
	config  backend.Config
	samples int
}

func (c *count) Feed(_ context.Context, pcm []float32) (u backend.Update, err error) {
	for _, v := range pcm {
		if v != v {
			return u, errors.New("a sample is no number")
		}
	}
	c.samples += len(pcm)
	u.Partial = strings.TrimSpace(strings.Repeat("second ", c.samples/pipeline.InputRate))
	if c.samples == 2*pipeline.InputRate {
		u.Boundary = backend.EndOfUtterance
	}
	return u, nil
}

func (c *count) Finish(context.Context) (backend.Result, error) {
	return backend.Result{
		Text:     fmt.Sprintf("%.1f seconds %s %s %s<EOU>", float64(c.samples)/pipeline.InputRate, c.config.Model, c.config.Language, c.config.Prompt),
		Boundary: backend.EndOfBackchannel, Words: []backend.Word{{Text: "a", StartMS: 1, EndMS: 2, Prob: 0.5, Speaker: "b"}},
	}, nil
}
func (c *count) Close() error { return nil }

// listen returns a listener, which ends with the test.
func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// serve serves an engine on l until the test ends, or stop is called.
func serve(t *testing.T, l net.Listener, e backend.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := Serve(ctx, l, e, 1); err != nil {
			t.Error(err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	t.Cleanup(stop)
	return stop
}

// transcriber returns a Transcriber of a back end.
func transcriber(t *testing.T, o Options) *Transcriber {
	t.Helper()
	tr, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

func TestABackEnd(t *testing.T) {
	for name, address := range map[string][2]string{"tcp": {"127.0.0.1:0", "grpc://"}, "unix": {filepath.Join(t.TempDir(), "s"), "unix://"}} {
		for _, live := range []bool{true, false} {
			t.Run(fmt.Sprint(name, live), func(t *testing.T) {
				g := gomega.NewWithT(t)
				l := listen(t, name, address[0])
				serve(t, l, counter{})
				tr := transcriber(t, Options{URL: address[1] + l.Addr().String(), Model: "m", Language: "de"})
				g.Expect(tr.Warm(t.Context())).To(gomega.Succeed())
				pcm := pipetest.Silence(3)
				pcm[7] = float32(math.NaN())
				all := pipetest.Hear(t, tr, pipeline.TranscribeConfig{Live: live, Model: "x", Prompt: "p"}, pcm)
				end := pipetest.Last(all)
				g.Expect(end.Err).NotTo(gomega.HaveOccurred())
				g.Expect(end).To(gomega.Equal(pipeline.TranscriptResult{
					Final: true, Text: "3.0 seconds m de p", Partial: "3.0 seconds m de p", Backchannel: true,
					Words: []pipeline.Word{{Text: "a", Start: time.Millisecond, End: 2 * time.Millisecond, Prob: 0.5, Speaker: "b"}},
				}))
				eou := 0
				for _, r := range all[:len(all)-1] {
					g.Expect("second second second").To(gomega.HavePrefix(r.Partial))
					if r.EOU {
						eou++
					}
				}
				if live {
					g.Expect(eou).To(gomega.Equal(1))
				} else {
					g.Expect(all).To(gomega.HaveLen(1))
				}
				g.Expect(tr.Scores()).To(gomega.BeTrue())
				g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady))
				g.Expect(tr.Component().Detail).To(gomega.HavePrefix("counter 1.0 at "))
			})
		}
	}
}

// TestABackEndWithoutLiveResults: the session learns it once, by an error that it knows, and whole utterances work.
func TestABackEndWithoutLiveResults(t *testing.T) {
	g := gomega.NewWithT(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, l, counter{batch: true})
	tr := transcriber(t, Options{URL: "grpc://" + l.Addr().String()})
	_, err := tr.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no live results")))
	g.Expect(pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{}, pipetest.Silence(1))).Text).To(gomega.HavePrefix("1.0 seconds"))
	g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady))
}

func TestSixMinutes(t *testing.T) {
	g := gomega.NewWithT(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, l, counter{})
	g.Expect(pipetest.Last(pipetest.Hear(t, transcriber(t, Options{URL: "grpc://" + l.Addr().String()}), pipeline.TranscribeConfig{}, pipetest.Silence(360))).Text).To(gomega.HavePrefix("360.0 seconds"))
}

// dummy is a back end that does what a test says.
type dummy struct {
	pb.UnimplementedBackendServer
	calls atomic.Int32
	live  func(number int32, call grpc.BidiStreamingServer[pb.TranscribeRequest, pb.TranscribeResponse]) error
	whole func() (*pb.Result, error)
}

func (d *dummy) Transcribe(call grpc.BidiStreamingServer[pb.TranscribeRequest, pb.TranscribeResponse]) error {
	return d.live(d.calls.Add(1), call)
}

func (d *dummy) Recognise(context.Context, *pb.RecogniseRequest) (*pb.Result, error) {
	return d.whole()
}

// start serves a dummy and returns its address.
func start(t *testing.T, d *dummy) string {
	t.Helper()
	l := listen(t, "tcp", "127.0.0.1:0")
	s := grpc.NewServer()
	pb.RegisterBackendServer(s, d)
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); running.Wait() })
	return "grpc://" + l.Addr().String()
}

type bidi = grpc.BidiStreamingServer[pb.TranscribeRequest, pb.TranscribeResponse]

func ready(c bidi) {
	_ = c.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Ready{Ready: &pb.Ready{}}})
}

func say(c bidi, u *pb.Update) {
	_ = c.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Update{Update: u}})
}

// drain reads the audio to its end and returns its length in seconds.
func drain(c bidi) float64 {
	n := 0
	for {
		r, err := c.Recv()
		if err != nil {
			return float64(n) / pipeline.InputRate
		}
		n += len(r.GetAudio().GetPcm())
	}
}

// TestMarksNeverReachTheText: not whole, and not in pieces.
func TestMarksNeverReachTheText(t *testing.T) {
	g := gomega.NewWithT(t)
	shown := make(chan struct{})
	url := start(t, &dummy{live: func(_ int32, c bidi) error {
		ready(c)
		for _, piece := range []string{"uh-huh<E", "OB", ">", " yes <", "EOU>"} {
			say(c, &pb.Update{Delta: piece})
			<-shown
		}
		drain(c)
		return c.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Result{Result: &pb.Result{Text: "uh-huh<EOB> yes<EOU>", Words: []*pb.Word{{Text: "<EOU>"}, {Text: "yes<EOU>"}}}}})
	}})
	u, err := transcriber(t, Options{URL: url}).Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	g.Expect(u.Write(pipetest.Silence(0.1))).To(gomega.Succeed())
	for _, want := range []pipeline.TranscriptResult{
		{Partial: "uh-huh"}, {Partial: "uh-huh"}, {Partial: "uh-huh", Backchannel: true}, {Partial: "uh-huh yes", Backchannel: true}, {Partial: "uh-huh yes", EOU: true},
	} {
		g.Expect(<-u.Results()).To(gomega.Equal(want))
		shown <- struct{}{}
	}
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	g.Expect(<-u.Results()).To(gomega.Equal(pipeline.TranscriptResult{Final: true, Text: "uh-huh yes", Partial: "uh-huh yes", EOU: true, Words: []pipeline.Word{{Text: "yes"}}}))
}

// TestALostCallIsReplaced: the second call gets all audio.
func TestALostCallIsReplaced(t *testing.T) {
	g := gomega.NewWithT(t)
	url := start(t, &dummy{live: func(number int32, c bidi) error {
		ready(c)
		if number == 1 {
			_, _ = c.Recv()
			_, _ = c.Recv()
			return status.Error(codes.Unavailable, "restarting")
		}
		return c.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Result{Result: &pb.Result{Text: fmt.Sprint(drain(c))}}})
	}})
	end := pipetest.Last(pipetest.Hear(t, transcriber(t, Options{URL: url}), pipeline.TranscribeConfig{Live: true}, pipetest.Silence(3)))
	g.Expect(end.Err).NotTo(gomega.HaveOccurred())
	g.Expect(end.Text).To(gomega.Equal("3"))
}

// TestABackEndComesBack: the next utterance finds a back end that was started again.
func TestABackEndComesBack(t *testing.T) {
	g := gomega.NewWithT(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	stop := serve(t, l, counter{})
	tr := transcriber(t, Options{URL: "grpc://" + l.Addr().String()})
	c := pipeline.TranscribeConfig{Live: true}
	g.Expect(pipetest.Last(pipetest.Hear(t, tr, c, pipetest.Silence(1))).Text).To(gomega.HavePrefix("1.0 seconds"))
	stop()
	err := pipetest.Last(pipetest.Hear(t, tr, c, pipetest.Silence(1))).Err
	g.Expect(err).To(gomega.MatchError(backend.ErrLost))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("transcriber: grpc://" + l.Addr().String() + " lost the connection: ")))
	g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateFailed))
	serve(t, listen(t, "tcp", l.Addr().String()), counter{})
	g.Eventually(func() string { return pipetest.Last(pipetest.Hear(t, tr, c, pipetest.Silence(1))).Text }, 10*time.Second).Should(gomega.HavePrefix("1.0 seconds"))
	g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateReady))
}

func TestBadBackEnds(t *testing.T) {
	long := strings.Repeat("a", maxText+1)
	for name, test := range map[string]struct {
		live func(number int32, c bidi) error
		want string
	}{
		"never ready":  {func(_ int32, c bidi) error { <-c.Context().Done(); return nil }, "did not answer in time"},
		"not ready":    {func(_ int32, c bidi) error { say(c, &pb.Update{}); drain(c); return nil }, "answered FailedPrecondition: the first message is not ready"},
		"ends at once": {func(int32, bidi) error { return nil }, "lost the connection: the back end ended the utterance at its begin"},
		"ends early":   {func(_ int32, c bidi) error { ready(c); return nil }, "lost the connection: the back end ended the utterance without a result"},
		"no result":    {func(_ int32, c bidi) error { ready(c); drain(c); <-c.Context().Done(); return nil }, "no result within 550ms after the end of the audio"},
		"an error": {func(_ int32, c bidi) error {
			ready(c)
			drain(c)
			return status.Error(codes.Internal, "out of \x1b[31mmemory\nline 2")
		}, "answered Internal: out of [31mmemory"},
		"busy":           {func(int32, bidi) error { return status.Error(codes.ResourceExhausted, "full") }, "busy: grpc://"},
		"ready twice":    {func(_ int32, c bidi) error { ready(c); ready(c); drain(c); return nil }, "answered FailedPrecondition: a message that is neither"},
		"a book":         {func(_ int32, c bidi) error { ready(c); say(c, &pb.Update{Delta: long}); drain(c); return nil }, "answered OutOfRange: more than 65536 bytes"},
		"takes no audio": {func(_ int32, c bidi) error { ready(c); <-c.Context().Done(); return nil }, ""},
		"a book at the end": {func(_ int32, c bidi) error {
			ready(c)
			drain(c)
			return c.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Result{Result: &pb.Result{Text: long}}})
		}, "answered OutOfRange: more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			url := start(t, &dummy{live: test.live})
			o := Options{URL: url}
			switch name { // the other back ends answer, on a busy machine after a while
			case "never ready":
				o.Open = 300 * time.Millisecond
			case "no result", "takes no audio":
				o.Hang = 300 * time.Millisecond
			}
			tr := transcriber(t, o)
			err := pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{Live: true}, pipetest.Silence(1))).Err
			var stage *pipeline.StageError
			g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "%v", err)
			g.Expect(err.Error()).To(gomega.HavePrefix("transcriber: "))
			g.Expect(err.Error()).To(gomega.ContainSubstring(url))
			g.Expect(err.Error()).To(gomega.ContainSubstring(test.want))
			g.Expect(tr.Component().State).To(gomega.Equal(pipeline.StateFailed))
		})
	}
}

// TestABadServer: what a back end in Go answers to a server that does not keep to the protocol.
func TestABadServer(t *testing.T) {
	g := gomega.NewWithT(t)
	l := listen(t, "tcp", "127.0.0.1:0")
	serve(t, l, counter{})
	tr := transcriber(t, Options{URL: "grpc://" + l.Addr().String()})
	back := tr.engine.back
	audio := &pb.TranscribeRequest{Request: &pb.TranscribeRequest_Audio{Audio: &pb.Audio{Pcm: []float32{0}}}}
	config := &pb.TranscribeRequest{Request: &pb.TranscribeRequest_Config{Config: &pb.Config{}}}
	for want, requests := range map[string][]*pb.TranscribeRequest{
		"want the configuration first": {audio}, "want audio after the configuration": {config, config}, "want audio": {config, {}},
	} {
		call, err := back.Transcribe(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, r := range requests {
			g.Expect(call.Send(r)).To(gomega.Succeed())
		}
		for err == nil {
			_, err = call.Recv()
		}
		g.Expect(err).NotTo(gomega.MatchError(io.EOF))
		g.Expect(status.Convert(err).Message()).To(gomega.ContainSubstring(want))
	}
	g.Expect(pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{Live: true}, pipetest.Silence(1))).Text).To(gomega.HavePrefix("1.0 seconds"), "the back end works on")
}

func TestWrongAddresses(t *testing.T) {
	for url, want := range map[string]string{
		"": "is no address of a back end", "http://a:1": `"http://a:1" is no address`, "grpc://a": "is no address", "grpc://me:secret@a:1": "has more than host and port",
		"unix://a/b": "is no address", "\x00": "cannot be read",
	} {
		_, err := New(Options{URL: url})
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.And(gomega.HavePrefix("url: "), gomega.ContainSubstring(want), gomega.Not(gomega.ContainSubstring("secret")))))
	}
}
