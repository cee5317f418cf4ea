package secrets

// Client secrets that servers share: what one server makes another one knows, and a use counts once.

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// fakeBucket is a Bucket in memory.
type fakeBucket struct {
	mu     sync.Mutex
	values map[string][]byte
	last   map[string]uint64
	now    time.Time
	away   bool
}

func newFake() *fakeBucket {
	return &fakeBucket{values: map[string][]byte{}, last: map[string]uint64{}, now: time.Now().Add(time.Hour)} // another clock than this one
}

var errAway = errors.New("away")

// use runs do with the bucket, unless it is away.
func (b *fakeBucket) use(do func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errAway
	}
	do()
	return nil
}

func (b *fakeBucket) SealKey() [32]byte { return [32]byte{7} }

func (b *fakeBucket) Get(_ context.Context, key string) (value []byte, revision uint64, err error) {
	err = b.use(func() { value, revision = b.values[key], b.last[key] })
	return value, revision, err
}

func (b *fakeBucket) Update(_ context.Context, key string, value []byte, revision uint64) (stored bool, err error) {
	err = b.use(func() {
		if stored = b.last[key] == revision; stored {
			b.values[key] = value
			b.last[key]++
		}
	})
	return stored, err
}

func (b *fakeBucket) Delete(_ context.Context, key string) error {
	return b.use(func() {
		delete(b.values, key)
		delete(b.last, key)
	})
}

func (b *fakeBucket) Keys(context.Context) (keys []string, err error) {
	err = b.use(func() {
		for key := range b.values {
			keys = append(keys, key)
		}
	})
	return keys, err
}

func (b *fakeBucket) Now(context.Context) (now time.Time, err error) {
	err = b.use(func() { now = b.now })
	return now, err
}

// A secret of one server is known to the others with all its settings, until it expires by the clock of the store.
func TestServersShareSecrets(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	one, two := NewShared(in), NewShared(in)
	session := wire.DefaultSession()
	session.Instructions, session.Truncation, session.Include = strings.Repeat("Be brief. ", 100_000), wire.Raw(`{"type":"retention_ratio"}`), []string{"x"}
	session.Tools = []wire.Tool{{Type: "function", Name: "f", Parameters: wire.Raw(`{}`)}}
	value, expires, _, err := one.Create(t.Context(), New{Principal: "desk", Session: session, Lifetime: time.Minute, Most: 1})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(expires).To(gomega.Equal(in.now.Add(time.Minute).Unix()))
	s, known, stale := find(two, value)
	g.Expect(known).To(gomega.BeTrue())
	g.Expect(stale).NotTo(gomega.HaveOccurred())
	g.Expect(s.Principal).To(gomega.Equal("desk"))
	g.Expect(s.Session).To(gomega.Equal(session))
	g.Expect(one.Len()).To(gomega.Equal(1))

	for _, other := range []string{"", "ek_", value[:len(value)-1], strings.Replace(value, value[10:14], "aaaa", 1)} {
		_, known, _ := find(two, other)
		g.Expect(known).To(gomega.BeFalse(), other)
	}
	in.now = in.now.Add(time.Minute)
	again, known, stale := find(two, value)
	g.Expect(known).To(gomega.BeTrue())
	g.Expect(stale).To(gomega.MatchError(ErrExpired))
	g.Expect(again.ID).To(gomega.Equal(s.ID))
	g.Expect(again.Principal).To(gomega.BeEmpty())
}

// Of many requests at several servers one uses a secret. A call that did not begin gives it back.
func TestASharedSecretIsUsedOnce(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	servers := []*Shared{NewShared(in), NewShared(in), NewShared(in)}
	value, _, _ := create(servers[0], "desk", 0, time.Minute)
	use := func() (used int) {
		var all sync.WaitGroup
		results := make(chan error, 30)
		for i := range cap(results) {
			all.Go(func() {
				v := servers[i%len(servers)]
				s, _, stale := find(v, value)
				if stale == nil {
					stale = v.Use(context.Background(), s)
				}
				results <- stale
			})
		}
		all.Wait()
		close(results)
		for err := range results {
			if err == nil {
				used++
			} else {
				g.Expect(err).To(gomega.MatchError(ErrUsed))
			}
		}
		return used
	}
	g.Expect(use()).To(gomega.Equal(1))
	g.Expect(use()).To(gomega.Equal(0))
	s, _, _ := find(servers[1], value)
	servers[1].GiveBack(t.Context(), s)
	g.Expect(use()).To(gomega.Equal(1))
}

