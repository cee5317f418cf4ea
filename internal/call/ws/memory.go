package ws

import "sync"

// The memory of messages: the budget of bytes that the large messages of all connections share.

// ownMessage is the size in bytes up to which each connection may send a message independently of the other connections.
const ownMessage = 256 << 10

// Memory is the budget of bytes for what clients send in messages above 256 KiB. It is safe for concurrent use. nil has no limit.
type Memory struct {
	mu    sync.Mutex
	total int64
	free  int64 // negative after a Resize to less than what was taken
}

// NewMemory returns a budget of total bytes.
func NewMemory(total int64) *Memory { return &Memory{total: total, free: total} }

// Resize changes the budget to total bytes. What was taken stays taken.
func (m *Memory) Resize(total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += total - m.total
	m.total = total
}

// Free returns how many bytes are left; it is negative after a Resize to less than what was taken.
func (m *Memory) Free() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free
}

// take takes n bytes. It reports false, and takes nothing, if there are fewer.
func (m *Memory) take(n int64) bool {
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.free {
		return false
	}
	m.free -= n
	return true
}

// give returns n bytes.
func (m *Memory) give(n int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += n
}
