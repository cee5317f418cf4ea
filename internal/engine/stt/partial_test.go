package stt

// Partial results while the user speaks: how often they are asked for, and what ends them.

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func backendConfig(live bool) backend.Config { return backend.Config{Live: live} }

// slow is a server of which each request takes a time, without a network. It answers with the length of the recording.
type slow struct {
	takes     time.Duration
	fail      bool
	running   atomic.Int32
	most      atomic.Int32 // how many requests ran at a time
	begun     atomic.Int32
	cancelled atomic.Int32
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	q := read(r)
	s.begun.Add(1)
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	select {
	case <-time.After(s.takes):
	case <-r.Context().Done():
		s.cancelled.Add(1)
		return nil, r.Context().Err()
	}
	status, text := http.StatusOK, fmt.Sprintf(`{"text":"%.1f seconds"}`, q.seconds)
	if s.fail {
		status = http.StatusBadRequest
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(text)),
	}, nil
}

// speak writes silence for a while in real time, and returns the partial results and the last result.
func speak(t *testing.T, s *slow, o Options, d time.Duration) (partials []string, end pipeline.TranscriptResult) {
	t.Helper()
	o.Server = remote.Config{URLs: []string{"http://stand-in"}, Transport: s}
	tr, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	u, err := tr.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for r := range u.Results() {
			if r.Final || r.Err != nil {
				end = r
			} else {
				partials = append(partials, r.Partial)
			}
		}
	}()
	frame := make([]float32, pipeline.InputRate/50)
	for range d / (20 * time.Millisecond) {
		<-time.After(20 * time.Millisecond)
		if err := u.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.CloseInput(); err != nil {
		t.Fatal(err)
	}
	<-done
	return partials, end
}

func TestPartialsOfAFastServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := &slow{takes: 100 * time.Millisecond}
		partials, end := speak(t, s, Options{PartialEvery: time.Second}, 3500*time.Millisecond)
		g.Expect(partials).To(gomega.Equal([]string{"1.0 seconds", "2.0 seconds", "3.0 seconds"}))
		g.Expect(end.Text).To(gomega.Equal("3.5 seconds"))
		g.Expect(s.most.Load()).To(gomega.BeEquivalentTo(1))
	})
}

func TestPartialsOfASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := &slow{takes: 2 * time.Second}
		begin := time.Now()
		partials, end := speak(t, s, Options{PartialEvery: time.Second}, 10*time.Second)
		g.Expect(partials).To(gomega.Equal([]string{"1.0 seconds", "5.0 seconds"}), "the server rests as long as it works")
		g.Expect(end.Text).To(gomega.Equal("10.0 seconds"))
		g.Expect(s.cancelled.Load()).To(gomega.BeEquivalentTo(1), "the third was cancelled for the final one")
		g.Expect(s.most.Load()).To(gomega.BeEquivalentTo(1))
		g.Expect(time.Since(begin)).To(gomega.BeNumerically("~", 12*time.Second, 100*time.Millisecond))
	})
}

func TestAServerThatIsTooSlowForPartials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := &slow{takes: 4 * time.Second}
		partials, end := speak(t, s, Options{PartialEvery: time.Second}, 20*time.Second)
		g.Expect(partials).To(gomega.Equal([]string{"1.0 seconds"}))
		g.Expect(end.Text).To(gomega.Equal("20.0 seconds"))
		g.Expect(s.cancelled.Load()).To(gomega.BeZero())
	})
}

func TestPartialsEndWithAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := &slow{fail: true}
		partials, end := speak(t, s, Options{PartialEvery: time.Second}, 5*time.Second)
		g.Expect(partials).To(gomega.BeEmpty())
		g.Expect(end.Err).To(gomega.MatchError(gomega.ContainSubstring("400")))
		g.Expect(s.begun.Load()).To(gomega.BeEquivalentTo(2), "one partial result and the final one")
	})
}

func TestALongUtteranceHasNoMorePartials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		partials, end := speak(t, &slow{}, Options{PartialEvery: 20 * time.Second}, 90*time.Second)
		g.Expect(partials).To(gomega.Equal([]string{"20.0 seconds", "40.0 seconds", "60.0 seconds"}))
		g.Expect(end.Text).To(gomega.Equal("90.0 seconds"))
	})
}

func TestCloseCancelsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := &slow{takes: time.Hour}
		tr, err := New(Options{Server: remote.Config{URLs: []string{"http://stand-in"}, Transport: s, FirstByte: 2 * time.Hour}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ctx, cancel := context.WithCancel(t.Context())
		u, err := tr.Open(ctx, pipeline.TranscribeConfig{Live: true})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Write(pipetest.Silence(2))).To(gomega.Succeed())
		synctest.Wait()
		g.Expect(s.running.Load()).To(gomega.BeEquivalentTo(1))
		cancel()
		g.Expect((<-u.Results()).Err).To(gomega.MatchError(context.Canceled))
		g.Expect(u.Close()).To(gomega.Succeed())
		g.Expect(s.running.Load()).To(gomega.BeZero())
	})
}

func TestAServerThatNeverEndsItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		tr, err := New(Options{Server: remote.Config{URLs: []string{"http://stand-in"}, Transport: trickle{}}})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		r := pipetest.Last(pipetest.Hear(t, tr, pipeline.TranscribeConfig{}, pipetest.Silence(1)))
		g.Expect(r.Err).To(gomega.MatchError(gomega.ContainSubstring("http://stand-in/ did not finish within 1m1s")))
	})
}

// trickle is a server that sends one space a second, for ever.
type trickle struct{}

func (trickle) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: &drip{r.Context()}}, nil
}

type drip struct{ ctx context.Context }

func (d *drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *drip) Close() error { return nil }
