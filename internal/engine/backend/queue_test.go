package backend

// The queue of audio: its order, its limit, and what a long utterance costs.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// TestQueue: samples come out as they went in, however they are cut, and the limit counts what waits.
func TestQueue(t *testing.T) {
	g := gomega.NewWithT(t)
	q := newQueue(10)
	dst := make([]float32, 3)
	next, want := float32(0), float32(0)
	for round := range 50 {
		in := make([]float32, 1+round%4)
		for i := range in {
			next++
			in[i] = next
		}
		g.Expect(q.write(in)).To(gomega.Succeed())
		for n, _ := q.read(dst); n > 0; n, _ = q.read(dst) {
			for _, v := range dst[:n] {
				want++
				g.Expect(v).To(gomega.Equal(want))
			}
			if round%3 == 0 {
				break // some waits
			}
		}
	}
	for n, _ := q.read(dst); n > 0; n, _ = q.read(dst) {
	}
	g.Expect(q.write(make([]float32, 8))).To(gomega.Succeed())
	n, _ := q.read(dst)
	g.Expect(n).To(gomega.Equal(3))
	g.Expect(q.write(make([]float32, 6))).To(gomega.MatchError(pipeline.ErrOverrun), "5 wait, and 5 have room")
	q.unread(dst)
	g.Expect(q.write(dst)).To(gomega.MatchError(pipeline.ErrOverrun))
	q.close()
	total := 0
	for n, end := q.read(dst); !end; n, end = q.read(dst) {
		total += n
	}
	g.Expect(total).To(gomega.Equal(13))
}

// BenchmarkLongUtterance takes six minutes of audio in slices of 100 ms.
func BenchmarkLongUtterance(b *testing.B) {
	pcm, dst := make([]float32, maxWhole), make([]float32, slice)
	for b.Loop() {
		q := newQueue(maxWhole)
		if err := q.write(pcm); err != nil {
			b.Fatal(err)
		}
		for n := 1; n > 0; {
			n, _ = q.read(dst)
		}
	}
}
