package store

// Logs: entries that are appended with compare and swap, read from any point, and removed.

import (
	"fmt"
	"testing"

	"github.com/onsi/gomega"
)

func TestLog(t *testing.T) {
	url, _ := elsewhere(t)
	for name, cfg := range map[string]Config{"memory": {}, "files": {Dir: newFolder(t)}, "elsewhere": {URL: url}} {
		t.Run(name, func(t *testing.T) {
			g, ctx := gomega.NewWithT(t), t.Context()
			l, err := open(t, cfg).Log(ctx, LogConfig{Name: "test"})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(l.Room(ctx)).To(gomega.Succeed())
			_, err = l.Last(ctx, "a.1")
			g.Expect(err).To(gomega.MatchError(ErrNotFound))
			_, err = l.Next(ctx, "a.1", 0)
			g.Expect(err).To(gomega.MatchError(ErrNotFound))

			var last, other uint64
			for i := range 3 {
				last, err = l.Append(ctx, "a.1", fmt.Append(nil, i), last)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				other, err = l.Append(ctx, "b.1", fmt.Append(nil, "other", i), other)
				g.Expect(err).NotTo(gomega.HaveOccurred())
			}
			for _, stale := range []uint64{0, last - 1, last + 1, other} {
				_, err = l.Append(ctx, "a.1", []byte("stale"), stale)
				g.Expect(err).To(gomega.MatchError(ErrConflict))
			}
			newest, err := l.Last(ctx, "a.1")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect([]any{string(newest.Value), newest.Revision}).To(gomega.Equal([]any{"2", last}))

			var read []string
			for after := uint64(0); ; {
				e, err := l.Next(ctx, "a.1", after)
				if err != nil {
					g.Expect(err).To(gomega.MatchError(ErrNotFound))
					break
				}
				read, after = append(read, string(e.Value)), e.Revision
			}
			g.Expect(read).To(gomega.Equal([]string{"0", "1", "2"}))
			g.Expect(l.Trim(ctx, "a.1", 1)).To(gomega.Succeed())
			first, err := l.Next(ctx, "a.1", 0)
			g.Expect(err).NotTo(gomega.HaveOccurred(), "nothing is below the first revision")
			g.Expect(first.Revision).To(gomega.Equal(uint64(1)))

			names, err := l.Names(ctx, ">")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(names).To(gomega.Equal([]string{"a.1", "b.1"}))
			g.Expect(l.Remove(ctx, "a.1")).To(gomega.Succeed())
			names, err = l.Names(ctx, "a.*")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(names).To(gomega.BeEmpty())
			_, err = l.Append(ctx, "a.1", []byte("new"), 0)
			g.Expect(err).NotTo(gomega.HaveOccurred(), "a list that was removed is empty")
		})
	}
}

func TestKeysOfABucket(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	b, err := open(t, Config{}).Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	keys, err := b.Keys(ctx)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(keys).To(gomega.BeEmpty())
	g.Expect(b.Put(ctx, "p.1", nil)).To(gomega.Succeed())
	g.Expect(b.Put(ctx, "p.2", nil)).To(gomega.Succeed())
	g.Expect(b.Delete(ctx, "p.1")).To(gomega.Succeed())
	g.Expect(b.Delete(ctx, "p.3")).To(gomega.Succeed())
	keys, err = b.Keys(ctx)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(keys).To(gomega.Equal([]string{"p.2"}))
}

// TestHalfRoom: a log with more than half of its bytes has room for new lists, and none for those that take much.
func TestHalfRoom(t *testing.T) {
	g, ctx := gomega.NewWithT(t), t.Context()
	l, err := open(t, Config{}).Log(ctx, LogConfig{Name: "tests", MaxBytes: 1 << 20})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = l.Append(ctx, "one", make([]byte, 600<<10), 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(l.HalfRoom(ctx)).To(gomega.MatchError(ErrFull))
	g.Expect(l.Room(ctx)).To(gomega.Succeed())
}
