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

	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/wire"
)

// fakeBucket is a Bucket in memory that has a clock of its own, and may be away.
type fakeBucket struct {
	*memory
	mu   sync.Mutex
	now  time.Time
	away bool
}

func newFake() *fakeBucket {
	return &fakeBucket{memory: newMemory(), now: time.Now().Add(time.Hour)}
}

var errAway = errors.New("away")

func (b *fakeBucket) reachable() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errAway
	}
	return nil
}

func (b *fakeBucket) Get(ctx context.Context, key string) (steps.Version, error) {
	if err := b.reachable(); err != nil {
		return steps.Version{}, err
	}
	return b.memory.Get(ctx, key)
}

func (b *fakeBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := b.reachable(); err != nil {
		return 0, err
	}
	return b.memory.Update(ctx, key, value, revision)
}

func (b *fakeBucket) Keys(ctx context.Context) (keys []string, err error) {
	if err := b.reachable(); err != nil {
		return nil, err
	}
	return b.memory.Keys(ctx)
}

func (b *fakeBucket) Now(context.Context) (time.Time, error) {
	return b.now, b.reachable()
}

// A secret of one server is known to the others with all its settings, until it expires by the clock of the store.
func TestServersShareSecrets(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	one, two := NewStore(in), NewStore(in)
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
	servers := []*Store{NewStore(in), NewStore(in), NewStore(in)}
	value, _, _ := create(servers[0], "desk", time.Minute)
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
		_, _, _, err := NewStore(in).Create(t.Context(), made)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	v := NewStore(in)
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
	modest, _, _ := create(v, "modest", time.Minute)
	g.Expect(modest).NotTo(gomega.BeEmpty())
	g.Expect(v.known).To(gomega.HaveLen(Max))
	counts, _, _ := v.counts()
	greedy := idOf("greedy", 0)
	g.Expect(counts[greedy.owner()]).To(gomega.Equal(Max - 2))

	_, _, _, err = v.Create(t.Context(), New{Principal: "desk", Session: wire.Session{Instructions: strings.Repeat("x", longestText)}, Lifetime: time.Minute, Most: 10})
	g.Expect(err).To(gomega.MatchError(ErrTooLarge))
}

// While the store is away a secret begins no call and none is made. It is still known, so that it controls its calls.
func TestTheStoreOfSecretsIsAway(t *testing.T) {
	g, in := gomega.NewWithT(t), newFake()
	in.now = time.Now()
	v := NewStore(in)
	value, _, _ := create(v, "desk", time.Minute)
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

// lateBucket is a Bucket that stores a value, and does not say so in time.
type lateBucket struct{ *fakeBucket }

func (b lateBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	_, err := b.fakeBucket.Update(ctx, key, value, revision)
	<-ctx.Done()
	return 0, errors.Join(err, ctx.Err())
}

// TestASecretThatIsRefusedDoesNotCount: if the store answers too late, nobody has the secret, and it takes no place of its principal.
func TestASecretThatIsRefusedDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, in := gomega.NewWithT(t), newFake()
		_, _, _, err := NewStore(lateBucket{in}).Create(t.Context(), New{Principal: "desk", Lifetime: time.Hour, Most: 1})
		g.Expect(err).To(gomega.MatchError(ErrUnavailable))
		_, _, _, err = NewStore(in).Create(t.Context(), New{Principal: "desk", Lifetime: time.Hour, Most: 1})
		g.Expect(err).NotTo(gomega.HaveOccurred())
	})
}

// TestOnePrincipalDoesNotHoldUpTheReadersOfAnother checks that a server reads few secrets of a principal at a time, and others beside them.
func TestOnePrincipalDoesNotHoldUpTheReadersOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewStore(nil)
		find := func(principal string) error {
			value, _, _, err := v.Create(t.Context(), New{Principal: principal, Lifetime: time.Hour, Most: 10})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			_, _, err = v.Find(t.Context(), value)
			return err
		}
		id := idOf("tenant", 0)
		g.Expect(v.reading.Take(string(id[:ownerSize]), maxReading/2)).To(gomega.Succeed()) // they are being read
		g.Expect(find("tenant")).To(gomega.MatchError(ErrUnavailable))
		g.Expect(find("another")).To(gomega.Succeed())
		g.Expect(v.reading.Free()).To(gomega.BeEquivalentTo(maxReading / 2))
	})
}

// TestOnePrincipalDoesNotHoldUpTheSecretsOfAnother checks that a principal which asks for very many secrets at once leaves places for others, and is told so at once.
func TestOnePrincipalDoesNotHoldUpTheSecretsOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		v := NewStore(newFake())
		v.creating <- struct{}{} // a secret is being created, and takes its time
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
		<-v.creating
		for range maxCreating/2 + 1 {
			g.Expect(<-results).NotTo(gomega.HaveOccurred())
		}
	})
}
