package sdk

import "sync"

// mailbox is the queue in front of a session: whoever puts a job into an idle one runs it, and all that were put
// meanwhile. So jobs run one at a time and in order without a goroutine that waits for them.
type mailbox struct {
	mu    sync.Mutex
	jobs  []func() // Invariant: len(jobs) <= limit, empty when !busy.
	busy  bool
	limit int
}

// put adds a job and runs the queue unless somebody does already. It reports false, and drops the job, when the queue is full.
func (m *mailbox) put(job func()) bool {
	return m.add(job, m.limit)
}

// offer is put for jobs that may be dropped: it leaves half of the queue to the others.
func (m *mailbox) offer(job func()) bool {
	return m.add(job, m.limit/2)
}

// must is put for the few jobs that end things; they have no limit because each is put once.
func (m *mailbox) must(job func()) {
	m.add(job, int(^uint(0)>>1))
}

func (m *mailbox) add(job func(), limit int) bool {
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

func (m *mailbox) next() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.jobs) == 0 {
		m.busy = false
		m.jobs = nil
		return nil
	}
	job := m.jobs[0]
	m.jobs[0] = nil
	m.jobs = m.jobs[1:]
	return job
}
