//go:build scheduler.asyncify

package task

// Frees the stack of a goroutine that has ended, at once.

import "unsafe"

//go:linkname runtime_free runtime.free
func runtime_free(unsafe.Pointer)

var (
	// Stacks is how many goroutines there are that will go on.
	Stacks int
	ending bool
)

// End is Pause for a goroutine that will never go on: it has ended, or waits for nothing. Its stack, of 64 kB, is freed at once: everything
// that the browser calls back has one, and this way it is always the same.
func End() {
	ending = true
	Pause()
}

// stopped is called when a goroutine has paused.
func (t *Task) stopped() {
	if ending {
		ending = false
		Stacks--
		runtime_free(unsafe.Pointer(t.state.canaryPtr))
	}
}
