package session

// The session's queue drops audio before control events.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
)

// TestDroppedAudioIsCounted: the log of a session says how much it has dropped.
func TestDroppedAudioIsCounted(t *testing.T) {
	g, s := gomega.NewWithT(t), &Session{}
	s.shared.queue = newQueue()
	for s.shared.queue.offer(audioMissing{}) {
		g.Expect(s.shared.dropped.Load()).To(gomega.BeZero())
	}
	s.Audio(make([]int16, 480))
	g.Expect(s.shared.dropped.Load()).To(gomega.BeNumerically("==", 1))
	s.Missing(480)
	g.Expect(s.shared.dropped.Load()).To(gomega.BeNumerically("==", 2))
}

// TestQueue: a session that cannot keep up drops audio, and no events.
func TestQueue(t *testing.T) {
	g := gomega.NewWithT(t)
	numbered := func(i int) event { return inputEvent{listening.AudioDue{Turn: turn.ID(i)}} }
	q := newQueue()
	taken := 0
	for q.offer(numbered(taken)) {
		taken++
	}
	g.Expect(taken).To(gomega.Equal(queueSize*3/4 + 1))
	for i := taken; i < queueSize; i++ {
		g.Expect(q.post(numbered(i))).To(gomega.BeTrue())
	}
	close(q.ending)
	g.Expect(q.post(numbered(0))).To(gomega.BeFalse(), "the session has ended: nobody waits for it")
	g.Expect(q.offer(numbered(0))).To(gomega.BeFalse())
	for i := range queueSize {
		g.Expect(<-q.events).To(gomega.Equal(numbered(i)), "in order, and none is lost")
	}
}
