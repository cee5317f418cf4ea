package backend

// Engines in the server's own process, and the outbox of their results.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// stuck is an engine whose Feed waits for a word, and for the end of the context.
type stuck struct{ goOn chan error }

func (s *stuck) Info() Info                                   { return Info{Name: "stuck"} }
func (s *stuck) Close() error                                 { return nil }
func (s *stuck) Open(context.Context, Config) (Stream, error) { return s, nil }

func (s *stuck) Feed(ctx context.Context, pcm []float32) (Update, error) {
	select {
	case err := <-s.goOn:
		return Update{Partial: fmt.Sprint(len(pcm))}, err
	case <-ctx.Done():
		return Update{}, ctx.Err()
	}
}

func (s *stuck) Finish(context.Context) (Result, error) { return Result{Text: "end"}, nil }

func open(t *testing.T, ctx context.Context, e Engine, live bool) pipeline.Transcription {
	t.Helper()
	u, err := InProcess(e).Open(ctx, pipeline.TranscribeConfig{Live: live})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return u
}

func TestInProcess(t *testing.T) {
	g := gomega.NewWithT(t)
	u := open(t, t.Context(), counter{}, false)
	g.Expect(u.Write(make([]float32, 5000))).To(gomega.Succeed())
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	g.Expect(u.Write(nil)).To(gomega.MatchError(pipeline.ErrClosed))
	last := <-u.Results()
	g.Expect(last).To(gomega.Equal(pipeline.TranscriptResult{Final: true, Text: "5000 samples", Partial: "5000 samples", EOU: true}), "no partial results unless they are wanted")
	g.Eventually(u.Results(), "20s").Should(gomega.BeClosed())
	g.Expect(u.Close()).To(gomega.Succeed())
	g.Expect(u.Close()).To(gomega.Succeed())
	_, err := InProcess(counter{}).Open(t.Context(), pipeline.TranscribeConfig{Language: "xx"})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrNoLive))
}

func TestInProcessFailures(t *testing.T) {
	g := gomega.NewWithT(t)
	s := &stuck{goOn: make(chan error, 1)}

	u := open(t, t.Context(), s, true)
	g.Expect(u.Write(make([]float32, 100))).To(gomega.Succeed())
	boom := errors.New("boom")
	s.goOn <- boom
	g.Expect((<-u.Results()).Err).To(gomega.MatchError(boom))
	g.Expect(u.Close()).To(gomega.Succeed())

	ctx, cancel := context.WithCancel(t.Context())
	u = open(t, ctx, s, true)
	g.Expect(u.Write(make([]float32, 100))).To(gomega.Succeed())
	cancel()
	g.Expect((<-u.Results()).Err).To(gomega.MatchError(context.Canceled), "a done context is a result")
	g.Expect(u.Close()).To(gomega.Succeed())

	u = open(t, t.Context(), s, true)
	g.Expect(u.Write(make([]float32, slice))).To(gomega.Succeed())
	g.Eventually(func() error { return u.Write(make([]float32, maxQueued)) }).Should(gomega.MatchError(pipeline.ErrOverrun))
	g.Expect(u.Close()).To(gomega.Succeed(), "while the engine is busy")
	g.Expect(u.Results()).To(gomega.BeClosed())
}

// TestOutboxKeepsFinalResults: a reader of any speed gets the ends of utterances and the last result in
// order, and of the partial results the newest.
func TestOutboxKeepsFinalResults(t *testing.T) {
	g := gomega.NewWithT(t)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		o := newOutbox(make(chan struct{}))
		var running sync.WaitGroup
		running.Go(o.run)
		want := 0
		var seen []pipeline.TranscriptResult
		for i := range 1 + rnd.IntN(40) {
			r := pipeline.TranscriptResult{Partial: fmt.Sprint(i), EOU: want < maxOutbox/2 && rnd.IntN(8) == 0}
			if r.EOU {
				want++
			}
			o.put(r)
			if rnd.IntN(3) == 0 {
				seen = append(seen, <-o.results)
			}
			if len(seen) > 0 && rnd.IntN(3) == 0 && len(o.pendingNow()) > 0 {
				seen = append(seen, <-o.results)
			}
		}
		o.put(pipeline.TranscriptResult{Final: true, Text: "end"})
		o.put(pipeline.TranscriptResult{Partial: "late"})
		for r := range o.results {
			seen = append(seen, r)
		}
		running.Wait()
		ends, last := 0, -1
		for _, r := range seen[:len(seen)-1] {
			var n int
			_, err := fmt.Sscan(r.Partial, &n)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(n).To(gomega.BeNumerically(">", last), "in order, none twice")
			last = n
			if r.EOU {
				ends++
			}
		}
		g.Expect(ends).To(gomega.Equal(want), "no end of an utterance is lost")
		g.Expect(seen[len(seen)-1].Text).To(gomega.Equal("end"))
	}
}

func (o *outbox) pendingNow() []pipeline.TranscriptResult {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pending
}

func TestOutboxIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	o := newOutbox(nil)
	for i := range 1000 {
		o.put(pipeline.TranscriptResult{Partial: fmt.Sprint(i), EOU: i%2 == 0})
	}
	g.Expect(len(o.pending)).To(gomega.BeNumerically("<=", maxOutbox))
	g.Expect(o.pending[len(o.pending)-1].Partial).To(gomega.Equal("999"))
}
