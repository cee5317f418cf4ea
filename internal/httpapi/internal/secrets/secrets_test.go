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
func create(v Store, principal string, size int, lifetime time.Duration) (value string, expires int64, wait time.Duration) {
	value, expires, wait, _ = v.Create(context.Background(), New{Principal: principal, Session: wire.Session{Model: "x"}, Size: size, Lifetime: lifetime, Most: Max})
	return value, expires, wait
}

func find(v Store, value string) (s *Secret, known bool, stale error) {
	return v.Find(context.Background(), value)
}

func TestSecretStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewMemory()
		value, expires, _ := create(v, "desk", 100, 10*time.Second)
		g.Expect(value).To(gomega.MatchRegexp("^ek_[a-z2-7]{64}$"))
		g.Expect(expires).To(gomega.Equal(time.Now().Add(10 * time.Second).Unix()))
		later, _, _ := create(v, "desk", 100, time.Hour)
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
		g.Expect(v.byID).To(gomega.HaveLen(1), "the store keeps nothing of it")
		g.Expect(v.bytes).To(gomega.Equal(100 + overhead))

		for i := range later { // whatever is changed in it, it is no secret
			for _, c := range "a7=_" {
				if forged := later[:i] + string(c) + later[i+1:]; forged != later {
					_, ok, _ := find(v, forged)
					g.Expect(ok).To(gomega.BeFalse(), forged)
				}
			}
		}
		_, ok, _ = find(NewMemory(), later)
		g.Expect(ok).To(gomega.BeFalse(), "it is a secret of another server")
	})
}

func TestSecretStoreIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewMemory()
		for i := range Max {
			value, _, _ := create(v, "desk", 0, time.Duration(10+i)*time.Second)
			g.Expect(value).NotTo(gomega.BeEmpty())
		}
		value, _, wait := create(v, "desk", 0, time.Minute)
		g.Expect(value).To(gomega.BeEmpty())
		g.Expect(wait).To(gomega.Equal(10 * time.Second))
		<-time.After(wait)
		value, _, _ = create(v, "desk", 0, time.Minute)
		g.Expect(value).NotTo(gomega.BeEmpty(), "the wait that create returned is enough")

		v = NewMemory()
		for range maxBytes/((1<<20)+overhead) + 1 {
			value, _, _ = create(v, "desk", 1<<20, time.Minute)
		}
		g.Expect(value).To(gomega.BeEmpty())
		g.Expect(v.bytes).To(gomega.BeNumerically("<=", maxBytes))
	})
}

// When the store is full, the principal with most secrets makes room.
func TestSecretsOfAGreedyPrincipalMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewMemory()
		first := ""
		for i := range Max {
			value, _, _ := create(v, "greedy", 0, time.Duration(10+i)*time.Second)
			if first == "" {
				first = value
			}
		}
		modest, _, _ := create(v, "modest", 0, time.Minute)
		g.Expect(modest).NotTo(gomega.BeEmpty())
		_, _, stale := find(v, first)
		g.Expect(stale).NotTo(gomega.BeNil(), "it made room")
		_, _, stale = find(v, modest)
		g.Expect(stale).To(gomega.BeNil())
		g.Expect(v.byID).To(gomega.HaveLen(Max))
		g.Expect(v.of).To(gomega.Equal(map[string]int{"greedy": Max - 1, "modest": 1}))

		v = NewMemory()
		create(v, "greedy", 0, time.Minute)
		_, _, wait, err := v.Create(t.Context(), New{Principal: "greedy", Lifetime: time.Hour, Most: 1})
		g.Expect(err).To(gomega.MatchError(ErrTooMany))
		g.Expect(wait).To(gomega.Equal(time.Minute))
	})
}

// FuzzSecretValue checks that nobody but the server can make a secret.
func FuzzSecretValue(f *testing.F) {
	v := NewMemory()
	value, _, _ := create(v, "desk", 0, time.Hour)
	f.Add(strings.Repeat("a", 64))
	f.Add(value[len(prefix):])
	f.Fuzz(func(t *testing.T, text string) {
		if _, ok, _ := find(v, prefix+text); ok && prefix+text != value {
			t.Errorf("%q is taken for a secret", text)
		}
	})
}
