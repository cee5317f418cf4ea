package logstore

// The journal in a store.

import (
	"log/slog"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/store"
)

func TestLog(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	s, err := store.Open(ctx, store.Config{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(s.Close()).To(gomega.Succeed()) }()
	l, err := Open(ctx, s, time.Hour, 1<<20)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(l.Room(ctx)).To(gomega.Succeed())
	free, err := l.Left(ctx)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(free).To(gomega.BeEquivalentTo(1 << 20 / 10 * 9))
	_, _, err = l.Last(ctx, "a")
	g.Expect(err).To(gomega.MatchError(journal.ErrNotFound))
	one, err := l.Append(ctx, "a", []byte("1"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = l.Append(ctx, "a", []byte("x"), 0)
	g.Expect(err).To(gomega.MatchError(journal.ErrConflict))
	_, err = l.Append(ctx, "b", []byte("other"), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	two, err := l.Append(ctx, "a", []byte("2"), one)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	text, at, err := l.Next(ctx, "a", one)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect([]any{string(text), at}).To(gomega.Equal([]any{"2", two}))
	g.Expect(l.Trim(ctx, "a", two)).To(gomega.Succeed())
	_, at, err = l.Next(ctx, "a", 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(at).To(gomega.Equal(two), "the first entry is gone")
	g.Expect(l.Remove(ctx, "a")).To(gomega.Succeed())
	_, at, err = l.Last(ctx, "a")
	g.Expect(err).To(gomega.MatchError(journal.ErrNotFound))
	g.Expect(at).To(gomega.BeZero(), "no entry has no revision")
	text, _, err = l.Last(ctx, "b")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(text)).To(gomega.Equal("other"))
	g.Eventually(func() (int64, error) { return l.Left(ctx) }).Should(gomega.BeNumerically("<", free), "the second list has a part of it")
}

// The token of a call that has ended, or that never was, names no call: its journal is not damaged.
func TestAnUnknownCallIsUnknown(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	s, err := store.Open(ctx, store.Config{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(s.Close()).To(gomega.Succeed()) }()
	l, err := Open(ctx, s, time.Hour, 1<<20)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, _, err = journal.New(journal.Config{Log: l}).TakeOver(ctx, "token", slog.New(slog.DiscardHandler), func(*journal.State) bool { return true })
	g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
	g.Expect(err).NotTo(gomega.MatchError(journal.ErrDamaged))
}
