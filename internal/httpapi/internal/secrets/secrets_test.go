package secrets

// The store of client secrets: expiry, use, limits.

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// create creates a secret for the model x, of a principal who may have all of them.
func create(v *Store, principal string, lifetime time.Duration) (value string, expires int64, wait time.Duration) {
	value, expires, wait, _ = v.Create(context.Background(), New{Principal: principal, Session: wire.Session{Model: "x"}, Lifetime: lifetime, Most: Max})
	return value, expires, wait
}

// fill has a store know n secrets of a principal, the first of which expires in 10 s, and each other one a second after the one before.
func fill(v *Store, principal string, n, size int) {
	for i := range n {
		v.known[idOf(principal, size)] = time.Now().Add(time.Duration(10+i) * time.Second).Unix()
	}
	v.listed = time.Now().Add(24 * time.Hour) // it does not look into its bucket
}

func find(v *Store, value string) (s *Secret, known bool, stale error) {
	return v.Find(context.Background(), value)
}

func TestSecretStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewStore(nil)
		value, expires, _ := create(v, "desk", 10*time.Second)
		g.Expect(value).To(gomega.MatchRegexp("^ek_[a-z2-7]{64}$"))
		g.Expect(expires).To(gomega.Equal(time.Now().Add(10 * time.Second).Unix()))
		later, _, _ := create(v, "desk", time.Hour)
		g.Expect(later).NotTo(gomega.Equal(value))

		s, ok, stale := find(v, value)
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(stale).To(gomega.BeNil())
		g.Expect(s.Principal).To(gomega.Equal("desk"))
		g.Expect(s.Session.Model).To(gomega.Equal("x"))

		g.Expect(v.Use(t.Context(), s)).To(gomega.Succeed())
		g.Expect(v.Use(t.Context(), s)).To(gomega.MatchError(ErrUsed), "it has one use")
		_, _, stale = find(v, value)
		g.Expect(stale).To(gomega.MatchError(ErrUsed))
		v.GiveBack(t.Context(), s)
		g.Expect(v.Use(t.Context(), s)).To(gomega.Succeed(), "the call did not begin")

		<-time.After(10 * time.Second)
		again, ok, stale := find(v, value)
		g.Expect(ok).To(gomega.BeTrue(), "it was a secret once")
		g.Expect(stale).To(gomega.MatchError(ErrExpired))
		g.Expect(again.ID).To(gomega.Equal(s.ID))
		keys, err := v.bucket.Keys(t.Context())
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(keys).To(gomega.HaveLen(1), "the store keeps nothing of it")

		for i := range later { // whatever is changed in it, it is no secret
			for _, c := range "a7=_" {
				if forged := later[:i] + string(c) + later[i+1:]; forged != later {
					_, ok, _ := find(v, forged)
					g.Expect(ok).To(gomega.BeFalse(), forged)
				}
			}
		}
		_, ok, _ = find(NewStore(nil), later)
		g.Expect(ok).To(gomega.BeFalse(), "it is a secret of another server")
	})
}

func TestSecretStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewStore(nil)
		fill(v, "desk", Max, 0)
		value, _, wait := create(v, "desk", time.Minute)
		g.Expect(value).To(gomega.BeEmpty())
		g.Expect(wait).To(gomega.Equal(10 * time.Second))
		<-time.After(wait)
		value, _, _ = create(v, "desk", time.Minute)
		g.Expect(value).NotTo(gomega.BeEmpty(), "the wait that create returned is enough")

		v = NewStore(nil)
		one := idOf("desk", 512<<10)
		fill(v, "desk", maxBytes/one.size(), 512<<10)
		_, _, bytes := v.counts()
		g.Expect(maxBytes - bytes).To(gomega.BeNumerically("<", one.size()))
		v.known[idOf("desk", maxBytes-bytes-overhead-sizeUnit)] = time.Now().Add(time.Hour).Unix() // now it is full to the last unit
		value, _, _ = create(v, "desk", time.Minute)
		g.Expect(value).To(gomega.BeEmpty())
	})
}

// When the store is full, the principal with most secrets makes room.
func TestSecretsOfAGreedyPrincipalMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewStore(nil)
		first, _, _ := create(v, "greedy", 9*time.Second)
		fill(v, "greedy", Max-1, 0)
		modest, _, _ := create(v, "modest", time.Minute)
		g.Expect(modest).NotTo(gomega.BeEmpty())
		_, _, stale := find(v, first)
		g.Expect(stale).To(gomega.MatchError(ErrExpired), "it made room")
		_, _, stale = find(v, modest)
		g.Expect(stale).To(gomega.BeNil())
		counts, _, _ := v.counts()
		g.Expect(v.known).To(gomega.HaveLen(Max))
		g.Expect(counts).To(gomega.ConsistOf(Max-1, 1))

		v = NewStore(nil)
		fill(v, "greedy", maxBytes/idOf("greedy", 512<<10).size(), 512<<10)
		fill(v, "modest", 300, 0) // more secrets, in fewer bytes
		modest, _, _ = create(v, "modest", time.Minute)
		g.Expect(modest).NotTo(gomega.BeEmpty(), "who has most bytes makes room")
		counts, _, _ = v.counts()
		g.Expect(counts).To(gomega.HaveLen(2))
		g.Expect(counts[idOf("modest", 0).owner()]).To(gomega.Equal(301))

		v = NewStore(nil)
		create(v, "greedy", time.Minute)
		_, _, wait, err := v.Create(t.Context(), New{Principal: "greedy", Lifetime: time.Hour, Most: 1})
		g.Expect(err).To(gomega.MatchError(ErrTooMany))
		g.Expect(wait).To(gomega.Equal(time.Minute))
	})
}

// FuzzSecretValue checks that nobody but the server can make a secret.
func FuzzSecretValue(f *testing.F) {
	v := NewStore(nil)
	value, _, _ := create(v, "desk", time.Hour)
	f.Add(strings.Repeat("a", 64))
	f.Add(value[len(prefix):])
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok, _ := find(v, prefix+text); ok && prefix+text != value {
			t.Errorf("%q is taken for a secret", text)
		}
	})
}
