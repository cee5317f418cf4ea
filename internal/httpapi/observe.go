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
