//go:build scheduler.asyncify

package task

import "unsafe"

//go:linkname runtime_free runtime.free
func runtime_free(unsafe.Pointer)

// stopped frees the stack of a goroutine that has ended: one that waits has something to come back to on it. A stack is 64 kB, and
// everything that the browser calls back has one; this way it is always the same.
func (t *Task) stopped() {
	s := &t.state
	if s.asyncifysp == unsafe.Add(unsafe.Pointer(s.canaryPtr), unsafe.Sizeof(*s.canaryPtr)) {
		runtime_free(unsafe.Pointer(s.canaryPtr))
	}
}
