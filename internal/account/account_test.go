package account_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/account"
)

// TestShares checks that a principal leaves others as much as it holds, whatever it does, and that nothing stays of a principal that holds nothing.
func TestShares(t *testing.T) {
	g := gomega.NewWithT(t)
	b := account.New(120)
	for n := range int64(5) { // each principal takes as much as it gets
		name := fmt.Sprint(n)
		for b.Take(name, 1) == nil {
		}
		g.Expect(b.Held()[name]).To(gomega.BeNumerically(">=", b.Free()-1), "the share of %d", n)
		g.Expect(b.Held()[name]).To(gomega.BeNumerically("<=", b.Free()))
	}
	g.Expect(b.Take("another", 1)).To(gomega.Succeed())
	for name, n := range b.Held() {
		b.Give(name, n)
	}
	g.Expect(b.Held()).To(gomega.BeEmpty())
	g.Expect(b.Free()).To(gomega.BeEquivalentTo(120))
	g.Expect(b.Take("one", 61)).To(gomega.MatchError(account.ErrFull))
	g.Expect(b.Take("one", 20)).To(gomega.Succeed())
	b.SetFree(30) // others have the rest
	g.Expect(b.Take("one", 6)).To(gomega.MatchError(account.ErrFull))
	g.Expect(b.Take("one", 5)).To(gomega.Succeed())
	g.Expect(b.Free()).To(gomega.BeEquivalentTo(25))
	b.Give("one", 25)
	b.Resize(122)
	g.Expect(b.Take("one", 61)).To(gomega.Succeed())
	b.Resize(60)
	g.Expect(b.Free()).To(gomega.BeEquivalentTo(-1))
	g.Expect((*account.Budget)(nil).Take("one", 1<<40)).To(gomega.Succeed())
}

// TestWhatCanBeDroppedTakesLess: a spare Purse leaves its payer as much for what cannot be dropped as it has itself.
func TestWhatCanBeDroppedTakesLess(t *testing.T) {
	g := gomega.NewWithT(t)
	p := account.Purse{Budget: account.New(120), Payer: "one"}
	spare := p.Spare().Open(10)
	g.Expect(spare.Take(41)).To(gomega.MatchError(account.ErrFull))
	g.Expect(spare.Take(40)).To(gomega.Succeed(), "a quarter of all, and its own")
	g.Expect(p.Open(0).Take(30)).To(gomega.Succeed())
	g.Expect(p.Open(0).Take(1)).To(gomega.MatchError(account.ErrFull))
	spare.Give(1)
	g.Expect(spare.Take(1)).To(gomega.MatchError(account.ErrFull), "the others have it now")
	spare.Close()
	g.Expect(p.Held()).To(gomega.Equal(map[string]int64{"one": 30}))
	g.Expect((account.Purse{}).Spare().Open(0).Take(1 << 40)).To(gomega.Succeed())
}

// TestWait checks that a principal waits until there is room for it, and no longer than it wants.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		b := account.New(10)
		g.Expect(b.Take("one", 5)).To(gomega.Succeed())
		done, got := make(chan struct{}), make(chan error, 1)
		go func() { got <- b.Wait(done, "one", 3) }()
		synctest.Wait()
		g.Expect(got).NotTo(gomega.Receive())
		b.Give("one", 5)
		g.Expect(<-got).To(gomega.Succeed())
		go func() { got <- b.Wait(done, "one", 3) }()
		synctest.Wait()
		close(done)
		g.Expect(<-got).To(gomega.MatchError(account.ErrFull))
		b.Give("one", 3)
		g.Expect(b.Held()).To(gomega.BeEmpty())
	})
}

// TestABodyIsReadOn: a request that was offered to another server is read here to its end, when the Account that counted it is closed.
func TestABodyIsReadOn(t *testing.T) {
	g := gomega.NewWithT(t)
	budget := account.New(100)
	a := account.Purse{Budget: budget, Payer: "desk"}.Open(0)
	b := a.Body(io.NopCloser(strings.NewReader("offer")))
	g.Expect(io.ReadAll(io.LimitReader(b, 2))).To(gomega.BeEquivalentTo("of"))
	g.Expect(budget.Free()).To(gomega.BeEquivalentTo(98))
	a.Close()
	g.Expect(io.ReadAll(b)).To(gomega.BeEquivalentTo("fer"))
	g.Expect(budget.Free()).To(gomega.BeEquivalentTo(100))
}

// TestNothingIsTakenAfterClose: what is taken while an Account is closed is given back, or not taken.
func TestNothingIsTakenAfterClose(t *testing.T) {
	g := gomega.NewWithT(t)
	budget := account.New(1 << 30)
	for range 5000 {
		a, taking := account.Purse{Budget: budget, Payer: "desk"}.Open(0), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			close(taking)
			for a.Take(1) == nil {
			}
		})
		<-taking
		a.Close()
		all.Wait()
	}
	g.Expect(budget.Held()).To(gomega.BeEmpty())
}
