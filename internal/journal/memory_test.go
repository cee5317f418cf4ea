package journal_test

// How much memory the journal of a call takes beside the call: it shares the texts and images of the conversation.

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/journal"
)

// nowhere is a journal.Log that keeps nothing.
type nowhere struct{ newest uint64 }

func (n *nowhere) Append(context.Context, string, []byte, uint64) (uint64, error) {
	n.newest++
	return n.newest, nil
}

func (*nowhere) Last(context.Context, string) ([]byte, uint64, error) {
	return nil, 0, journal.ErrNotFound
}

func (*nowhere) Next(context.Context, string, uint64) ([]byte, uint64, error) {
	return nil, 0, journal.ErrNotFound
}

func (*nowhere) Trim(context.Context, string, uint64) error { return nil }
func (*nowhere) Remove(context.Context, string) error       { return nil }
func (*nowhere) Room(context.Context) error                 { return nil }
func (*nowhere) Lost(uint64) bool                           { return false }
func (*nowhere) HalfRoom(context.Context) error             { return nil }
func (*nowhere) Left(context.Context) (int64, error)        { return 1 << 40, nil }

// heap returns the bytes that are in use. Pools of buffers are empty after the second collection.
func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // far below
}

// journalled gives the journal of a new call items with texts of that size, one record for each. Once all is stored it calls measured with a function that returns how many bytes
// the journal takes for an item now.
func journalled(tb testing.TB, items, size int, measured func(perItem func() int64)) {
	tb.Helper()
	g := gomega.NewWithT(tb)
	all := make([]journal.Item, items)
	events := make([]journal.Event, items)
	for i := range all {
		all[i] = item(uint64(i+1), uint64(i), strings.Repeat("x", size))
		events[i] = journal.Event{ID: fmt.Sprint("event_", i+1), Type: "x", Text: []byte(strings.Repeat("y", size)), Number: uint64(i + 1)}
	}
	before := heap()
	o := started(journal.New(journal.Config{Log: &nowhere{}}).Begin(token, nil))
	o.Record(whole())
	for i := range all {
		o.Record(journal.Record{Items: all[i : i+1], Last: uint64(i + 1), Events: events[i : i+1]})
	}
	g.Eventually(o.committed.Load, "20s").Should(gomega.Equal(uint64(items)))
	measured(func() int64 { return (heap() - before) / int64(items) })
	runtime.KeepAlive(all)
	runtime.KeepAlive(events)
	o.Record(journal.Record{Ended: true})
	o.Close()
}

// The journal has no copy of a text, except while it writes: an item takes as much there if its text is a hundred times as long.
func TestTheJournalSharesTexts(t *testing.T) {
	journalled(t, 200, 20_000, func(perItem func() int64) {
		gomega.NewWithT(t).Eventually(perItem, "20s").Should(gomega.BeNumerically("<", 4000))
	})
}

// BenchmarkMemory prints how many bytes an item of a conversation takes in the journal of its call, beside the conversation.
func BenchmarkMemory(b *testing.B) {
	for _, size := range []int{20, 2000} {
		b.Run(fmt.Sprintf("texts of %d bytes", size), func(b *testing.B) {
			sum := int64(0)
			for b.Loop() {
				journalled(b, 900, size, func(perItem func() int64) { sum += perItem() })
			}
			b.ReportMetric(float64(sum)/float64(b.N), "B/item")
		})
	}
}
