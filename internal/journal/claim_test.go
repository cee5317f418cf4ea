package journal_test

// Claims of calls whose answer is lost.

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
)

// A claim whose answer is lost has happened. That of another process with the same epoch is no claim of one's own.
func TestALostAnswerToAClaim(t *testing.T) {
	for name, rival := range map[string]bool{"it is stored": false, "another process was first": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, log := gomega.NewWithT(t), &journaltest.Log{}
				one, other := journal.New(journal.Config{Log: &journaltest.View{Log: log}}), journal.New(journal.Config{Log: &journaltest.View{Log: log}})
				o := started(one.Begin(token, nil))
				o.Record(whole(item(1, 0, "a")))
				synctest.Wait()
				o.Close()
				lost := errors.New("the answer is lost")
				view, want := &journaltest.View{Log: log}, uint32(2)
				view.After = func(int) error { return lost }
				if rival {
					want = 3
					view.After, view.Before = nil, func(n int) error {
						if n > 1 {
							return nil
						}
						_, w, err := other.TakeOver(t.Context(), token, nil, anybody)
						g.Expect(err).NotTo(gomega.HaveOccurred())
						w.Close()
						return lost
					}
				}
				two := journal.New(journal.Config{Log: view})
				state, w, err := two.TakeOver(t.Context(), token, nil, anybody)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(texts(*state)).To(gomega.Equal([]string{"a"}))
				g.Expect([]uint32{w.Epoch(), state.Epoch}).To(gomega.Equal([]uint32{want, want}))
				view.Before, view.After = nil, nil
				next := started(w)
				next.Record(journal.Record{Events: []journal.Event{said(1)}})
				synctest.Wait()
				g.Expect(next.committed.Load()).To(gomega.Equal(uint64(1)), "it can write")
				next.Close()
			})
		})
	}
}
