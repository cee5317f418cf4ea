package sdk

import (
	"context"
	"sync"
)

// jobQueue is the queue in front of a session: whoever puts a job into an idle one runs it, and all that were put
// meanwhile. So jobs run one at a time and in order without a goroutine that waits for them.
type jobQueue struct {
	mu    sync.Mutex
	jobs  []func() // Invariant: len(jobs) <= limit, empty when !busy.
	busy  bool
	limit int
	rests []chan struct{} // closed when nobody runs a job. Invariant: empty when !busy.
}

// put adds a job and runs the queue unless somebody does already. It reports false, and drops the job, when the queue is full.
func (m *jobQueue) put(job func()) bool {
	return m.add(job, m.limit)
}

// offer is put for jobs that may be dropped: it leaves half of the queue to the others.
func (m *jobQueue) offer(job func()) bool {
	return m.add(job, m.limit/2)
}

// must is put for the few jobs that end things; they have no limit because each is put once.
func (m *jobQueue) must(job func()) {
	m.add(job, int(^uint(0)>>1))
}

func (m *jobQueue) add(job func(), limit int) bool {
	m.mu.Lock()
	if m.busy {
		defer m.mu.Unlock()
		if len(m.jobs) >= limit {
			return false
		}
		m.jobs = append(m.jobs, job)
		return true
	}
	m.busy = true
	m.mu.Unlock()
	for job != nil {
		job()
		job = m.next()
	}
	return true
}

func (m *jobQueue) next() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.jobs) == 0 {
		m.busy = false
		m.jobs = nil
		for _, r := range m.rests {
			close(r)
		}
		m.rests = nil
		return nil
	}
	job := m.jobs[0]
	m.jobs[0] = nil
	m.jobs = m.jobs[1:]
	return job
}

// rest gives what is closed once nobody runs a job; nil when nobody does now.
func (m *jobQueue) rest() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.busy {
		return nil
	}
	r := make(chan struct{})
	m.rests = append(m.rests, r)
	return r
}

// Settle waits until all that has happened so far has been handled and shown, or ctx ends. Tests use it: whoever brings news
// to a session that is busy with others' returns at once. Not from a subscriber. Errors: ctx's.
func (s *Session) Settle(ctx context.Context) error {
	r := s.queue.rest()
	if r == nil {
		return nil
	}
	select {
	case <-r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
