package rpc

// The back end's side: an engine behind gRPC.

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/rpc/pb"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of a back end.
const (
	// maxMessage is the longest message, in bytes: six minutes of audio in one request.
	maxMessage = 6*60*pipeline.InputRate*4 + 1<<20
	// busy is how long an utterance waits for a place.
	busy = 5 * time.Second
	// silence is how long a live utterance may be without audio.
	silence = time.Minute
	// slice is how many samples an engine gets at a time: 100 ms.
	slice = pipeline.InputRate / 10
)

// Serve serves the engine on l until ctx is done, and then ends all utterances. max limits the utterances at a time; 1 for an engine that
// takes one. Serve closes l, and does not close the engine.
func Serve(ctx context.Context, l net.Listener, e backend.Engine, max int) error {
	s := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.MaxConcurrentStreams(1000), grpc.ConnectionTimeout(10*time.Second))
	pb.RegisterBackendServer(s, &server{engine: e, free: semaphore.NewWeighted(int64(max))})
	stop := context.AfterFunc(ctx, s.Stop)
	defer stop()
	err := s.Serve(l)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// server is the service.
type server struct {
	pb.UnimplementedBackendServer
	engine backend.Engine
	free   *semaphore.Weighted
}

// Describe implements pb.BackendServer.
func (s *server) Describe(context.Context, *pb.DescribeRequest) (*pb.Description, error) {
	i := s.engine.Info()
	return &pb.Description{Name: i.Name, Detail: i.Detail, Live: i.Live, Probs: i.Probs}, nil
}

// open begins an utterance. The caller calls end at its end.
func (s *server) open(ctx context.Context, c *pb.Config, live bool) (stream backend.Stream, end func(), err error) {
	wait, cancel := context.WithTimeout(ctx, busy)
	defer cancel()
	if s.free.Acquire(wait, 1) != nil {
		return nil, nil, status.Error(codes.ResourceExhausted, "too many utterances are being recognised")
	}
	stream, err = s.engine.Open(ctx, backend.Config{Model: c.GetModel(), Language: c.GetLanguage(), Prompt: c.GetPrompt(), Live: live})
	if err != nil {
		s.free.Release(1)
		return nil, nil, failure(err)
	}
	return stream, func() {
		_ = stream.Close() // the utterance has its result, or has failed
		s.free.Release(1)
	}, nil
}

func failure(err error) error {
	switch {
	case errors.Is(err, backend.ErrUnimplemented):
		return status.Error(codes.Unimplemented, err.Error())
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	case errors.Is(err, pipeline.ErrTooLong):
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return status.Error(codes.Internal, err.Error())
}

// Recognise implements pb.BackendServer.
func (s *server) Recognise(ctx context.Context, r *pb.RecogniseRequest) (*pb.Result, error) {
	stream, end, err := s.open(ctx, r.GetConfig(), false)
	if err != nil {
		return nil, err
	}
	defer end()
	if _, err := feed(ctx, stream, r.GetAudio().GetPcm()); err != nil {
		return nil, err
	}
	return finish(ctx, stream)
}

// feed gives audio to the engine in slices. It returns the last update, with the last boundary of them all. Samples that are no finite numbers become 0.
func feed(ctx context.Context, stream backend.Stream, pcm []float32) (u backend.Update, err error) {
	for i, v := range pcm {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			pcm[i] = 0
		}
	}
	for len(pcm) > 0 {
		n := min(len(pcm), slice)
		now, err := stream.Feed(ctx, pcm[:n])
		if err != nil {
			return u, failure(err)
		}
		if u.Boundary != backend.NoBoundary && now.Boundary == backend.NoBoundary {
			now.Boundary = u.Boundary
		}
		u, pcm = now, pcm[n:]
	}
	return u, nil
}

func finish(ctx context.Context, stream backend.Stream) (*pb.Result, error) {
	r, err := stream.Finish(ctx)
	if err != nil {
		return nil, failure(err)
	}
	eou, eob := ends(r.Boundary)
	out := &pb.Result{Text: r.Text, Eou: eou, Eob: eob}
	for _, w := range r.Words {
		out.Words = append(out.Words, &pb.Word{Text: w.Text, StartMs: int32(w.StartMS), EndMs: int32(w.EndMS), Prob: w.Prob, Speaker: w.Speaker})
	}
	return out, nil
}

func ends(b backend.Boundary) (eou, eob bool) {
	return b == backend.EndOfUtterance, b == backend.EndOfBackchannel
}

// Transcribe implements pb.BackendServer.
func (s *server) Transcribe(call grpc.BidiStreamingServer[pb.TranscribeRequest, pb.TranscribeResponse]) error {
	ctx, cancel := context.WithCancel(call.Context())
	defer cancel()
	first, err := call.Recv()
	if err != nil {
		return err
	}
	c, ok := first.GetRequest().(*pb.TranscribeRequest_Config)
	if !ok {
		return status.Error(codes.InvalidArgument, "want the configuration first")
	}
	stream, end, err := s.open(ctx, c.Config, true)
	if err != nil {
		return err
	}
	defer end()
	if err := call.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Ready{Ready: &pb.Ready{}}}); err != nil {
		return err
	}
	return s.converse(ctx, call, stream)
}

// message is a message of the server, or why there is none.
type message struct {
	request *pb.TranscribeRequest
	err     error
}

// converse takes the audio of a live utterance and sends what the engine makes of it.
func (s *server) converse(ctx context.Context, call grpc.BidiStreamingServer[pb.TranscribeRequest, pb.TranscribeResponse], stream backend.Stream) error {
	messages := make(chan message)
	go func() { // ends with the call
		for {
			r, err := call.Recv()
			select {
			case messages <- message{r, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	late := time.NewTimer(silence)
	defer late.Stop()
	for shown := ""; ; {
		select {
		case <-late.C:
			return status.Errorf(codes.DeadlineExceeded, "no audio for %v", silence)
		case <-ctx.Done():
			return ctx.Err()
		case m := <-messages:
			late.Reset(silence)
			u, last, err := perceive(ctx, m, stream)
			if err == nil && last != nil {
				return call.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Result{Result: last}})
			}
			if err == nil && (u.Partial != shown || u.Boundary != backend.NoBoundary) {
				err = call.Send(&pb.TranscribeResponse{Response: &pb.TranscribeResponse_Update{Update: update(shown, u)}})
				shown = u.Partial
			}
			if err != nil {
				return err
			}
		}
	}
}

// perceive gives a message to the engine: it returns an update for audio, and the result for the end of the audio.
func perceive(ctx context.Context, m message, stream backend.Stream) (u backend.Update, last *pb.Result, err error) {
	switch {
	case errors.Is(m.err, io.EOF):
		last, err = finish(ctx, stream)
		return u, last, err
	case m.err != nil:
		return u, nil, m.err
	}
	audio, ok := m.request.GetRequest().(*pb.TranscribeRequest_Audio)
	if !ok {
		return u, nil, status.Error(codes.InvalidArgument, "want audio after the configuration")
	}
	u, err = feed(ctx, stream, audio.Audio.GetPcm())
	return u, nil, err
}

// update returns an update as the change of the text that was shown.
func update(shown string, u backend.Update) *pb.Update {
	m := &pb.Update{}
	m.Eou, m.Eob = ends(u.Boundary)
	if rest, ok := strings.CutPrefix(u.Partial, shown); ok {
		m.Delta = rest
	} else {
		m.Delta, m.Replace = u.Partial, true
	}
	return m
}
