package journal_test

// The journal of a call: what is stored, what may go to the client, and who may write.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
	"github.com/antiphon-rt/antiphon/wire"
)

const token = "token"

// whole is the first record of a call.
func whole(items ...journal.Item) journal.Record {
	return journal.Record{State: &journal.State{
		Call: journal.Call{ID: "ws_1", Principal: "ada"}, Client: journal.Client{Extended: true}, Items: items, Last: uint64(len(items)),
	}}
}

func item(num, after uint64, text string) journal.Item {
	return journal.Item{Num: num, After: after, Item: wire.Item{ID: fmt.Sprint("item_", num), Type: "message", Content: []wire.Content{{Type: "input_text", Text: text}}}}
}

func said(number uint64) journal.Event {
	return journal.Event{ID: fmt.Sprint("event_", number), Type: "x", Text: []byte("{}"), Number: number}
}

func anybody(*journal.State) bool { return true }

// owner is a Writer, and what it has told its session.
type owner struct {
	*journal.Writer
	committed atomic.Uint64
	fenced    atomic.Bool
}

func started(w *journal.Writer) *owner {
	o := &owner{Writer: w}
	w.Start(journal.Watch{Committed: o.committed.Store, Fenced: func() { o.fenced.Store(true) }})
	return o
}

func texts(s journal.State) (all []string) {
	for _, it := range s.Items {
		all = append(all, it.Item.Content[0].Text)
	}
	return all
}

func TestACallIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		one, two := journal.New(journal.Config{Log: &journaltest.View{Log: log}}), journal.New(journal.Config{Log: &journaltest.View{Log: log}})
		_, err := two.Find(t.Context(), token)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		o := started(one.Begin(token, nil))
		o.Record(whole(item(1, 0, "a")))
		o.Record(journal.Record{Items: []journal.Item{item(2, 1, "c")}, Last: 2, Events: []journal.Event{said(1)}, Taken: "e1"})
		o.Record(journal.Record{Items: []journal.Item{item(3, 1, "b"), item(1, 0, "A")}, Last: 3, Events: []journal.Event{said(2)}})
		synctest.Wait()
		g.Expect(o.committed.Load()).To(gomega.Equal(uint64(2)))

		state, w, err := two.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(texts(*state)).To(gomega.Equal([]string{"A", "b", "c"}))
		g.Expect([]any{state.Last, state.Taken, state.Newest(), state.Call.Principal}).To(gomega.Equal([]any{uint64(3), "e1", uint64(2), "ada"}))
		g.Expect([]uint32{o.Epoch(), w.Epoch()}).To(gomega.Equal([]uint32{1, 2}))
		g.Expect(o.fenced.Load()).To(gomega.BeFalse(), "it does not know yet")
		o.Record(journal.Record{Items: []journal.Item{item(4, 3, "lost")}, Last: 4, Events: []journal.Event{said(3)}})
		synctest.Wait()
		g.Expect(o.fenced.Load()).To(gomega.BeTrue())
		g.Expect(o.committed.Load()).To(gomega.Equal(uint64(2)), "the client of the former owner gets nothing more")

		next := started(w)
		next.Record(journal.Record{Removed: []uint64{2}, Events: []journal.Event{said(3)}})
		synctest.Wait()
		g.Expect(next.committed.Load()).To(gomega.Equal(uint64(3)))
		found, err := one.Find(t.Context(), token)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(texts(found)).To(gomega.Equal([]string{"A", "b"}))
		g.Expect(o.Owns(t.Context())).To(gomega.BeFalse())
		g.Expect(next.Owns(t.Context())).To(gomega.BeTrue())
		o.Record(journal.Record{Ended: true})
		o.Close()
		g.Expect(log.Len()).NotTo(gomega.BeZero(), "a former owner removes nothing")
		next.Record(journal.Record{Ended: true})
		next.Close()
		g.Expect(log.Len()).To(gomega.BeZero())
		taken, _ := two.Counts()
		g.Expect(taken).To(gomega.Equal(uint64(1)))
	})
}

