package rpc

// The server's side: a back end over gRPC as an engine.

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc/pb"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Defaults of the deadlines of Options.
const (
	DefaultOpen = 5 * time.Second
	DefaultHang = 10 * time.Second
)

// maxText is the longest transcript, in bytes.
const maxText = 64 << 10

// Options configure a Transcriber. URL is required.
type Options struct {
	URL      string        // "grpc://host:port", "grpcs://host:port" with TLS, or "unix:///path"
	Model    string        // it replaces the model that a session names
	Language string        // for sessions that name none
	Open     time.Duration // longest wait until the back end is ready; 0: DefaultOpen
	Hang     time.Duration // longest wait for a result after the end of the audio, and for a write; 0: DefaultHang
}

// Transcriber is a pipeline.Transcriber whose engine is a back end over gRPC. Its methods may be called by several goroutines at a time. The
// caller closes it. When a connection breaks, the utterance goes on over a second one.
type Transcriber struct {
	pipeline.Transcriber
	engine *engine
}

// New returns a Transcriber, or an error that says which setting is wrong. It does not call the back end.
func New(o Options) (*Transcriber, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("url: the address cannot be read; want one such as grpc://127.0.0.1:50051")
	}
	target, creds := "passthrough:///"+u.Host, insecure.NewCredentials()
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("url: the address has more than host and port; want one such as grpc://127.0.0.1:50051")
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		target = "unix://" + u.Path
	case u.Scheme == "grpcs" && u.Port() != "":
		creds = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	case u.Scheme != "grpc" || u.Port() == "":
		return nil, fmt.Errorf("url: %q is no address of a back end; want one such as grpc://127.0.0.1:50051, grpcs://host:443 or unix:///path", o.URL)
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: 3 * time.Second, Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second}}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<20), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	if o.Open == 0 {
		o.Open = DefaultOpen
	}
	if o.Hang == 0 {
		o.Hang = DefaultHang
	}
	e := &engine{o: o, conn: conn, back: pb.NewBackendClient(conn)}
	return &Transcriber{backend.InProcess(backend.Reconnecting(e)), e}, nil
}

// NegotiateConfig implements pipeline.ConfigNegotiator. A configured model replaces the session's.
func (t *Transcriber) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	if t.engine.o.Model != "" {
		c.Model = ""
	}
	return c, nil
}

// ReportsEnds implements pipeline.EndReporter: a live back end says where an utterance ends.
func (t *Transcriber) ReportsEnds() bool { return true }

// Scores implements pipeline.WordScorer.
func (t *Transcriber) Scores() bool { return t.engine.Info().Probs }

// Warm asks the back end what it is. A back end loads its model before it answers.
func (t *Transcriber) Warm(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	d, err := t.engine.back.Describe(wait, &pb.DescribeRequest{})
	if status.Code(err) == codes.Unimplemented {
		d, err = &pb.Description{}, nil // a back end need not describe itself
	}
	if err == nil {
		t.engine.info.Store(&backend.Info{Name: d.GetName(), Detail: d.GetDetail(), Live: d.GetLive(), Probs: d.GetProbs()})
	}
	return t.engine.done(ctx, err)
}

// Component returns the present state: it has failed if the last utterance has.
func (t *Transcriber) Component() pipeline.Component {
	i := t.engine.Info()
	detail := strings.TrimSpace(i.Name+" "+i.Detail) + " at " + t.engine.o.URL
	return t.engine.last.Component(pipeline.StageTranscriber, "grpc", strings.TrimPrefix(detail, " at "))
}

// Close ends all utterances and connections.
func (t *Transcriber) Close() error { return t.engine.conn.Close() }

// engine is the backend.Engine of a back end.
type engine struct {
	o    Options
	conn *grpc.ClientConn
	back pb.BackendClient
	info atomic.Pointer[backend.Info]
	last remote.Outcome
}

// done turns the error of a call into one of the stage and keeps it, unless the caller ended the call.
func (e *engine) done(ctx context.Context, err error) error {
	err = e.explain(ctx, err)
	if errors.Is(err, backend.ErrUnimplemented) {
		return err
	}
	return e.last.Note(ctx, err)
}

