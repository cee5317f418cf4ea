package takeover

// A store that hangs: how long a client waits for it.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/journal/journaltest"
)

// hanging is a log whose newest entries cannot be read.
type hanging struct{ *journaltest.View }

// Last implements journal.Log.
func (hanging) Last(ctx context.Context, _ string) ([]byte, uint64, error) {
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

// A process that has a call lets its client wait for one second at most when the store hangs, and is taken for the owner.
func TestAnOwnerWaitsBrieflyForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		w := journal.New(journal.Config{Log: hanging{&journaltest.View{Log: &journaltest.Log{}}}}).Begin("token", nil)
		defer w.Close()
		began := time.Now()
		owns, err := Owns(t.Context(), w)
		g.Expect(owns).To(gomega.BeTrue())
		g.Expect(err).To(gomega.MatchError(ErrUnavailable))
		g.Expect(time.Since(began)).To(gomega.Equal(time.Second))
	})
}
