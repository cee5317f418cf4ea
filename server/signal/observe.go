package signal

// What the Handler says of its calls, for metrics and admission.

// Load is how busy a Handler is at one moment.
type Load struct {
	// HalfOpen are the calls whose client has not connected yet.
	HalfOpen int
	// FullestQueue is how many events wait for the session for which most wait. QueueSize is the size of such a queue.
	FullestQueue, QueueSize int
	// FreeMemory is what is left of the memory that conversations borrow from, in bytes.
	FreeMemory int
	// FreeMessages is what is left of the memory for events above 256 KiB while they arrive, in bytes.
	FreeMessages int64
	// MostTurns is how many turns are open or wait for their text in the session that has most.
	MostTurns int
	// Kept is the size of the events that all calls keep for clients that reconnect, in bytes.
	Kept int
	// Abandoned are the abandoned calls into each stage.
	Abandoned map[string]int
	// Secrets is how many client secrets there are.
	Secrets int
}

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
