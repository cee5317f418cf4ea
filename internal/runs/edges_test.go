package runs

// The proof: the owner of a run is ended at each write of each story, before and after it, and the next owner brings the run to its end. Together the
// stories walk every row of the machine.

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// story is what a client does with runs, and how they may end.
type story struct {
	cfg  Config
	tell func(*world)
	ends []string // the codes of the results; "" is success
}

var stories = map[string]story{
	"a question and its answer": {
		ends: []string{"", codeUnknownStep},
		tell: func(w *world) {
			id := w.begin(plan{Ask: true}, run.RequireReply)
			w.until(id, "waiting_user")
			w.reply(id, Answer{Reply: []byte(`"yes"`)})
			w.until(id)
		},
	},
	"an approval although the run decides alone": {
		ends: []string{"", codeUnknownStep},
		tell: func(w *world) {
			id := w.begin(plan{Approval: true}, run.Auto)
			w.until(id, "waiting_user")
			w.reply(id, Answer{Approved: true})
			w.until(id)
		},
	},
	"a run that decides alone": {
		ends: []string{"", codeUnknownStep},
		tell: func(w *world) { w.until(w.begin(plan{Ask: true}, run.Auto)) },
	},
	"nobody answers": {
		ends: []string{"", codeUnknownStep},
		tell: func(w *world) { w.until(w.begin(plan{Ask: true}, run.AutoDecide)) },
	},
	"a failure": {
		ends: []string{"no_luck", codeUnknownStep},
		tell: func(w *world) { w.until(w.begin(plan{Fail: true}, run.Auto)) },
	},
	"canceled while it waits": {
		ends: []string{codeCanceled, codeUnknownStep},
		tell: func(w *world) {
			id := w.begin(plan{Ask: true}, run.RequireReply)
			if now := w.until(id, "waiting_user"); now.Result == nil {
				w.cancel(id)
			}
		},
	},
	"canceled while it runs, and in the queue": {
		cfg:  Config{MaxRunning: 1},
		ends: []string{codeCanceled, codeUnknownStep},
		tell: func(w *world) {
			first := w.begin(plan{Hold: true}, run.RequireReply)
			w.held(first, 3)
			second := w.begin(plan{Hold: true}, run.RequireReply)
			for _, id := range []string{second, first} {
				if now := w.until(id, "queued", "running"); now.Result == nil {
					w.cancel(id)
				}
			}
		},
	},
	"another owner goes on": {
		ends: []string{codeCanceled, codeUnknownStep},
		tell: func(w *world) {
			id := w.begin(plan{Hold: true}, run.RequireReply)
			w.held(id, 3)
			w.again()
			if now := w.held(id, 4); now.Result == nil {
				w.cancel(id)
			}
		},
	},
	"a tool that is gone after the restart": {
		cfg:  Config{MaxRunning: 1},
		ends: []string{codeNoWorker, codeUnknownStep},
		tell: func(w *world) {
			waits := w.begin(plan{Ask: true}, run.RequireReply)
			w.until(waits, "waiting_user")
			runs := w.begin(plan{Hold: true}, run.RequireReply)
			w.held(runs, 3)
			queued := w.begin(plan{Ask: true}, run.RequireReply)
			w.workers = nil
			w.again()
			for _, id := range []string{waits, runs, queued} {
				w.until(id)
			}
		},
	},
}

func TestAnOwnerIsEndedAtEachWrite(t *testing.T) {
	g, walked, crashes, disk := gomega.NewWithT(t), map[string]bool{}, 0, onDisk(t)
	crashedAt := map[string]bool{}
	for name, s := range stories {
		s.told(t, disk, name, 0, beforeWrite, walked, crashedAt)
		for _, at := range []moment{beforeWrite, afterWrite} {
			for n := 1; s.told(t, disk, name, n, at, walked, crashedAt); n++ {
				crashes++
			}
		}
	}
	var rows, stored []string
	for _, row := range run.Table {
		if row.Why != "" {
			continue
		}
		rows = append(rows, row.From+" "+row.Action)
		if row.From != row.To || row.Action == "Resume" {
			stored = append(stored, row.From+" "+row.Event)
		}
	}
	walkReplies(t, walked)
	g.Expect(sorted(walked)).To(gomega.ConsistOf(rows), "the rows of the table and the rows that were walked are the same")
	g.Expect(sorted(crashedAt)).To(gomega.ContainElements(stored))
	t.Logf("%d ends of an owner", crashes)
}

