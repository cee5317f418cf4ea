package server

// A recording whose disk stalls.

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
)

// stalling is a writer that waits before its first write until it is released.
type stalling struct {
	bytes.Buffer
	release chan struct{}
}

func (s *stalling) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

// The calls go on while the disk stalls, and the recording says how many lines it lacks.
func TestCallsGoOnWhileTheRecordingStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		var log bytes.Buffer
		out := &stalling{release: make(chan struct{})}
		r := newRecorder("record", out, slog.New(slog.NewTextHandler(&log, nil)))
		synctest.Wait()
		for i := range maxLines + 50 {
			r.write(i)
			if i == 0 {
				synctest.Wait() // it is being written
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(r.close(ctx)).To(gomega.MatchError(context.DeadlineExceeded))
		close(out.release)
		g.Expect(r.close(t.Context())).To(gomega.Succeed())
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		g.Expect(lines).To(gomega.HaveLen(maxLines + 2))
		g.Expect(out.String()).To(gomega.ContainSubstring(`"dropped":49}`))
		g.Expect(log.String()).To(gomega.ContainSubstring("lines=49"))
		g.Expect(r.bytes.Load()).To(gomega.BeZero())
	})
	t.Run("and many bytes wait for no memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := gomega.NewWithT(t)
			out := &stalling{release: make(chan struct{})}
			r := newRecorder("record", out, slog.New(slog.DiscardHandler))
			large := strings.Repeat("x", 1<<20)
			for range 2 * maxLineBytes >> 20 {
				r.write(large)
			}
			g.Expect(r.bytes.Load()).To(gomega.BeNumerically("<=", maxLineBytes))
			close(out.release)
			g.Expect(r.close(t.Context())).To(gomega.Succeed())
			g.Expect(out.Len()).To(gomega.BeNumerically("<=", maxLineBytes+1<<20))
			g.Expect(out.String()).To(gomega.ContainSubstring(fmt.Sprintf(`"dropped":%d}`, 2*maxLineBytes>>20-strings.Count(out.String(), `"xxx`))))
		})
	})
}