// explain returns the error of the stage.
func (e *engine) explain(ctx context.Context, err error) error {
	var stage *pipeline.StageError
	switch {
	case err == nil || errors.As(err, &stage) || errors.Is(err, pipeline.ErrTooLong):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	said := status.Convert(err)
	cause := fmt.Errorf("%s answered %s: %s", e.o.URL, said.Code(), remote.Line(said.Message()))
	hint := ""
	switch said.Code() {
	case codes.Unavailable:
		cause = fmt.Errorf("%s %w: %s", e.o.URL, backend.ErrLost, remote.Line(said.Message()))
		hint = "check that the back end runs, and the url in the configuration"
	case codes.Unimplemented:
		cause = fmt.Errorf("%w: %w", backend.ErrUnimplemented, cause)
	case codes.ResourceExhausted:
		cause = fmt.Errorf("%w: %w", pipeline.ErrBusy, cause)
	case codes.DeadlineExceeded:
		cause = fmt.Errorf("%s did not answer in time", e.o.URL)
	default:
	}
	return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: cause, Hint: hint}
}

func (e *engine) Info() backend.Info {
	if i := e.info.Load(); i != nil {
		return *i
	}
	return backend.Info{Name: e.o.Model, Live: true}
}

func (e *engine) Close() error { return nil }

func (e *engine) config(c backend.Config) *pb.Config {
	m := &pb.Config{Model: e.o.Model, Language: c.Language, Prompt: c.Prompt}
	if m.Model == "" {
		m.Model = c.Model
	}
	if m.Language == "" {
		m.Language = e.o.Language
	}
	return m
}

func (e *engine) Open(ctx context.Context, c backend.Config) (backend.Stream, error) {
	if !c.Live {
		return growing.Open(ctx, c, -1, e.recognise)
	}
	life, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(e.o.Open, cancel)
	s := &live{engine: e, ctx: life, cancel: cancel, show: func(backend.Update) {}, ended: make(chan struct{})}
	err := s.begin(e.config(c))
	if !late.Stop() {
		err = status.Error(codes.DeadlineExceeded, "")
	}
	if err != nil {
		cancel()
		return nil, e.done(ctx, err)
	}
	return s, nil
}

// recognise has a whole utterance recognised. It is a growing.Ask.
func (e *engine) recognise(ctx context.Context, c backend.Config, pcm []byte, _ func(backend.Update)) (backend.Result, error) {
	wait, cancel := context.WithTimeout(ctx, e.o.Hang+growing.Length(pcm))
	defer cancel()
	audio := voice.PCM16ToFloat(nil, voice.BytesToPCM16(nil, pcm))
	r, err := e.back.Recognise(wait, &pb.RecogniseRequest{Config: e.config(c), Audio: &pb.Audio{Pcm: audio}})
	if err != nil {
		return backend.Result{}, e.done(ctx, err)
	}
	out, err := result(r)
	return out, e.done(ctx, err)
}

func result(r *pb.Result) (backend.Result, error) {
	if len(r.GetText()) > maxText {
		return backend.Result{}, status.Errorf(codes.OutOfRange, "more than %d bytes of text for one utterance", maxText)
	}
	out := backend.Result{Text: r.GetText(), Boundary: boundary(r.GetEou(), r.GetEob())}
	for _, w := range r.GetWords() {
		out.Words = append(out.Words, backend.Word{
			Text: w.GetText(), StartMS: int(w.GetStartMs()), EndMS: int(w.GetEndMs()), Prob: min(max(w.GetProb(), 0), 1), Speaker: w.GetSpeaker(),
		})
	}
	return out, nil
}

func boundary(eou, eob bool) backend.Boundary {
	switch {
	case eou:
		return backend.EndOfUtterance
	case eob:
		return backend.EndOfBackchannel
	}
	return backend.NoBoundary
}

// live is a live utterance: a backend.Stream and backend.Announcer.
type live struct {
	engine *engine
	ctx    context.Context //nolint:containedctx // the call ends with it
	cancel context.CancelFunc
	call   grpc.BidiStreamingClient[pb.TranscribeRequest, pb.TranscribeResponse]
	show   func(backend.Update)
	size   int // samples so far

	reading sync.WaitGroup
	once    sync.Once
	ended   chan struct{} // closed when the result is there or the call has failed
	result  backend.Result
	err     error // valid after that, as result
}

