package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	signaling "github.com/antiphon-rt/antiphon/server/signal"
)

// reloads keeps what it is given.
type reloads struct {
	got chan signaling.Limits
}

func (r *reloads) Reload(_ signaling.Keys, limits signaling.Limits, _ signaling.Rates) error {
	r.got <- limits
	return nil
}

// SIGHUP has the server read its certificate, keys and limits again. A file with a mistake changes nothing.
func TestReloadAtSIGHUP(t *testing.T) {
	g := gomega.NewWithT(t)
	firstKey, firstCert := pemOf(t)
	cert, key := write(t, "cert.pem", firstCert), write(t, "key.pem", firstKey)
	limitsFile := write(t, "limits.yaml", "max-sessions: 7\n")
	c := serve{
		Listen: "127.0.0.1:0", APIKeyFile: keyFile(t), TLSCert: cert, TLSKey: key, LimitsFile: limitsFile,
		limits: limits{EventsPerSecond: 5, MaxSessions: 3},
	}
	held, err := c.secure()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	before := held.config().Certificates[0].Certificate[0]
	ctx, cancel := context.WithCancel(t.Context())
	var log bytes.Buffer
	s := &reloads{make(chan signaling.Limits, 1000)}
	done := make(chan struct{})
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGHUP) // one that comes before watch listens does not end the test
	defer signal.Stop(ignored)
	go func() {
		defer close(done)
		c.watch(ctx, s, held, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	secondKey, secondCert := pemOf(t)
	for path, text := range map[string]string{cert: secondCert, key: secondKey, limitsFile: "max-sessions: 9\nsession-length: 10m\n"} {
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	}
	g.Eventually(func() int {
		g.Expect(hangUp()).To(gomega.Succeed())
		return len(s.got)
	}, patience).Should(gomega.BeNumerically(">", 0))
	got := <-s.got
	g.Expect(got.MaxSessions).To(gomega.Equal(9))
	g.Expect(got.Longest.String()).To(gomega.Equal("10m0s"))
	g.Expect(got.EventsPerSecond).To(gomega.Equal(5), "from the flags")
	g.Eventually(func() []byte {
		now, err := held.config().GetConfigForClient(nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return now.Certificates[0].Certificate[0]
	}, patience).ShouldNot(gomega.Equal(before))

	for _, mistake := range []string{"max-sesions: 9\n", "max-sessions: many\n", "session-length: 1s\n"} {
		g.Expect(os.WriteFile(limitsFile, []byte(mistake), 0o600)).To(gomega.Succeed())
		g.Expect(c.reload(s, held, slog.New(slog.DiscardHandler))).To(gomega.HaveOccurred(), mistake)
	}
	cancel()
	<-done
}

// hangUp sends SIGHUP to this process.
func hangUp() error { return syscall.Kill(os.Getpid(), syscall.SIGHUP) }
