//go:build gc.leaking

package runtime

import (
	"unsafe"

	"internal/heap"
	"internal/task"
)

// This stands in the place of the collector that never collects: for that one the compiler keeps no list of the pointers on the
// stacks, which would be a fifth of the program. It needs none here either: what runs is not interrupted by a collection. That
// comes between two events, when nothing is on the system's stack, and what waits has its stack among the objects.

const needsStaticHeap = true

// step is how much the memory grows at least.
const step = 1 << 20

var objects heap.Heap

var nothing [16]byte

// variables is where the program's begin, behind its constants: see random.c.
//
//go:extern variables
var variables [16]byte

//go:noinline
func alloc(size uintptr, _ unsafe.Pointer) unsafe.Pointer {
	if size == 0 {
		return unsafe.Pointer(&nothing)
	}
	object := objects.Alloc(size)
	if object == nil {
		growHeapFor(size)
		object = objects.Alloc(size)
		if object == nil {
			runtimePanic("out of memory")
		}
	}
	return object
}

func growHeapFor(size uintptr) {
	pages := int32((heap.Need(size) + step) / wasmPageSize)
	if wasm_memory_grow(wasmMemoryIndex, pages) >= 0 {
		setHeapEnd(uintptr(wasm_memory_size(wasmMemoryIndex)) * wasmPageSize)
	}
}

// setHeapEnd tells that the memory has grown.
func setHeapEnd(end uintptr) {
	heapEnd = end
	objects.Extend(align(heapStart), heapEnd)
}

func initHeap() { setHeapEnd(heapEnd) }

// idle is called when there is nothing left to do, before control goes back to the browser. If that is to a call of the browser's by
// a goroutine, there is something on the stack.
//
// What waits keeps more than it needs: old words on its stack may look like pointers to what was allocated since. So when nothing waits,
// as after a call, the opportunity is taken early.
func idle() {
	if task.OnSystemStack() && objects.Due(task.Stacks == 0) {
		GC()
	}
}

// GC may only be called by idle.
func GC() {
	objects.Mark(uintptr(unsafe.Pointer(&variables)), globalsEnd)
	objects.Sweep()
}

func realloc(old unsafe.Pointer, size uintptr) unsafe.Pointer {
	object := alloc(size, nil)
	if old != nil {
		memcpy(object, old, min(size, objects.Size(old)))
	}
	return object
}

func free(object unsafe.Pointer) { objects.Free(object) }

func markRoots(start, end uintptr) { objects.Mark(start, end) }

// ReadMemStats tells what the program has of memory, and nothing else.
func ReadMemStats(m *MemStats) { m.Sys = uint64(heapEnd) }

func SetFinalizer(any, any) {}
