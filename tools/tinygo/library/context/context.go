// Package context stands for Go's in the program that TinyGo makes, which it makes smaller by what Go's needs to print a context,
// to take one of somebody else's make, and to be safe on many threads. There is one thread: nothing here waits, so nothing
// here is interrupted. What a program does without is left out: values, causes, and what belongs to them.
package context

import (
	"errors"
	"time"
)

// Context is as in Go.
type Context interface {
	Deadline() (deadline time.Time, ok bool)
	Done() <-chan struct{}
	Err() error
	Value(key any) any
}

// CancelFunc is as in Go.
type CancelFunc func()

// Canceled and DeadlineExceeded are as in Go.
var (
	Canceled         = errors.New("context canceled")
	DeadlineExceeded = errors.New("context deadline exceeded")
)

// node is every context there is.
type node struct {
	parent   *node
	children []*node
	done     chan struct{} // nil where nothing ends it
	err      error
	deadline time.Time
	timed    bool
	timer    *time.Timer
	ended    func() // begins in a goroutine of its own once the context has ended
}

func (n *node) Deadline() (time.Time, bool) { return n.deadline, n.timed }
func (n *node) Done() <-chan struct{}       { return n.done }
func (n *node) Err() error                  { return n.err }
func (n *node) Value(any) any               { return nil }

// Background is as in Go.
func Background() Context { return &node{} }

// WithCancel is as in Go.
func WithCancel(parent Context) (Context, CancelFunc) {
	n := under(parent, nil)
	return n, func() { n.end(Canceled) }
}

// WithTimeout is as in Go.
func WithTimeout(parent Context, timeout time.Duration) (Context, CancelFunc) {
	n := under(parent, nil)
	if at := time.Now().Add(timeout); n.err == nil && (!n.timed || at.Before(n.deadline)) {
		n.deadline, n.timed = at, true
		n.timer = time.AfterFunc(timeout, func() { n.end(DeadlineExceeded) })
	}
	return n, func() { n.end(Canceled) }
}

// AfterFunc is as in Go.
func AfterFunc(ctx Context, f func()) (stop func() bool) {
	n := under(ctx, f)
	return func() bool {
		if n.err != nil {
			return false
		}
		n.ended = nil
		n.end(Canceled)
		return true
	}
}

// under makes a context that ends with its parent.
func under(parent Context, ended func()) *node {
	p := parent.(*node)
	n := &node{parent: p, done: make(chan struct{}), deadline: p.deadline, timed: p.timed, ended: ended}
	if p.err != nil {
		n.end(p.err)
	} else if p.done != nil {
		p.children = append(p.children, n)
	}
	return n
}

func (n *node) end(err error) {
	if n.err != nil {
		return
	}
	n.err = err
	close(n.done)
	if n.timer != nil {
		n.timer.Stop()
	}
	if n.ended != nil {
		go n.ended()
	}
	for _, child := range n.children {
		child.parent = nil
		child.end(err)
	}
	n.children = nil
	n.parent.forget(n)
}

// forget takes a child that has ended away.
func (n *node) forget(child *node) {
	if n == nil {
		return
	}
	for i, one := range n.children {
		if one == child {
			last := len(n.children) - 1
			n.children[i], n.children[last] = n.children[last], nil
			n.children = n.children[:last]
			return
		}
	}
}