// Each step of both owners' machines is traced, and goes on from the one before it.
func TestStepsAreTraced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		steps := map[uint32][]string{}
		book := journal.New(journal.Config{Log: &journaltest.View{Log: log}, Trace: func(list string, epoch uint32, e journal.Edge) {
			g.Expect(list).To(gomega.HaveLen(64), "the token does not follow from it")
			steps[epoch] = append(steps[epoch], e.From.Name()+" "+e.Event.Name()+" "+e.To.Name())
		}})
		o := started(book.Begin(token, nil))
		o.Record(whole(item(1, 0, "a")))
		synctest.Wait()
		_, w, err := book.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		o.Record(journal.Record{Items: []journal.Item{item(2, 1, "lost")}, Last: 2})
		synctest.Wait()
		o.Close()
		w.Close()
		g.Expect(steps[1]).To(gomega.HaveExactElements(
			"Waiting Begin Resting", "Resting Recorded Writing", "Writing Stored Resting",
			"Resting Begin Resting", "Resting Recorded Writing", "Writing Conflict Doubtful", "Doubtful Taken Fenced"))
		g.Expect(steps[2]).To(gomega.HaveExactElements("Waiting Begin Resting", "Resting Stop Closed"))
	})
}

func TestSomebodyElseGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		book := journal.New(journal.Config{Log: &journaltest.View{Log: log}})
		o := started(book.Begin(token, nil))
		o.Record(whole())
		synctest.Wait()
		_, _, err := book.TakeOver(t.Context(), token, nil, func(s *journal.State) bool { return s.Call.Principal == "mallory" })
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		_, _, err = book.TakeOver(t.Context(), "another token", nil, anybody)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		g.Expect(o.Owns(t.Context())).To(gomega.BeTrue())
		o.Close()
	})
}

// The newest entry of a log names the owner of the call, who may have begun it or taken it over.
func TestTheLogNamesTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		one := journal.New(journal.Config{Log: &journaltest.View{Log: log}, Node: "one"})
		two := journal.New(journal.Config{Log: &journaltest.View{Log: log}, Node: strings.Repeat("two", 100)})
		_, err := two.Owner(t.Context(), token)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		o := started(one.Begin(token, nil))
		o.Record(whole())
		synctest.Wait()
		g.Expect(two.Owner(t.Context(), token)).To(gomega.Equal("one"))
		_, w, err := two.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(one.Owner(t.Context(), token)).To(gomega.HavePrefix("twotwo"))
		next := started(w)
		next.Record(journal.Record{Events: []journal.Event{said(1)}})
		synctest.Wait()
		g.Expect(one.Owner(t.Context(), token)).To(gomega.HavePrefix("twotwo"))
		next.Record(journal.Record{Ended: true})
		next.Close()
		_, err = one.Owner(t.Context(), token)
		g.Expect(err).To(gomega.MatchError(journal.ErrUnknown))
		o.Close()
	})
}

// When the store has lost its data, each call writes its whole State again, also one in which nothing happens, and can be taken over. A former owner that writes first is fenced
// nevertheless.
func TestTheStoreLosesItsData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		one, two := journal.New(journal.Config{Log: &journaltest.View{Log: log}}), journal.New(journal.Config{Log: &journaltest.View{Log: log}})
		o := started(one.Begin(token, nil))
		o.Record(whole())
		o.Record(journal.Record{Events: []journal.Event{said(2)}})
		synctest.Wait()
		log.Wipe()
		one.WriteAgain()
		synctest.Wait()
		g.Expect(one.Without()).To(gomega.BeZero())
		state, w, err := two.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(state.Newest()).To(gomega.Equal(uint64(2)), "nothing is missing")
		next := started(w)
		log.Wipe()
		one.WriteAgain()
		synctest.Wait()
		g.Expect(o.fenced.Load()).To(gomega.BeFalse(), "it cannot know of the next owner")
		two.WriteAgain()
		synctest.Wait()
		one.WriteAgain()
		synctest.Wait()
		g.Expect(o.fenced.Load()).To(gomega.BeTrue())
		next.Record(journal.Record{Events: []journal.Event{said(3)}})
		synctest.Wait()
		g.Expect(next.committed.Load()).To(gomega.Equal(uint64(3)))
		last, err := one.Find(t.Context(), token)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(last.Newest()).To(gomega.Equal(uint64(3)))
		g.Expect(last.Epoch).To(gomega.Equal(uint32(2)))
		next.Record(journal.Record{Ended: true})
		next.Close()
		o.Close()
	})
}

