package sdk

// The queue of jobs: every change of a session is a job, and jobs run one at a time.

import (
	"context"
	"sync"
)

// jobQueue runs jobs one at a time and in order. The goroutine that puts a job into an idle queue runs it, and then all jobs
// that other goroutines put meanwhile. So no goroutine waits for jobs.
type jobQueue struct {
	mu    sync.Mutex
	jobs  []func() // Invariant: len(jobs) <= limit, empty when !busy.
	busy  bool
	limit int
	rests []chan struct{} // the channels to close when no job runs. Invariant: empty when !busy.
}

// put adds a job, and runs the queue unless another goroutine runs it already. It returns false, and drops the job, when the queue is
// full.
func (m *jobQueue) put(job func()) bool {
	return m.add(job, m.limit)
}

// offer is put for jobs that may be dropped: it leaves half of the queue to other jobs.
func (m *jobQueue) offer(job func()) bool {
	return m.add(job, m.limit/2)
}

// must is put without a limit, for the few jobs that are each put once, such as those that end something.
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

// rest returns a channel that is closed when nobody runs a job any more; nil when nobody runs one now.
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

// Settle waits until every event so far has been handled and published, or ctx ends. It is for tests: a goroutine that reports
// an event returns at once when another one is running the queue. A subscriber must not call it. Errors: ctx's.
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