// The limit of a principal counts the secrets of all servers, also of one that has ended. A principal that has most makes room.
func TestSharedSecretsAreBounded(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	made := New{Principal: "desk", Lifetime: time.Minute, Most: 3}
	for range made.Most {
		_, _, _, err := NewShared(in).Create(t.Context(), made)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	v := NewShared(in)
	_, _, wait, err := v.Create(t.Context(), made)
	g.Expect(err).To(gomega.MatchError(ErrTooMany))
	g.Expect(wait).To(gomega.BeNumerically("~", time.Minute, time.Second))
	in.now = in.now.Add(wait)
	_, _, _, err = v.Create(t.Context(), made)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "the wait that Create returned is enough")

	for i := range Max - len(v.known) { // as if many servers had made them
		id := idOf("greedy", 0)
		v.known[id] = in.now.Add(time.Hour + time.Duration(i)*time.Second).Unix()
	}
	v.listed = time.Now().Add(time.Hour)
	modest, _, _ := create(v, "modest", 0, time.Minute)
	g.Expect(modest).NotTo(gomega.BeEmpty())
	g.Expect(v.known).To(gomega.HaveLen(Max))
	counts, _ := v.counts()
	greedy := idOf("greedy", 0)
	g.Expect(counts[greedy.owner()]).To(gomega.Equal(Max - 2))

	_, _, _, err = v.Create(t.Context(), New{Principal: "desk", Session: wire.Session{Instructions: strings.Repeat("x", longestText)}, Lifetime: time.Minute, Most: 10})
	g.Expect(err).To(gomega.MatchError(ErrTooLarge))
}

// While the store is away a secret begins no call and none is made. It is still known, so that it controls its calls.
func TestTheStoreOfSecretsIsAway(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	in.now = time.Now()
	v := NewShared(in)
	value, _, _ := create(v, "desk", 0, time.Minute)
	s, _, _ := find(v, value)
	in.away = true
	away, known, stale := find(v, value)
	g.Expect(known).To(gomega.BeTrue())
	g.Expect(stale).To(gomega.MatchError(ErrUnavailable))
	g.Expect(away.ID).To(gomega.Equal(s.ID))
	g.Expect(v.Use(t.Context(), s)).To(gomega.MatchError(ErrUnavailable))
	_, _, _, err := v.Create(t.Context(), New{Principal: "desk", Lifetime: time.Minute, Most: 3})
	g.Expect(err).To(gomega.MatchError(ErrUnavailable))
	v.GiveBack(t.Context(), s)
	_, known, _ = find(v, "ek_of_nobody")
	g.Expect(known).To(gomega.BeFalse())
}

// TestOnePrincipalDoesNotHoldUpTheSecretsOfAnother checks that a principal which asks for very many secrets at once leaves places for others, and is told so at once.
func TestOnePrincipalDoesNotHoldUpTheSecretsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewShared(newFake())
		v.one <- struct{}{} // a secret is being created, and takes its time
		results := make(chan error, 901)
		create := func(principal string) {
			_, _, _, err := v.Create(t.Context(), New{Principal: principal, Lifetime: time.Hour, Most: 2000})
			results <- err
		}
		for range 900 {
			go create("tenant")
		}
		synctest.Wait()
		for range 900 - maxCreating/2 {
			g.Expect(<-results).To(gomega.MatchError(ErrTooMany))
		}
		go create("another")
		synctest.Wait()
		g.Expect(v.places.Held()["another"]).To(gomega.BeEquivalentTo(1))
		<-v.one
		for range maxCreating/2 + 1 {
			g.Expect(<-results).NotTo(gomega.HaveOccurred())
		}
	})
}
