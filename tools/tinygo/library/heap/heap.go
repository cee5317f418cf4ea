// Package heap is the memory of the program that TinyGo makes: it gives room to objects, and frees those that nothing points to.
//
// Memory is cut into blocks of 16 bytes; an object has one or more. Every block has a state, a byte, behind the last block. What
// may be a pointer into an object keeps it: what the words of an object are for is not known. Stacks are not looked at: whoever
// collects does so when there is nothing on them that is still needed. Nothing here allocates, or runs in two places at once.
package heap

import "unsafe"

// A block's state.
const (
	free   = iota
	head   // the first block of an object
	marked // as head, of an object that something points to
	tail   // and above: a further block of an object; tail+n is at least 1<<n blocks behind the head
)

const (
	block = 16
	word  = unsafe.Sizeof(uintptr(0))
	// each is what a block takes: itself, its state, and its place among the objects that are marked and not looked through.
	each = block + 1 + unsafe.Sizeof(uint32(0))
	// slack is what is allocated at least between two collections, in blocks.
	slack = 256 << 10 / block
	// little is what is allocated at least before an early one.
	little = slack / 4
)

// A Heap is empty at first, and has no room.
type Heap struct {
	first, blocks uintptr     // the address of the first block, and how many there are
	used, enough  uintptr     // blocks of objects, and how many make a collection worthwhile
	early         uintptr     // how many make an early one worthwhile
	from          [28]uintptr // by the logarithm of a size in blocks: where to look for room for it
}

func at[T any](address uintptr) *T { return (*T)(unsafe.Pointer(address)) }

func (h *Heap) address(b uintptr) uintptr { return h.first + b*block }

func (h *Heap) state(b uintptr) *uint8 { return at[uint8](h.address(h.blocks) + b) }

// end gives the block behind the object whose head is b.
func (h *Heap) end(b uintptr) uintptr {
	for b++; b < h.blocks && *h.state(b) >= tail; b++ {
	}
	return b
}

// Extend gives the heap the memory between two addresses, multiples of 16. From the second call on start stays, and end is higher.
func (h *Heap) Extend(start, end uintptr) {
	was, states := h.blocks, h.address(h.blocks)
	h.first, h.blocks = start, (end-start-word)/each
	now := unsafe.Slice(h.state(0), h.blocks)
	clear(now[copy(now, unsafe.Slice(at[uint8](states), was)):])
	h.enough = max(h.enough, slack)
}

// Need gives how much more memory has room for an object of this size for certain.
func Need(size uintptr) uintptr { return (size/block + 2) * each }

// Alloc gives an object of zeros, or nil when there is no room for it. The size is not 0.
func (h *Heap) Alloc(size uintptr) unsafe.Pointer {
	n := (size + block - 1) / block
	class := 0
	for n>>class > 1 {
		class++
	}
	b, run := h.from[class], uintptr(0)
	for run < n {
		if b >= h.blocks {
			h.from[class] = b - run
			return nil
		}
		run++
		if *h.state(b) != free {
			run = 0
		}
		b++
	}
	h.from[class] = b
	h.used += n
	*h.state(b - n) = head
	for i, far := uintptr(1), uint8(0); i < n; i++ {
		if i>>far > 1 {
			far++
		}
		*h.state(b - n + i) = tail + far
	}
	object := unsafe.Pointer(h.address(b - n))
	clear(unsafe.Slice((*uint8)(object), n*block))
	return object
}

// Size gives the room that an object has.
func (h *Heap) Size(object unsafe.Pointer) uintptr {
	b := (uintptr(object) - h.first) / block
	return (h.end(b) - b) * block
}

// Free frees an object that nothing uses any more, before a collection would. The next one as large gets its place.
func (h *Heap) Free(object unsafe.Pointer) {
	b := (uintptr(object) - h.first) / block
	class, n := 0, h.end(b)-b
	for n>>class > 1 {
		class++
	}
	h.from[class] = min(h.from[class], b)
	for end := b + n; b < end; b++ {
		h.release(b)
	}
}

func (h *Heap) release(b uintptr) {
	*h.state(b) = free
	h.used--
	if stress {
		object := at[[block]uint8](h.address(b))
		for i := range object {
			object[i] = 0xaa
		}
	}
}

// Due tells that as much was allocated since the last collection as was left by it, and more than a little; or, when that is the
// right moment, that a little was.
func (h *Heap) Due(now bool) bool { return stress || h.used >= h.enough || now && h.used >= h.early }

// Mark marks every object that can be reached from the words between two addresses.
func (h *Heap) Mark(from, to uintptr) {
	none := (h.address(h.blocks) + h.blocks + word - 1) &^ (word - 1)
	waiting := none // to be looked through
	for {
		for ; from < to; from += word {
			b := (*at[uintptr](from) - h.first) / block
			if b >= h.blocks {
				continue
			}
			for *h.state(b) >= tail {
				b -= 1 << (*h.state(b) - tail)
			}
			if *h.state(b) == head {
				*h.state(b) = marked
				*at[uint32](waiting) = uint32(b)
				waiting += 4
			}
		}
		if waiting == none {
			return
		}
		waiting -= 4
		b := uintptr(*at[uint32](waiting))
		from, to = h.address(b), h.address(h.end(b))
	}
}

// Sweep frees every object that is not marked.
func (h *Heap) Sweep() {
	marks := false
	for b := range h.blocks {
		state := h.state(b)
		if *state == free {
			continue
		}
		if *state < tail {
			marks = *state == marked
			*state = head
		}
		if !marks {
			h.release(b)
		}
	}
	clear(h.from[:])
	h.enough, h.early = h.used+max(h.used, slack), h.used+little
}
