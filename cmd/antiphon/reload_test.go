package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"regexp"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// reloads keeps what it is given.
type reloads struct {
	got         chan httpapi.Rules
	connections chan httpguard.Limits
}

func (r *reloads) Reload(to httpapi.Rules) error {
	r.got <- to
	return nil
}

func (r *reloads) Limit(limits httpguard.Limits) { r.connections <- limits }

// A changed file has the server read its files again without a signal, and a file that stays the same does not.
func TestReloadOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		limitsFile := write(t, "limits.yaml", "max-sessions: 7\n")
		c := serve{Listen: "127.0.0.1:0", APIKeyFile: keyFile(t), LimitsFile: limitsFile, limits: limits{EventsPerSecond: 5}, recorded: recorded{ConsoleKeyFile: write(t, "operators", "key-of-the-night-desk")}}
		s := &reloads{make(chan httpapi.Rules, 10), make(chan httpguard.Limits, 10)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		defer func() { cancel(); <-done }() // also after a failure: otherwise the ticker keeps the test alive
		go func() {
			defer close(done)
			c.watch(ctx, nil, running{s, s, nil}, slog.New(slog.DiscardHandler))
		}()
		<-time.After(3*lookEvery + lookEvery/2)
		g.Expect(s.got).To(gomega.BeEmpty())
		g.Expect(os.WriteFile(limitsFile, []byte("max-sessions: 12\n"), 0o600)).To(gomega.Succeed())
		<-time.After(lookEvery)
		g.Expect(s.got).To(gomega.HaveLen(1))
		g.Expect((<-s.got).Limits.MaxSessions).To(gomega.Equal(12))
		key, line, err := apikey.New("new")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(os.WriteFile(c.APIKeyFile, []byte(line+"\n"), 0o600)).To(gomega.Succeed())
		<-time.After(lookEvery)
		g.Expect(s.got).To(gomega.HaveLen(1))
		_, known := (<-s.got).Keys.Principal(key)
		g.Expect(known).To(gomega.BeTrue())
		g.Expect(os.WriteFile(c.ConsoleKeyFile, []byte("key-of-the-day-desk-1\nkey-of-the-day-desk-2\n"), 0o600)).To(gomega.Succeed())
		<-time.After(lookEvery)
		g.Expect(s.got).To(gomega.HaveLen(1))
		g.Expect((<-s.got).Operators).To(gomega.HaveLen(2))
		<-time.After(3 * lookEvery)
		g.Expect(s.got).To(gomega.BeEmpty())
	})
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
	s := &reloads{make(chan httpapi.Rules, 1000), make(chan httpguard.Limits, 1000)}
	r := running{s, s, held}
	done := make(chan struct{})
	signals, stop := hangups()
	defer stop()
	go func() {
		defer close(done)
		c.watch(ctx, signals, r, slog.New(slog.NewTextHandler(&log, nil)))
	}()
	secondKey, secondCert := pemOf(t)
	for path, text := range map[string]string{cert: secondCert, key: secondKey, limitsFile: everyLimit} {
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
	}
	g.Eventually(func() int {
		g.Expect(hangUp()).To(gomega.Succeed())
		return len(s.got)
	}, patience).Should(gomega.BeNumerically(">", 0))
	got := <-s.got
	g.Expect(got.Limits.MaxSessions).To(gomega.Equal(9))
	g.Expect(got.Limits.Longest.String()).To(gomega.Equal("10m0s"))
	g.Expect(got.Limits.EventsPerSecond).To(gomega.Equal(5), "from the flags")
	g.Expect(got.Limits.Memory).To(gomega.Equal(32 << 20))
	g.Expect(got.Limits.MessageMemory).To(gomega.Equal(int64(33 << 20)))
	g.Expect(got.Secrets.SingleUse).To(gomega.BeTrue())
	g.Expect(got.Secrets.Locks).To(gomega.HaveLen(1))
	g.Expect(<-s.connections).To(gomega.Equal(httpguard.Limits{Connections: 50, PerAddress: 7}))
	g.Eventually(func() []byte {
		now, err := held.config().GetConfigForClient(nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return now.Certificates[0].Certificate[0]
	}, patience).ShouldNot(gomega.Equal(before))

	for _, mistake := range []string{"max-sesions: 9\n", "max-sessions: many\n", "session-length: 1s\n", "max-connections: -1\n", "secret-lock: [nothing]\n"} {
		g.Expect(os.WriteFile(limitsFile, []byte(mistake), 0o600)).To(gomega.Succeed())
		g.Expect(c.reload(r, slog.New(slog.DiscardHandler))).To(gomega.HaveOccurred(), mistake)
	}
	cancel()
	<-done
	g.Expect(regexp.MustCompile(`level=(\w+) msg="(.*?)"`).FindStringSubmatch(log.String())[1:]).To(gomega.Equal(
		[]string{"INFO", "certificate, keys and limits are read again"}))
	g.Expect(regexp.MustCompile(`(?m)^.*level=INFO`).FindAllString(log.String(), -1)).To(gomega.HaveLen(len(s.got)+1), "one line for each reload")
}

const everyLimit = `
max-sessions: 9
session-length: 10m
max-connections: 50
max-connections-per-address: 7
conversation-memory: 32
message-memory: 33
secret-single-use: true
secret-lock: [instructions]
`

// hangUp sends SIGHUP to this process.
func hangUp() error { return syscall.Kill(os.Getpid(), syscall.SIGHUP) }