// A client that cannot reconnect waits for nothing, and nothing of it is stored.
func TestNothingIsStoredBeforeTheClientCanReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		o := started(journal.New(journal.Config{Log: &journaltest.View{Log: log}}).Begin(token, nil))
		o.Record(journal.Record{Events: []journal.Event{said(1)}})
		synctest.Wait()
		g.Expect(o.committed.Load()).To(gomega.Equal(uint64(1)))
		g.Expect(log.Len()).To(gomega.BeZero())
		o.Close()
	})
}

// TestTheStoreFails: the events go out after a bounded time. When the store is back, the whole State is stored, and events wait again.
func TestTheStoreFails(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"it refuses": func(context.Context) error { return errors.New("full") },
		"it hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, log := gomega.NewWithT(t), &journaltest.Log{}
				var broken atomic.Bool
				view := &journaltest.View{Log: log}
				hanging := hangingLog{view, func(ctx context.Context) error {
					if broken.Load() {
						return fail(ctx)
					}
					return nil
				}}
				book := journal.New(journal.Config{Log: hanging})
				o := started(book.Begin(token, nil))
				o.Record(whole())
				synctest.Wait()
				broken.Store(true)
				began := time.Now()
				o.Record(journal.Record{Items: []journal.Item{item(1, 0, "a")}, Last: 1, Events: []journal.Event{said(1)}})
				g.Eventually(o.committed.Load).Should(gomega.Equal(uint64(1)))
				g.Expect(time.Since(began)).To(gomega.BeNumerically("<=", time.Second))
				o.Record(journal.Record{Events: []journal.Event{said(2)}})
				g.Expect(o.committed.Load()).To(gomega.Equal(uint64(2)), "at once")
				_, unjournalled := book.Counts()
				g.Expect(unjournalled).To(gomega.Equal(uint64(1)))
				g.Expect(book.Without()).To(gomega.Equal(1))
				before, err := book.Find(t.Context(), token)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(before.Newest()).To(gomega.BeZero(), "what another process would go on from is older than what the client has seen")

				broken.Store(false)
				g.Eventually(func() uint64 {
					found, err := book.Find(t.Context(), token)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					return found.Newest()
				}, 5*time.Second).Should(gomega.Equal(uint64(2)))
				found, _ := book.Find(t.Context(), token)
				g.Expect(texts(found)).To(gomega.Equal([]string{"a"}))
				o.Record(journal.Record{Events: []journal.Event{said(3)}})
				synctest.Wait()
				found, _ = book.Find(t.Context(), token)
				g.Expect(found.Newest()).To(gomega.Equal(uint64(3)))
				g.Expect(book.Without()).To(gomega.BeZero())
				broken.Store(true)
				o.Record(journal.Record{Events: []journal.Event{said(4)}})
				g.Eventually(book.Without).Should(gomega.Equal(1))
				o.Close()
				g.Expect(book.Without()).To(gomega.BeZero(), "the call is gone")
			})
		})
	}
}

// hangingLog is a log whose writes may fail or hang.
type hangingLog struct {
	*journaltest.View
	fail func(context.Context) error
}

// Append implements journal.Log.
func (h hangingLog) Append(ctx context.Context, list string, entry []byte, last uint64) (uint64, error) {
	if err := h.fail(ctx); err != nil {
		return 0, err
	}
	return h.View.Append(ctx, list, entry, last)
}

// A write whose answer is lost has happened. Its writer is not fenced by itself.
func TestALostAnswerOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log, After: func(n int) error {
			if n == 2 {
				return errors.New("the answer is lost")
			}
			return nil
		}}
		book := journal.New(journal.Config{Log: view})
		o := started(book.Begin(token, nil))
		o.Record(whole())
		synctest.Wait()
		for n := uint64(1); n <= 5; n++ {
			o.Record(journal.Record{Items: []journal.Item{item(n, n-1, fmt.Sprint(n))}, Last: n, Events: []journal.Event{said(n)}})
			synctest.Wait()
			<-time.After(2 * time.Second)
		}
		g.Expect(o.fenced.Load()).To(gomega.BeFalse())
		found, err := book.Find(t.Context(), token)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(texts(found)).To(gomega.Equal([]string{"1", "2", "3", "4", "5"}))
		o.Close()
	})
}

