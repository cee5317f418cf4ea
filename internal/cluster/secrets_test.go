package cluster

// The bucket of client secrets.

import (
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// Servers that open the bucket have the same key and the same values, and of two writers one is first.
func TestServersShareTheBucketOfSecrets(t *testing.T) {
	c := opened(t)
	one, err := OpenSecrets(t.Context(), c.store, slog.New(slog.DiscardHandler))
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	two, err := OpenSecrets(t.Context(), c.store, slog.New(slog.DiscardHandler))
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(one.SealKey()).To(gomega.Equal(two.SealKey()))
	_, err = one.Update(t.Context(), "KEY", []byte("value"), 0)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = two.Update(t.Context(), "KEY", []byte("another"), 0)
	c.g.Expect(err).To(gomega.MatchError(store.ErrConflict))
	found, err := two.Get(t.Context(), "KEY")
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(string(found.Value)).To(gomega.Equal("value"))
	c.g.Expect(found.Revision).NotTo(gomega.BeZero())
	keys, err := two.Keys(t.Context())
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(keys).To(gomega.Equal([]string{"KEY"}))
	c.g.Expect(one.Delete(t.Context(), "KEY")).To(gomega.Succeed())
	_, err = two.Get(t.Context(), "KEY")
	c.g.Expect(err).To(gomega.MatchError(store.ErrNotFound))
}