// begin sends the configuration and waits until the back end is ready.
func (s *live) begin(c *pb.Config) error {
	call, err := s.engine.back.Transcribe(s.ctx)
	if err != nil {
		return err
	}
	s.call = call
	// If Send fails, Recv has the reason.
	_ = call.Send(&pb.TranscribeRequest{Request: &pb.TranscribeRequest_Config{Config: c}})
	first, err := call.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return status.Error(codes.Unavailable, "the back end ended the utterance at its begin")
	case err != nil:
		return err
	}
	if _, ok := first.GetResponse().(*pb.TranscribeResponse_Ready); !ok {
		return status.Error(codes.FailedPrecondition, "the first message is not ready")
	}
	return nil
}

func (s *live) Announce(show func(backend.Update)) { s.show = show }

// read follows the messages of the back end.
func (s *live) read() {
	defer close(s.ended)
	text := ""
	for {
		m, err := s.call.Recv()
		switch {
		case errors.Is(err, io.EOF):
			s.err = status.Error(codes.Unavailable, "the back end ended the utterance without a result")
			return
		case err != nil:
			s.err = err
			return
		}
		switch r := m.GetResponse().(type) {
		case *pb.TranscribeResponse_Result:
			s.result, s.err = result(r.Result)
			return
		case *pb.TranscribeResponse_Update:
			if r.Update.GetReplace() {
				text = ""
			}
			if text += r.Update.GetDelta(); len(text) > maxText {
				s.err = status.Errorf(codes.OutOfRange, "more than %d bytes of text for one utterance", maxText)
				return
			}
			s.show(backend.Update{Partial: text, Boundary: boundary(r.Update.GetEou(), r.Update.GetEob())})
		default:
			s.err = status.Error(codes.FailedPrecondition, "a message that is neither an update nor a result")
			return
		}
	}
}

func (s *live) Feed(ctx context.Context, pcm []float32) (backend.Update, error) {
	s.once.Do(func() { s.reading.Go(s.read) })
	if s.size += len(pcm); s.size > int(growing.MaxAudio.Seconds())*pipeline.InputRate {
		return backend.Update{}, fmt.Errorf("%w: an utterance may last %v", pipeline.ErrTooLong, growing.MaxAudio)
	}
	return backend.Update{}, s.send(ctx, func() error {
		return s.call.Send(&pb.TranscribeRequest{Request: &pb.TranscribeRequest_Audio{Audio: &pb.Audio{Pcm: pcm}}})
	})
}

// send sends a message, or the end of the messages. The back end must take it within Hang.
func (s *live) send(ctx context.Context, send func() error) error {
	late := time.AfterFunc(s.engine.o.Hang, s.cancel)
	err := send()
	if !late.Stop() {
		return s.engine.done(ctx, status.Errorf(codes.Aborted, "took no audio for %v", s.engine.o.Hang))
	}
	if err == nil {
		return nil
	}
	<-s.ended // a send fails when the call has ended; read has the reason
	if s.err == nil {
		s.err = status.Error(codes.FailedPrecondition, "a result before the end of the audio")
	}
	return s.engine.done(ctx, s.err)
}

func (s *live) Finish(ctx context.Context) (backend.Result, error) {
	s.once.Do(func() { s.reading.Go(s.read) })
	if err := s.send(ctx, s.call.CloseSend); err != nil {
		return backend.Result{}, err
	}
	patience := s.engine.o.Hang + time.Duration(s.size)*time.Second/(4*pipeline.InputRate)
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-s.ended:
		return s.result, s.engine.done(ctx, s.err)
	case <-late.C:
		return backend.Result{}, s.engine.done(ctx, status.Errorf(codes.Aborted, "no result within %v after the end of the audio", patience))
	case <-ctx.Done():
		return backend.Result{}, ctx.Err()
	}
}

func (s *live) Close() error {
	s.cancel()
	s.once.Do(func() { s.reading.Go(s.read) }) // reads the call to its end
	s.reading.Wait()
	return nil
}
