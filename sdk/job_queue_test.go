package sdk

// The job queue runs one job at a time, in order, and has a limit.

import (
	"sync"
	"testing"

	"github.com/onsi/gomega"
)

func TestJobsRunOneAtATimeAndInOrder(t *testing.T) {
	g := gomega.NewWithT(t)
	const writers, each = 8, 500
	box := jobQueue{limit: writers * each}
	seen := make([][]int, writers) // only jobs write to it, without a lock, so the race detector finds two jobs at a time
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				box.put(func() { seen[w] = append(seen[w], i) })
			}
		})
	}
	wg.Wait()
	done := make(chan struct{})
	box.must(func() { close(done) })
	<-done
	for w := range writers {
		g.Expect(seen[w]).To(gomega.HaveLen(each))
		for i, v := range seen[w] {
			g.Expect(v).To(gomega.Equal(i))
		}
	}
}

func TestAFullQueueRefuses(t *testing.T) {
	g := gomega.NewWithT(t)
	box := jobQueue{limit: 4}
	var ran []string
	job := func(name string) func() { return func() { ran = append(ran, name) } }
	box.put(func() {
		g.Expect(box.put(job("a"))).To(gomega.BeTrue())
		g.Expect(box.offer(job("b"))).To(gomega.BeTrue())
		g.Expect(box.offer(job("no"))).To(gomega.BeFalse(), "half of the room is for what may not be dropped")
		g.Expect(box.put(job("c"))).To(gomega.BeTrue())
		g.Expect(box.put(job("d"))).To(gomega.BeTrue())
		g.Expect(box.put(job("no"))).To(gomega.BeFalse())
		box.must(job("e"))
	})
	g.Expect(ran).To(gomega.Equal([]string{"a", "b", "c", "d", "e"}))
}
