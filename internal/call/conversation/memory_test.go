package conversation

// The memory of conversations, and each one's share of it.

import (
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// empty returns an item with that many parts without text.
func empty(name string, parts int) wire.Item {
	content := make([]wire.Content, parts)
	for i := range content {
		content[i].Type = wire.ContentInputText
	}
	return wire.Item{ID: name, Type: wire.ItemMessage, Role: "user", Content: content}
}

// Parts without text count, too: 400 items of 4,096 of them would take 150 MB.
func TestEmptyPartsCount(t *testing.T) {
	r := begin(t, "")
	r.g.Expect(itemOverhead).To(gomega.BeNumerically(">=", unsafe.Sizeof(Item{})))
	r.g.Expect(partOverhead).To(gomega.BeNumerically(">=", unsafe.Sizeof(wire.Content{})))
	for i := range 400 {
		_, _, refused := r.Create(empty(strconv.Itoa(i), 4096), "")
		r.g.Expect(refused).To(gomega.BeNil())
	}
	parts := 0
	for _, it := range r.items {
		parts += len(it.Content)
	}
	r.g.Expect(parts * int(unsafe.Sizeof(wire.Content{}))).To(gomega.BeNumerically("<=", maxBytes))
	r.g.Expect(len(r.items)).To(gomega.BeNumerically(">", 10))
}

// Two greedy conversations cannot hold more than the server's memory, and a modest one keeps its share.
func TestMemoryIsShared(t *testing.T) {
	const total, conversations = 4 << 20, 8
	memory := NewMemory(total, conversations)
	held := func(r tester) (bytes int) {
		for _, it := range r.items {
			bytes += size(it.Item)
		}
		return bytes
	}
	var all []tester
	for range conversations {
		r := begin(t, "")
		r.ShareMemory(memory)
		all = append(all, r)
	}
	text := strings.Repeat("x", 100<<10)
	for range 50 {
		all[0].note(text)
		all[1].note(text)
	}
	all[7].note(text)
	all[7].note(text)
	all[7].g.Expect(all[7].items).To(gomega.HaveLen(2), "a conversation has its share")
	all[0].g.Expect(held(all[0]) + held(all[1])).To(gomega.BeNumerically("<=", total/2+2*total/2/conversations))
	all[0].g.Expect(len(all[0].items)).To(gomega.BeNumerically(">", 2), "and borrows")

	large := empty("large", 0)
	large.Output = strings.Repeat("x", 3<<20)
	_, _, refused := all[6].Create(large, "")
	all[6].g.Expect(refused).To(gomega.HaveField("Code", "memory_full"))
	for _, r := range all {
		r.Close()
	}
	all[0].g.Expect(memory.Free()).To(gomega.Equal(total / 2))
	_, _, refused = all[6].Create(large, "")
	all[6].g.Expect(refused).To(gomega.HaveField("Code", "memory_full"), "more than the whole pool")
	large.Output = strings.Repeat("x", maxBytes)
	_, _, refused = begin(t, "").Create(large, "")
	all[6].g.Expect(refused).To(gomega.HaveField("Code", "item_too_large"))
}

// A response's own input may name an item many times, but not without limit.
func TestInputOfAResponseIsLimited(t *testing.T) {
	r := begin(t, "")
	r.note(strings.Repeat("x", 1<<20))
	name := r.items[0].ID
	var input []wire.Item
	for range 15 {
		input = append(input, wire.Item{Type: wire.ItemReference, ID: name})
	}
	r.g.Expect(r.CheckInput(input)).To(gomega.BeNil())
	input = append(input, input...)
	r.refused(r.CheckInput(input), "input_too_large", "response.input")
}

// The text of a message is put together in linear memory: parts that double in number take twice the bytes.
func TestTextOfManyPartsIsLinear(t *testing.T) {
	r := begin(t, "")
	for i := range 10 {
		w := empty(strconv.Itoa(i), 4096)
		for p := range w.Content {
			w.Content[p].Text = strings.Repeat("x", 200)
		}
		_, _, refused := r.Create(w, "")
		r.g.Expect(refused).To(gomega.BeNil())
	}
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := r.Request(pipeline.Request{}, Ask{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	text := int64(10 * 4096 * 201)
	r.g.Expect(result.AllocedBytesPerOp()).To(gomega.BeNumerically("<", 6*text))
}

// A budget that shrinks takes nothing away, and lends nothing until it has something.
func TestMemoryIsResized(t *testing.T) {
	g := gomega.NewWithT(t)
	m := NewMemory(2<<20, 4) // a share of 256 KiB, and a pool of 1 MiB
	has, ok := m.borrow(0, 1<<20)
	g.Expect(has).To(gomega.Equal(768 << 10))
	g.Expect(ok).To(gomega.BeTrue())
	m.Resize(1<<20, 4)
	g.Expect(m.Free()).To(gomega.Equal(-256 << 10))
	again, ok := m.borrow(has, 1<<20)
	g.Expect(ok).To(gomega.BeFalse(), "its share is smaller, and the pool is empty")
	g.Expect(again).To(gomega.Equal(has))
	_, ok = m.borrow(0, 128<<10)
	g.Expect(ok).To(gomega.BeTrue(), "another one has its share")
	has, ok = m.borrow(has, 512<<10)
	g.Expect(ok).To(gomega.BeTrue(), "what is given back is taken")
	g.Expect(has).To(gomega.Equal(384 << 10))
	g.Expect(m.Free()).To(gomega.Equal(128 << 10))
	m.Resize(4<<20, 4)
	has, _ = m.borrow(has, 0)
	g.Expect(has).To(gomega.BeZero())
	g.Expect(m.Free()).To(gomega.Equal(2 << 20))
}
