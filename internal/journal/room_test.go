package journal_test

// How calls share the room of all journals.

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
	"github.com/antiphon-rt/antiphon/wire"
)

// TestALargeCallLeavesRoomToOthers: while the journals take more than half of the room, a large call may not grow, and a small one may. A large one that is taken over, or that gets smaller, is journalled.
func TestALargeCallLeavesRoomToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log, Most: 2 << 20}
		var said bytes.Buffer
		book := journal.New(journal.Config{Log: view, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		picture, full := strings.Repeat("x", 300<<10), errors.New("more than half is used")
		large, small := started(book.Begin(token, nil)), started(book.Begin("small", nil))
		defer small.Close()
		large.Record(whole(item(1, 0, picture)))
		small.Record(whole(item(1, 0, "hello")))
		synctest.Wait()
		view.HalfFull.Store(&full)
		small.Record(journal.Record{Items: []journal.Item{item(2, 1, strings.Repeat("x", 100<<10))}, Last: 2})
		<-time.After(2 * time.Second)
		g.Expect(book.Without()).To(gomega.BeZero())
		large.Record(journal.Record{Items: []journal.Item{item(2, 1, picture)}, Last: 2})
		<-time.After(2 * time.Second)
		synctest.Wait()
		g.Expect(book.Without()).To(gomega.Equal(1))
		g.Expect(said.String()).To(gomega.ContainSubstring("more than half is used"))
		large.Record(journal.Record{Removed: []uint64{2}})
		<-time.After(2 * time.Second)
		synctest.Wait()
		g.Expect(book.Without()).To(gomega.BeZero())
		large.Close()

		_, w, err := book.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		next := started(w)
		next.Record(journal.Record{Client: &journal.Client{Extended: true, TimeZone: "Europe/Oslo"}})
		<-time.After(2 * time.Second)
		synctest.Wait()
		g.Expect(book.Without()).To(gomega.BeZero(), "it is about as large as before")
		next.Record(journal.Record{Ended: true})
		next.Close()
		_, err = book.Find(t.Context(), token)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown), "its end takes its room in any case: the journal is removed")
	})
}

// TestLargeSettingsAreStoredOnce: however often a client changes settings that are more than half of the state, the journal of its call has them once.
func TestLargeSettingsAreStoredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, size = 64 << 20, 1 << 20
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log, Most: most}
		o := started(journal.New(journal.Config{Log: view}).Begin(token, nil))
		defer o.Close()
		set := func(n int) *wire.Session {
			return &wire.Session{Type: "realtime", Instructions: fmt.Sprint(n, strings.Repeat("x", size))}
		}
		first := whole()
		first.State.Settings = *set(0)
		o.Record(first)
		for n := range 20 {
			o.Record(journal.Record{Settings: set(n), Events: []journal.Event{said(uint64(n + 1))}})
			synctest.Wait()
			left, err := view.Left(t.Context())
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(most-left).To(gomega.BeNumerically("<", size*3/2), "after %d changes", n+1)
		}
	})
}

// TestAPrincipalLeavesRoomToOthers: the journals of a principal's calls take at most as much as they leave free, however many small calls there are, and on however many servers.
func TestAPrincipalLeavesRoomToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most, size = 1 << 20, 50 << 10
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log, Most: most}
		var said bytes.Buffer
		here := journal.New(journal.Config{Log: view, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		there := journal.New(journal.Config{Log: &journaltest.View{Log: log, Most: most}})
		var all []*owner
		begin := func(in *journal.Book, principal string, calls int) *owner {
			for range calls {
				o := started(in.Begin(fmt.Sprint("call ", len(all)), nil))
				r := whole(item(1, 0, strings.Repeat("x", size)))
				r.State.Call.Principal = principal
				o.Record(r)
				all = append(all, o)
				<-time.After(2 * time.Second)
			}
			synctest.Wait()
			return all[len(all)-1]
		}
		free := func() int64 {
			left, err := view.Left(t.Context())
			g.Expect(err).NotTo(gomega.HaveOccurred())
			return left
		}
		greedy := begin(here, "greedy", 30)
		g.Expect(here.Without()).To(gomega.BeNumerically(">", 15))
		g.Expect(free()).To(gomega.BeNumerically(">=", most/2))
		g.Expect(said.String()).To(gomega.ContainSubstring("the journals of the calls of greedy leave too little to others"))
		refused := here.Without()

		begin(here, "modest", 2)
		g.Expect(here.Without()).To(gomega.Equal(refused), "another principal has room")
		begin(there, "greedy", 10)
		g.Expect(free()).To(gomega.BeNumerically(">=", most/5), "a second server leaves room, too")
		begin(here, "modest", 1)
		g.Expect(here.Without()).To(gomega.Equal(refused))

		for _, o := range all[:10] { // what ends makes room
			o.Record(journal.Record{Ended: true})
			o.Close()
		}
		greedy.Record(journal.Record{Items: []journal.Item{item(2, 1, "more")}, Last: 2})
		<-time.After(2 * time.Second)
		synctest.Wait()
		g.Expect(here.Without()).To(gomega.BeNumerically("<", refused))
		for _, o := range all {
			o.Record(journal.Record{Ended: true})
			o.Close()
		}
		g.Expect(log.Len()).To(gomega.BeZero())
	})
}

// TestWhoHasLittleGrowsBesideWhoHasMuch: while the journals take more than half of the room, a large call of a principal that has little grows, and one of the principal
// that has most does not.
func TestWhoHasLittleGrowsBesideWhoHasMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log, Most: 16 << 20}
		book := journal.New(journal.Config{Log: view, Logger: slog.New(slog.DiscardHandler)})
		text, full := strings.Repeat("x", 300<<10), errors.New("more than half is used")
		record := func(o *owner, r journal.Record) (without int) {
			o.Record(r)
			<-time.After(2 * time.Second)
			synctest.Wait()
			return book.Without()
		}
		begin := func(principal string) *owner {
			o, r := started(book.Begin(principal, nil)), whole(item(1, 0, text))
			t.Cleanup(o.Close)
			r.State.Call.Principal = principal
			g.Expect(record(o, r)).To(gomega.BeZero())
			return o
		}
		greedy := begin("greedy")
		for i := range uint64(8) {
			g.Expect(record(greedy, journal.Record{Items: []journal.Item{item(2+i, 1+i, text)}, Last: 2 + i})).To(gomega.BeZero())
		}
		view.HalfFull.Store(&full)
		modest := begin("modest")
		g.Expect(record(modest, journal.Record{Items: []journal.Item{item(2, 1, text)}, Last: 2})).To(gomega.BeZero())
		g.Expect(record(greedy, journal.Record{Items: []journal.Item{item(10, 9, text)}, Last: 10})).To(gomega.Equal(1))
	})
}
