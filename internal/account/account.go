// Package account counts the bytes, or the places, that principals hold of something that all of them share.
package account

import (
	"errors"
	"io"
	"maps"
	"math"
	"sync"
)

// ErrFull says that a principal gets no more: its share, or all, is in use.
var ErrFull = errors.New("as much is in use as may be: try again in a moment")

// Budget is a number of bytes, or of places, that principals share. A principal holds at most as much as it leaves free for the others. So one principal alone gets half of
// all, each of n greedy ones gets 1/(n+1), and the next one always finds as much. A Budget remembers nothing of a principal that holds nothing. It is safe for concurrent use.
// nil has no limit.
type Budget struct {
	mu    sync.Mutex
	total int64
	used  int64
	held  map[string]int64
	freed chan struct{} // nil: nobody waits; closed when something is given back
}

// New returns a Budget of total.
func New(total int64) *Budget { return &Budget{total: total, held: map[string]int64{}} }

// Take takes n for a principal, or nothing and returns ErrFull.
func (b *Budget) Take(principal string, n int64) error {
	return Purse{Budget: b, Payer: principal}.take(n)
}

// take takes n if it leaves free as much as the principal then holds, so many times. The caller holds mu.
func (b *Budget) take(principal string, n, times int64) error {
	if (b.held[principal]+n)*times > b.total-b.used-n {
		return ErrFull
	}
	b.used += n
	b.held[principal] += n
	return nil
}

// Wait takes n for a principal as soon as there is room. It returns ErrFull, and takes nothing, if done comes first.
func (b *Budget) Wait(done <-chan struct{}, principal string, n int64) error {
	if b == nil {
		return nil
	}
	for {
		b.mu.Lock()
		if b.take(principal, n, 1) == nil {
			b.mu.Unlock()
			return nil
		}
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-done:
			return ErrFull
		}
	}
}

// Give gives back n that a principal has taken.
func (b *Budget) Give(principal string, n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.held[principal] -= n; b.held[principal] == 0 {
		delete(b.held, principal)
	}
	b.wake()
}

// Resize changes the budget to total. What was taken stays taken.
func (b *Budget) Resize(total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total = total
	b.wake()
}

// SetFree changes the budget so that n is left of it now. It is for a Budget of which others, who do not take from it, have a part as well.
func (b *Budget) SetFree(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total = b.used + n
	b.wake()
}

func (b *Budget) wake() {
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// Free returns how much is left of all; it is negative after a Resize to less than what was taken.
func (b *Budget) Free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total - b.used
}

// Account is what one call, or one connection, of a principal holds of a Budget. The first bytes are its own: they are not of the Budget. It is safe for concurrent use. nil has no limit.
type Account struct {
	purse Purse
	own   int64

	mu   sync.Mutex
	held int64
	over bool // Close was called
}

// Purse is a Budget and the principal that pays. The zero value has no limit.
type Purse struct {
	*Budget
	Payer string
	spare bool
}

// spareTimes is how many times what its payer holds a spare Purse leaves free.
const spareTimes = 3

// Spare returns the Purse for what its owner can drop at any time. It takes less: one principal alone gets a quarter of all for it, and has another quarter for all else.
func (p Purse) Spare() Purse { return Purse{p.Budget, p.Payer, true} }

func (p Purse) take(n int64) error {
	if p.Budget == nil || n == 0 {
		return nil
	}
	times := int64(1)
	if p.spare {
		times = spareTimes
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.Budget.take(p.Payer, n, times)
}

// Open returns an Account that holds nothing. own is how much it may hold beside the budget.
func (p Purse) Open(own int64) *Account { return &Account{purse: p, own: own} }

// Take takes n, or nothing and returns ErrFull.
func (a *Account) Take(n int64) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return ErrFull
	}
	err := a.purse.take(a.beyond(a.held+n) - a.beyond(a.held))
	if err == nil {
		a.held += n
	}
	return err
}

// Give gives back n. After Close there is nothing to give back.
func (a *Account) Give(n int64) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, a.held)
	a.purse.Give(a.purse.Payer, a.beyond(a.held)-a.beyond(a.held-n))
	a.held -= n
}

// Close gives back everything. Nothing can be taken any more.
func (a *Account) Close() {
	if a != nil {
		a.mu.Lock()
		a.over = true // first: nothing is taken between this and Give
		a.mu.Unlock()
	}
	a.Give(math.MaxInt64)
}

func (a *Account) closed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// Body returns a body of a request whose bytes are taken as they are read. What is read after Close is not counted.
func (a *Account) Body(of io.ReadCloser) io.ReadCloser { return &body{of, a} }

type body struct {
	io.ReadCloser
	account *Account
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 && b.account.Take(int64(n)) != nil && !b.account.closed() {
		return 0, ErrFull
	}
	return n, err
}

// beyond returns how much of n is of the budget.
func (a *Account) beyond(n int64) int64 { return max(0, n-a.own) }

// Held returns what each principal holds.
func (b *Budget) Held() map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.held)
}