// A large State is stored in pieces. An owner that ends between them leaves the State before. The log stays short.
func TestALargeCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		view := &journaltest.View{Log: log}
		book := journal.New(journal.Config{Log: view})
		o := started(book.Begin(token, nil))
		o.Record(whole())
		synctest.Wait()
		picture := strings.Repeat("x", 300<<10)
		for n := uint64(1); n <= 8; n++ {
			o.Record(journal.Record{Items: []journal.Item{item(n, n-1, fmt.Sprint(n, picture))}, Last: n})
			synctest.Wait()
		}
		found, err := book.Find(t.Context(), token)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(found.Items).To(gomega.HaveLen(8))
		for n := range 100 {
			o.Record(journal.Record{Items: []journal.Item{item(uint64(n%8)+1, 0, fmt.Sprint(n, picture))}})
			synctest.Wait()
		}
		g.Expect(log.Len()).To(gomega.BeNumerically("<", 30), "the entries before a State are removed")
		found, err = book.Find(t.Context(), token)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(texts(found)[3]).To(gomega.HavePrefix("99x"))
		o.Close()

		two := journal.New(journal.Config{Log: &journaltest.View{Log: log}})
		state, w, err := two.TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(state.Items).To(gomega.HaveLen(8))
		w.Close()
	})
}

// TestATooLargeCall: a call that is too large for the journal goes on without one, and the log says why. While it does not change, the Writer does not write it as JSON again
// and again. It is journalled again once it has room.
func TestATooLargeCall(t *testing.T) {
	for name, text := range map[string]string{"as it is": strings.Repeat("x", 3<<20), "as JSON": strings.Repeat("\x01", 1<<20)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gomega.NewWithT(t)
				var said bytes.Buffer
				book := journal.New(journal.Config{Log: &journaltest.View{Log: &journaltest.Log{}}, Logger: slog.New(slog.NewTextHandler(&said, nil))})
				o := started(book.Begin(token, nil))
				defer o.Close()
				o.Record(whole(item(1, 0, text), item(2, 1, text)))
				<-time.After(time.Second)
				synctest.Wait()
				g.Expect(book.Without()).To(gomega.Equal(1))
				g.Expect(said.String()).To(gomega.ContainSubstring("it is larger than a journal may be"))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				<-time.After(time.Minute)
				synctest.Wait()
				runtime.ReadMemStats(&after)
				g.Expect(after.TotalAlloc-before.TotalAlloc).To(gomega.BeNumerically("<", 50<<20), "once a second it would be some 1000 MiB")
				o.Record(journal.Record{Removed: []uint64{1, 2}})
				<-time.After(2 * time.Second)
				synctest.Wait()
				g.Expect(book.Without()).To(gomega.BeZero())
			})
		})
	}
}

// slowLog is a log that does one thing at a time, and takes its time for it.
type slowLog struct {
	*journaltest.View
	one chan struct{}
}

func (l slowLog) take(ctx context.Context) error {
	select {
	case l.one <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-time.After(6 * time.Millisecond)
	<-l.one
	return nil
}

// Append implements journal.Log.
func (l slowLog) Append(ctx context.Context, list string, entry []byte, last uint64) (uint64, error) {
	if err := l.take(ctx); err != nil {
		return 0, err
	}
	return l.View.Append(ctx, list, entry, last)
}

// Remove implements journal.Log.
func (l slowLog) Remove(ctx context.Context, list string) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	return l.View.Remove(ctx, list)
}

// TestManyCallsEndAtOnce: each of them leaves nothing in the store.
func TestManyCallsEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		book := journal.New(journal.Config{Log: slowLog{&journaltest.View{Log: log}, make(chan struct{}, 1)}})
		var calls []*owner
		for n := range 250 {
			o := started(book.Begin(fmt.Sprint("call ", n), nil))
			o.Record(whole())
			<-time.After(10 * time.Millisecond)
			calls = append(calls, o)
		}
		synctest.Wait()
		g.Expect(log.Len()).To(gomega.Equal(len(calls)))
		var ends sync.WaitGroup
		for _, o := range calls {
			o.Record(journal.Record{Ended: true})
			ends.Go(o.Close)
		}
		ends.Wait()
		g.Expect(log.Len()).To(gomega.BeZero())
	})
}
