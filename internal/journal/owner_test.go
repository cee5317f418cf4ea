package journal_test

// What the owner of a call promises: how long an event waits, what a former owner leaves behind, and who may not write.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
)

// TestNoEventWaitsLongerThanPatience: however long the store takes for each write, and whatever it refuses, an event goes out at most 500 ms after its record was made.
func TestNoEventWaitsLongerThanPatience(t *testing.T) {
	const patience = 500 * time.Millisecond
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, store := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 3))
				slow := time.Duration(1+r.IntN(600)) * time.Millisecond
				book := journal.New(journal.Config{Log: hangingLog{&journaltest.View{Log: &journaltest.Log{}}, func(ctx context.Context) error {
					select {
					case <-time.After(slow):
					case <-ctx.Done():
						return ctx.Err()
					}
					if store.IntN(10) == 0 {
						return errors.New("refused")
					}
					return nil
				}}})
				o := started(book.Begin(token, nil))
				o.Record(whole())
				<-time.After(2 * time.Second)
				for n := range uint64(40) {
					o.Record(journal.Record{Items: []journal.Item{item(n+1, n, "x")}, Last: n + 1, Events: []journal.Event{said(n + 1)}})
					time.AfterFunc(patience+time.Millisecond, func() {
						if o.committed.Load() <= n {
							t.Errorf("event %d waits, and the newest that went out is %d", n+1, o.committed.Load())
						}
					})
					<-time.After(time.Duration(r.IntN(400)) * time.Millisecond)
				}
				<-time.After(2 * time.Second)
				o.Close()
			})
		})
	}
}

// keeping is a log whose lists cannot be removed.
type keeping struct{ *journaltest.View }

// Remove implements journal.Log.
func (keeping) Remove(context.Context, string) error { return errors.New("refused") }

// TestAnEndedCallIsOver: nobody continues a call that has ended, also if its log could not be removed.
func TestAnEndedCallIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		book := journal.New(journal.Config{Log: keeping{&journaltest.View{Log: log}}})
		o := started(book.Begin(token, nil))
		o.Record(whole(item(1, 0, "a")))
		o.Record(journal.Record{Ended: true})
		o.Close()
		g.Expect(log.Len()).NotTo(gomega.BeZero())
		_, err := book.Owner(t.Context(), token)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		_, _, err = book.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
	})
}

// TestANewOwnerWritesTheWholeState: the store removes entries that are old, so that a call must not need those of a former owner for longer than until the first record of the new one.
func TestANewOwnerWritesTheWholeState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		book := journal.New(journal.Config{Log: &journaltest.View{Log: log}})
		o := started(book.Begin(token, nil))
		o.Record(whole(item(1, 0, "a")))
		for n := range uint64(5) {
			o.Close()
			_, w, err := book.TakeOver(t.Context(), token, nil, anybody)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			o = started(w)
			o.Record(journal.Record{Events: []journal.Event{said(n + 1)}})
			synctest.Wait()
			g.Expect(log.Len()).To(gomega.Equal(1), "the State alone")
		}
		o.Close()
	})
}

// refusing is the log of a process whose store refuses every write after the first ones.
func refusing(log *journaltest.Log, first int) *journaltest.View {
	return &journaltest.View{Log: log, Before: func(n int) error {
		if n > first {
			return errors.New("refused")
		}
		return nil
	}}
}

// TestWhatIsNotStoredWhole: an event waits while the log has only a piece of its record, and while it has as many records as the event needs, but those of another owner.
func TestWhatIsNotStoredWhole(t *testing.T) {
	waits := func(t *testing.T, o *owner) {
		t.Helper()
		<-time.After(400 * time.Millisecond) // less than an event waits for the store
		gomega.NewWithT(t).Expect(o.committed.Load()).To(gomega.BeZero())
		o.Close()
	}
	t.Run("a piece of a record", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := started(journal.New(journal.Config{Log: refusing(&journaltest.Log{}, 2)}).Begin(token, nil))
			o.Record(whole())
			synctest.Wait()
			o.Record(journal.Record{Items: []journal.Item{item(1, 0, strings.Repeat("x", 1<<20))}, Last: 1, Events: []journal.Event{said(1)}})
			waits(t, o)
		})
	})
	t.Run("records of a former owner, who was faster after the store had lost its data", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			log := &journaltest.Log{}
			former := started(journal.New(journal.Config{Log: &journaltest.View{Log: log}}).Begin(token, nil))
			former.Record(whole())
			synctest.Wait()
			_, w, err := journal.New(journal.Config{Log: refusing(log, 2)}).TakeOver(t.Context(), token, nil, anybody)
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			log.Wipe()
			former.Record(journal.Record{Items: []journal.Item{item(1, 0, "x")}, Last: 1}) // it does not know that it is no owner any more
			synctest.Wait()
			o := started(w)
			o.Record(journal.Record{Events: []journal.Event{said(1)}})
			waits(t, o)
			former.Close()
		})
	})
}

// TestTwoOwnersWithOneEpoch: after the store has lost its data, an owner may claim the epoch of another one. Only the one whose claim is in the log goes on.
func TestTwoOwnersWithOneEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		book := func(node string) *journal.Book {
			return journal.New(journal.Config{Log: &journaltest.View{Log: log}, Node: node})
		}
		takeOver := func(node string) *owner {
			_, w, err := book(node).TakeOver(t.Context(), token, nil, anybody)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(w.Epoch()).To(gomega.Equal(uint32(2)))
			return started(w)
		}
		first := started(book("one").Begin(token, nil))
		first.Record(whole())
		synctest.Wait()
		lost := takeOver("two")
		log.Wipe()
		first.Record(journal.Record{Events: []journal.Event{said(1)}}) // it does not know that it is no owner any more
		synctest.Wait()
		next := takeOver("three")
		for _, o := range []*owner{lost, next} {
			o.Record(journal.Record{Events: []journal.Event{said(2)}})
			synctest.Wait()
		}
		g.Expect([]bool{lost.fenced.Load(), next.fenced.Load()}).To(gomega.Equal([]bool{true, false}))
		g.Expect([]uint64{lost.committed.Load(), next.committed.Load()}).To(gomega.Equal([]uint64{0, 2}))
		for _, o := range []*owner{first, lost, next} {
			o.Close()
		}
	})
}
