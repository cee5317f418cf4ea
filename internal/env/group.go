package env

// Goroutines of one owner that end together.

import "sync"

// Group is goroutines of one owner that end together. The zero value is not valid; NewGroup makes one. It is safe for concurrent use.
type Group struct {
	env     Env
	running sync.WaitGroup
}

// NewGroup returns a group without goroutines.
func NewGroup(e Env) *Group { return &Group{env: e} }

// Go runs f on a goroutine of its own.
func (g *Group) Go(f func()) {
	g.running.Add(1)
	g.env.Go(func() {
		defer g.running.Done()
		f()
	})
}

// Wait returns when every goroutine of the group has ended. No goroutine may be added meanwhile, but by one of the group.
func (g *Group) Wait() { g.running.Wait() }
