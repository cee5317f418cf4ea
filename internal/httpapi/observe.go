package httpapi

import "github.com/antiphon-rt/antiphon/internal/httpapi/internal/limits"

// What the Handler says of its calls, for metrics and admission.

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
