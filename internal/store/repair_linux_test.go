package store

// A disk that is full while the store writes, and has room again. Linux has a file that no write fits in.

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// fill lets the next write to the newest file of a bucket fail as on a full disk: it puts /dev/full in the place of the open files, and returns how many there were.
func fill(t *testing.T, bucket string) (filled int) {
	t.Helper()
	g := gomega.NewWithT(t)
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = full.Close() }() // it was copied
	open, err := os.ReadDir("/proc/self/fd")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, f := range open {
		file, err := os.Readlink(filepath.Join("/proc/self/fd", f.Name()))
		if err != nil || !strings.Contains(file, "KV_"+bucket) || !strings.HasSuffix(file, ".blk") {
			continue
		}
		n, err := strconv.Atoi(f.Name())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(syscall.Dup3(int(full.Fd()), n, syscall.O_CLOEXEC)).To(gomega.Succeed())
		filled++
	}
	return filled
}

func TestADiskThatIsFullForAWhile(t *testing.T) {
	g, ctx, free := gomega.NewWithT(t), t.Context(), int64(1<<40)
	s := open(t, Config{Dir: newFolder(t), Timeout: time.Minute, free: func(string) (int64, error) { return free, nil }})
	b, err := s.Bucket(ctx, BucketConfig{Name: "test"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	other, err := s.Bucket(ctx, BucketConfig{Name: "other"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Eventually(func() int {
		g.Expect(b.Put(ctx, "k", []byte("before"))).To(gomega.Succeed())
		return fill(t, "test")
	}).WithTimeout(time.Minute).Should(gomega.BeNumerically(">", 0))
	free = 0
	s.cfg.Timeout = 500 * time.Millisecond // nothing answers a write that fails
	g.Expect(b.Put(ctx, "k", []byte("lost"))).To(gomega.MatchError(ErrUnavailable))
	s.cfg.Timeout = time.Minute
	g.Eventually(s.own.broken).WithTimeout(time.Minute).Should(gomega.BeTrue())
	for _, err := range []error{b.Put(ctx, "k", nil), other.Put(ctx, "k", nil), b.findRoom(ctx), s.Healthy(ctx)} {
		g.Expect(err).To(gomega.MatchError(ErrFull))
	}
	e, err := b.Get(ctx, "k")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(e.Value)).To(gomega.Equal("before"))

	free = 1 << 40
	g.Expect(b.Put(ctx, "k", []byte("after"))).To(gomega.Succeed())
	g.Expect(s.Healthy(ctx)).To(gomega.Succeed())
	g.Expect(b.findRoom(ctx)).To(gomega.Succeed())
	g.Expect(other.Put(ctx, "k", []byte("other"))).To(gomega.Succeed())
	e, err = b.Get(ctx, "k")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(e.Value)).To(gomega.Equal("after"))
}
