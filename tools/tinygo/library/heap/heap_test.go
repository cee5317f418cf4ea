package heap

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// arena is memory that a heap grows into.
type arena struct {
	Heap
	memory []uint64
	words  int // of it that the heap has
}

func newArena(t *testing.T, words int) *arena {
	a := &arena{memory: make([]uint64, words)}
	for i := range a.memory {
		a.memory[i] = ^uint64(0) // it need not be zeros
	}
	t.Cleanup(func() { runtime.KeepAlive(a.memory) })
	return a
}

func (a *arena) grow(words int) {
	a.words += words
	_ = a.memory[a.words-1]
	start := uintptr(unsafe.Pointer(&a.memory[0]))
	a.Extend(start, start+uintptr(a.words)*8)
}

// alloc gives an object of words, and how many of them there is room for.
func (a *arena) alloc(t *testing.T, words int) []uintptr {
	t.Helper()
	size := uintptr(words) * word
	object := a.Alloc(size)
	if object == nil {
		a.grow(int(Need(size)/8 + 1))
		object = a.Alloc(size)
	}
	if object == nil {
		t.Fatalf("no room for %d words", words)
	}
	return unsafe.Slice((*uintptr)(object), words)
}

// globals are not on a stack, which may move.
var globals [1024]uintptr

func (a *arena) collect(roots []uintptr) {
	n := copy(globals[:], roots)
	from := uintptr(unsafe.Pointer(&globals))
	a.Mark(from, from+uintptr(n)*word)
	a.Sweep()
}

func pointer(object []uintptr) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(object))) }

func TestWhatCanBeReachedStays(t *testing.T) {
	a := newArena(t, 1<<16)
	list, other, large := a.alloc(t, 2), a.alloc(t, 2), a.alloc(t, 4097)
	a.alloc(t, 100) // nothing points to it
	list[0], other[1] = pointer(other), pointer(list)
	a.collect([]uintptr{pointer(list) + 3, pointer(large[4000:])})
	if a.used != 1+1+2049 {
		t.Fatalf("a ring and a large object, by a word in its middle, are there: %d blocks", a.used)
	}
	a.collect([]uintptr{pointer(other)})
	a.collect([]uintptr{pointer(other)})
	if a.used != 2 {
		t.Fatalf("the ring is there: %d blocks", a.used)
	}
	a.collect([]uintptr{0, pointer(large), 1, ^uintptr(0)})
	if a.used != 0 {
		t.Fatalf("nothing is there, and pointers to where something was do not matter: %d blocks", a.used)
	}
}

func TestAnObjectIsZeros(t *testing.T) {
	a := newArena(t, 1<<16)
	for round := range 3 {
		for size := 1; size < 300; size++ {
			object := a.alloc(t, size)
			for i := range object {
				if object[i] != 0 {
					t.Fatalf("round %d: word %d of %d", round, i, size)
				}
				object[i] = ^uintptr(0)
			}
			if got := a.Size(unsafe.Pointer(&object[0])); got < uintptr(size)*word || got >= uintptr(size)*word+block {
				t.Fatalf("an object of %d words has room for %d bytes", size, got)
			}
		}
		a.collect(nil)
	}
}

func TestWhatIsFreedIsTakenNext(t *testing.T) {
	a := newArena(t, 1<<16)
	a.alloc(t, 64)
	object := pointer(a.alloc(t, 64))
	a.alloc(t, 64)
	before := a.used
	a.Free(unsafe.Pointer(object))
	if got := pointer(a.alloc(t, 64)); got != object || a.used != before {
		t.Fatalf("%x is taken in place of %x", got, object)
	}
}

func TestThereIsNoRoom(t *testing.T) {
	a := newArena(t, 1<<12)
	if a.Alloc(1) != nil {
		t.Fatal("an empty heap has no room")
	}
	a.grow(1 << 12)
	n := 0
	for a.Alloc(1000) != nil {
		n++
	}
	if n != (1<<15)/int(each)/63 || a.Alloc(1000) != nil || a.Alloc(1) == nil {
		t.Fatalf("%d objects have room, and then a small one", n)
	}
}

func TestACollectionIsDue(t *testing.T) {
	a := newArena(t, 1<<18)
	a.grow(1 << 18)
	var roots []uintptr
	for !a.Due(false) {
		roots = append(roots, pointer(a.alloc(t, 512)))
	}
	if a.used != slack {
		t.Fatalf("after %d blocks", a.used)
	}
	a.collect(roots)
	a.collect(roots)
	if a.used != slack || a.Due(false) || a.Due(true) {
		t.Fatal("all is there")
	}
	for !a.Due(true) {
		a.alloc(t, 512)
	}
	if a.used != slack+little {
		t.Fatalf("at the right moment, after %d blocks", a.used)
	}
	for !a.Due(false) {
		a.alloc(t, 512)
	}
	if a.used != 2*slack {
		t.Fatalf("after as much again: %d blocks", a.used)
	}
}

// Objects come, point to others, and go, as it happens.
func TestAnything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	a := newArena(t, 1<<20)
	roots := make([]uintptr, 64)
	words := map[uintptr][]uintptr{} // what each object has in it
	owner := map[uintptr]uintptr{}   // the object that a pointer points into
	for range 100 {
		for range random.IntN(200) {
			size := 1 + random.IntN(8)
			if random.IntN(50) == 0 {
				size = random.IntN(3000) + 1
			}
			object := a.alloc(t, size)
			for i := range object {
				if random.IntN(8) == 0 {
					object[i] = roots[random.IntN(len(roots))] // into an object, or 0
				}
			}
			words[pointer(object)] = append([]uintptr(nil), object...)
			inside := pointer(object[random.IntN(size):])
			roots[random.IntN(len(roots))], owner[inside] = inside, pointer(object)
		}
		for range random.IntN(64) {
			roots[random.IntN(len(roots))] = 0
		}
		a.collect(roots)
		reached, blocks := map[uintptr]bool{}, uintptr(0)
		var visit func(to uintptr)
		visit = func(to uintptr) {
			start := owner[to]
			if to == 0 || reached[start] {
				return
			}
			reached[start] = true
			blocks += (uintptr(len(words[start]))*word + block - 1) / block
			for i, content := range words[start] {
				if *at[uintptr](start + uintptr(i)*word) != content {
					t.Fatal("an object has changed")
				}
				visit(content)
			}
		}
		for _, to := range roots {
			visit(to)
		}
		for start := range words {
			if !reached[start] {
				delete(words, start)
			}
		}
		if a.used != blocks {
			t.Fatalf("%d blocks are in use, and %d can be reached", a.used, blocks)
		}
	}
}