// told tells a story in a world whose owner is ended at a write, and checks what became of its runs. It reports whether the story has so many writes.
func (s story) told(t *testing.T, disk *store.Store, name string, crashAt int, at moment, walked, crashedAt map[string]bool) (crashed bool) {
	t.Run(fmt.Sprintf("%s/%d %s", name, crashAt, at), func(t *testing.T) {
		g, w := gomega.NewWithT(t), newWorld(t, disk, s.cfg, crashAt, at)
		s.tell(w)
		w.forgotten()
		ids := w.ids()
		for _, id := range ids {
			now := w.until(id)
			w.check(id)
			g.Expect(s.ends).To(gomega.ContainElement(now.Result.Code))
			if crashAt == 0 {
				g.Expect(now.Result.Code).NotTo(gomega.Equal(codeUnknownStep))
			}
			if now.Status == "succeeded" {
				g.Expect(w.done[id+" one"]).To(gomega.Equal(1))
			}
			g.Expect(w.done[id+" one"]).To(gomega.BeNumerically("<=", 1))
			g.Expect(w.done[id+" two"]).To(gomega.BeNumerically("<=", 2))
		}
		maps.Copy(walked, w.walked)
		crashedAt[w.crashed] = true
		crashed = w.crashedOnce
	})
	return crashed
}

// walkReplies walks the rows that answer a reply that comes at a wrong time.
func walkReplies(t *testing.T, walked map[string]bool) {
	t.Helper()
	g, w := gomega.NewWithT(t), newWorld(t, onDisk(t), Config{MaxRunning: 1}, 0, beforeWrite)
	wrong := func(id string) {
		t.Helper()
		_, err := w.runner.Reply(t.Context(), "p", id, "ia_7", Answer{Approved: true})
		g.Expect(err).To(gomega.MatchError(ErrResolved))
	}
	waits := w.begin(plan{Ask: true}, run.RequireReply)
	w.until(waits, "waiting_user")
	wrong(waits)
	runs := w.begin(plan{Hold: true}, run.RequireReply)
	w.held(runs, 3)
	wrong(runs)
	queued := w.begin(plan{}, run.RequireReply)
	wrong(queued)
	w.cancel(runs)
	wrong(runs)
	w.until(queued)
	wrong(queued)
	w.reply(waits, Answer{Reply: []byte(`1`)})
	w.until(waits)
	_, err := w.runner.Reply(t.Context(), "p", waits, "ia_1", Answer{Reply: []byte(`2`)})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("was answered already")))
	failed := w.begin(plan{Fail: true}, run.Auto)
	w.until(failed)
	wrong(failed)
	maps.Copy(walked, w.walked)
}

// A run whose owners die one after the other is taken over five times, and then given up.
func TestTheNextOwnerDiesToo(t *testing.T) {
	for n := range maxResumes + 2 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			g, w := gomega.NewWithT(t), newWorld(t, onDisk(t), Config{}, 0, beforeWrite)
			id := w.begin(plan{Hold: true}, run.RequireReply)
			held := func() bool {
				e, err := w.runner.book.last(t.Context(), key{hashed("p"), id})
				return err == nil && e.Result == nil && len(e.Messages) > 0 && e.Messages[0].Type == typeProgress
			}
			w.until(id, "running")
			g.Eventually(held, time.Minute, time.Millisecond).Should(gomega.BeTrue())
			for i := range n {
				w.again()
				if i < maxResumes {
					g.Eventually(func() (uint64, error) {
						now, err := w.runner.Get(t.Context(), "p", id)
						return now.Attempt, err
					}, time.Minute, time.Millisecond).Should(gomega.Equal(uint64(i + 2)))
				}
			}
			if n > maxResumes {
				g.Expect(w.until(id).Result.Code).To(gomega.Equal(codeLost))
			} else {
				w.cancel(id)
			}
			w.forgotten()
			w.check(id)
			g.Expect(w.done[id+" one"]).To(gomega.Equal(1))
		})
	}
}

// A turn that was taken over writes nothing any more.
func TestATurnThatWasTakenOver(t *testing.T) {
	g, w := gomega.NewWithT(t), newWorld(t, onDisk(t), Config{}, 0, beforeWrite)
	turns := make(chan *Turn, 1)
	w.runner.workers["job"].Work = w.work
	id := w.begin(plan{Hold: true}, run.RequireReply)
	w.until(id, "running")
	k := key{hashed("p"), id}
	g.Eventually(func() bool {
		w.runner.mu.Lock()
		defer w.runner.mu.Unlock()
		if old := w.runner.turns[k]; old != nil {
			turns <- old
			return true
		}
		return false
	}, time.Minute, time.Millisecond).Should(gomega.BeTrue())
	old := <-turns
	_, err := w.runner.book.step(t.Context(), k, func(*writing) run.Event { return run.Resume{Attempt: old.attempt + 1} })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(old.Progress(t.Context(), "from the old owner")).To(gomega.MatchError(ErrTaken))
	_, err = old.Ask(t.Context(), "more", Question{Prompt: "May I?"})
	g.Expect(errors.Is(err, ErrTaken)).To(gomega.BeTrue())
	w.cancel(id)
	w.check(id)
}
