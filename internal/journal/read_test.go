package journal_test

// Reading a log while its owner writes.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
)

// movingLog calls a function once after the newest entry was read.
type movingLog struct {
	*journaltest.View
	moves func()
}

// Last implements journal.Log.
func (l *movingLog) Last(ctx context.Context, list string) (entry []byte, revision uint64, err error) {
	entry, revision, err = l.View.Last(ctx, list)
	if move := l.moves; move != nil {
		l.moves = nil
		move()
	}
	return entry, revision, err
}

// The owner stores its whole State in pieces, and removes what was before it, while another process reads the log.
func TestALogThatIsShortenedWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, log := gomega.NewWithT(t), &journaltest.Log{}
		o := started(journal.New(journal.Config{Log: &journaltest.View{Log: log}}).Begin(token, nil))
		o.Record(whole())
		picture := strings.Repeat("x", 300<<10)
		grow := func(to uint64) {
			for n := uint64(1); n <= to; n++ {
				o.Record(journal.Record{Items: []journal.Item{item(n, n-1, fmt.Sprint(n, picture))}, Last: n})
				synctest.Wait()
			}
		}
		grow(3)
		moving := &movingLog{View: &journaltest.View{Log: log}, moves: func() { grow(8) }}
		state, w, err := journal.New(journal.Config{Log: moving}).TakeOver(t.Context(), token, nil, anybody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(state.Items).To(gomega.HaveLen(8))
		w.Close()
		o.Close()
	})
}
