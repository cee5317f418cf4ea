package httpapi

import (
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"
)

// The limits of a server and of each principal, client secret and client address, and how much of them is in use.

// Rates limit what one principal uses in a minute; without keys, what all clients use together. 0 is no limit.
type Rates = limits.Rates

// Limits limit what a server and its clients take. 0 takes the default of each.
type Limits = limits.Limits

// maxBody is the size of a request's body, in bytes.
const maxBody = 1 << 20

// shareOfAll returns which part of all a principal may have, unless a limit says so: 1 for all, 2 for half.
func shareOfAll(keys apikey.Keys) int {
	if keys.Principals() > 1 {
		return 2
	}
	return 1
}

// Load is how busy a Handler is at one moment.
type Load = limits.Load

// Load returns how busy the Handler is.
func (h *Handler) Load() Load {
	l := Load{FreeMemory: h.memory.Free(), FreeMessages: h.messages.Free(), Abandoned: h.guard.AllAbandoned(), Secrets: h.secrets.Len()}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		if !c.connected {
			l.HalfOpen++
		}
		waiting, limit := c.session.Queued()
		l.FullestQueue, l.QueueSize = max(l.FullestQueue, waiting), limit
		l.MostTurns = max(l.MostTurns, c.session.Turns())
		if c.hub != nil {
			l.Kept += c.hub.Kept()
		}
	}
	return l
}

// CountTalk tells Observers.Talked how long the calls are until now.
func (h *Handler) CountTalk() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.calls {
		h.talked(c)
	}
}

// talked tells Observers.Talked how long a call is, if its client has connected once. The caller holds the lock.
func (h *Handler) talked(c *callEntry) {
	if c.connected {
		c.talk.Until(h.env.Now())
	}
}
