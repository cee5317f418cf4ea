package httpapi

// The log of a Handler: a call that makes room, and the beginning and the end of a drain.

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

func TestTheLogSaysWhoMakesRoomAndWhenADrainEnds(t *testing.T) {
	const calls = "/v1/realtime/calls"
	var log servertest.Log
	d := open(t, func(c *Config) {
		c.MaxSessions, c.CallsPerAddress = 1, 10
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	first := strings.TrimPrefix(d.offered(calls, "").begun(), calls+"/")
	d.h.mu.Lock()
	for _, c := range d.h.calls {
		c.since = c.since.Add(-connectsWithin)
	}
	d.h.mu.Unlock()
	second := strings.TrimPrefix(d.offered(calls, "").begun(), calls+"/")
	d.g.Eventually(func() []string { return log.Lines(`msg="session ends" call=` + first) }, patience).Should(gomega.HaveExactElements(
		gomega.MatchRegexp(`level=INFO .*session=sess_\w+ reason=GraceOver`)))
	d.g.Expect(log.Lines(`msg="a half-open call makes room for another one" call=` + first + " session=sess_")).To(gomega.HaveLen(1))

	d.g.Eventually(func() int { now, _ := d.h.Calls(); return now }, patience).Should(gomega.Equal(1))
	for range 2 { // as two signals would
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		d.g.Expect(d.h.Drain(ctx, 10*time.Millisecond)).To(gomega.Succeed())
		cancel()
	}
	d.g.Expect(log.Lines(`msg="session ends" call=` + second)).To(gomega.HaveExactElements(gomega.ContainSubstring("reason=ServerStops")))
	d.g.Expect(log.Lines(`msg="drain `)).To(gomega.HaveExactElements(
		gomega.MatchRegexp(`level=INFO msg="drain begins" calls=1 within=10ms`), gomega.MatchRegexp(`level=INFO msg="drain ends" calls_left=0 took=\d+ms`)))
	for _, secret := range []string{"abcdefghijklmnopqrstuvwx", "ek_"} {
		d.g.Expect(log.Lines(secret)).To(gomega.BeEmpty())
	}
}
