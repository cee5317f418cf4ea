package sdk

// The goroutines of a call that run beside the job queue: they are counted, so that Close can wait until all have ended.

// callHistory counts the calls and knows which ended calls still hold something.
type callHistory struct {
	n     uint64  // calls that were placed
	ended []*call // calls that have ended and are not freed, oldest first
	// gone is closed when everything that the ended calls held is freed.
	gone chan struct{}
}

func newCallHistory() callHistory {
	h := callHistory{gone: make(chan struct{})}
	close(h.gone)
	return h
}

// end takes a call that has ended.
func (h *callHistory) end(c *call) {
	c.gone = make(chan struct{})
	h.gone = c.gone
	h.ended = append(h.ended, c)
}

// free closes the channels of the ended calls for which nothing runs any more, in the order in which the calls ended.
func (h *callHistory) free() {
	for len(h.ended) > 0 && h.ended[0].running == 0 {
		close(h.ended[0].gone)
		h.ended = h.ended[1:]
	}
}

// background runs f for a call beside the job queue. The call is freed when all its functions have ended. Only jobs may call
// it.
func (s *Session) background(c *call, f func()) {
	c.running++
	s.spawn(func() {
		f()
		s.queue.must(func() {
			c.running--
			s.calls.free()
		})
	})
}
