package takeover

// Who may have a call, and how long a client waits for a store that hangs.

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
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

// TestWhoMayHaveACall: the client that began it, by its client secret if it has one and otherwise by its principal, over the same transport, before its end.
func TestWhoMayHaveACall(t *testing.T) {
	for _, began := range []string{"", "secret"} {
		for _, secret := range []string{"", "secret", "another secret"} {
			for _, principal := range []string{"", "ada", "mallory"} {
				for _, webRTC := range []bool{false, true} {
					for _, over := range []bool{false, true} {
						t.Run(fmt.Sprintf("%q %q %q %v %v", began, secret, principal, webRTC, over), func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								g := gomega.NewWithT(t)
								book := journal.New(journal.Config{Log: &journaltest.View{Log: &journaltest.Log{}}})
								w, seen := book.Begin("token", nil), link.NumberedID("event_1", 1, 1)
								w.Start(journal.Watch{Committed: func(uint64) {}, Fenced: func() {}})
								w.Record(journal.Record{State: &journal.State{Call: journal.Call{ID: "c", Principal: "ada", Secret: began, WebRTC: true, Began: time.Now().Unix()}, Client: journal.Client{Extended: true}, Events: []journal.Event{{ID: seen, Number: 1}}}})
								w.Close()
								if over {
									<-time.After(time.Hour)
								}
								taken, err := New(book, env.System()).Take(t.Context(), Request{
									Token: "token", After: seen, Principal: principal, Secret: secret, WebRTC: webRTC, Longest: time.Hour, Logger: slog.New(slog.DiscardHandler),
								})
								switch {
								case over, began != secret, began == "" && principal != "ada":
									g.Expect(err).To(gomega.MatchError(ErrUnknown))
								case !webRTC:
									g.Expect(err).To(gomega.MatchError(ErrTransport))
								default:
									g.Expect(err).NotTo(gomega.HaveOccurred())
									taken.Journal.Close()
								}
							})
						})
					}
				}
			}
		}
	}
}

// TestSomebodyElseDoesNotHoldUpTheClient: who has the token of a call and may not have the call gets the same answer as for any token, also while the client of the call takes
// it over, and the client does not wait.
func TestSomebodyElseDoesNotHoldUpTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		taking := New(journal.New(journal.Config{Log: hanging{&journaltest.View{Log: &journaltest.Log{}}}}), env.System())
		take := func(principal, secret string) error {
			_, err := taking.Take(t.Context(), Request{Token: "token", Principal: principal, Secret: secret, Logger: slog.New(slog.DiscardHandler)})
			return err
		}
		go func() { _ = take("ada", "") }() // the store hangs
		synctest.Wait()
		g.Expect(take("ada", "")).To(gomega.MatchError(link.ErrReconnecting))
		g.Expect(take("mallory", "")).NotTo(gomega.MatchError(link.ErrReconnecting))
		g.Expect(take("ada", "secret")).NotTo(gomega.MatchError(link.ErrReconnecting))
	})
}
