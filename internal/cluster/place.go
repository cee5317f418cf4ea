package cluster

// Placing: a new call begins on the server with the lowest load, if it is clearly lower.

import (
	"net/http"
	"slices"
	"time"
)

// clearly is by how much the share of another server (shareOf) must be lower than that of this one before it gets a new call. With less, passing the call on costs more
// than it gains, and the figures are up to a second old.
const clearly = 0.1

// placeTries is how many other servers a server asks that drains or is full.
const placeTries = 3

// Place passes the request for a new call on to the server with the lowest load, if this one drains or is full, or (unless onlyIfFull) if that load is clearly lower. A request that
// another server has passed on stays here. Place reports false if no other server has answered the client. Then this one answers.
func (n *Node) Place(w http.ResponseWriter, r *http.Request, onlyIfFull bool) (answered bool) {
	if r.Context().Value(passedKey{}) != nil {
		return false
	}
	n.mu.Lock()
	load := n.load
	n.mu.Unlock()
	if load == nil {
		return false
	}
	own, tries := load(), 1
	if own.Full || own.Draining {
		tries = placeTries
	}
	var asked []string
	for len(asked) < tries && r.Context().Err() == nil {
		to := n.table.place(own, onlyIfFull, time.Now(), asked...)
		if to == nil {
			break
		}
		if n.send(w, r, sending{to: to, anew: true}) {
			return true
		}
		asked = append(asked, to.id)
	}
	return false
}

// place returns the server that gets a new call, none of those that were asked, and counts the call; nil for this server, whose load is own.
func (t *table) place(own Load, onlyIfFull bool, now time.Time, asked ...string) *peer {
	most := shareOf(own) - clearly
	switch {
	case own.Full || own.Draining:
		most = 1
	case onlyIfFull:
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var least *peer
	for _, p := range t.peers {
		if p.Full || p.Draining || now.Sub(p.heard) >= t.silence || now.Before(p.avoid) || now.Before(p.refused) || slices.Contains(asked, p.id) {
			continue
		}
		load := p.Load
		load.Calls += p.placed
		if share := shareOf(load); share < most || share == most && least == nil {
			least, most = p, share
		}
	}
	if least != nil {
		least.placed++
	}
	return least
}

// refused notes that a server takes no new calls now, whatever it publishes of its load.
func (t *table) refused(id string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.peers[id]; p != nil {
		p.refused = now.Add(t.avoidFor)
	}
}
