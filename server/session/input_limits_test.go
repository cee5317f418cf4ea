package session

// The limits of the input buffer and of the queue of a session.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/server/session/input"
	"github.com/antiphon-rt/antiphon/wire"
)

// byHand returns a session that is open and has no actor goroutine: the test calls its handlers itself.
func byHand(t *testing.T) *caller {
	t.Helper()
	c := newCaller(t, plain())
	c.pacer = newPacer(c.s, nil)
	c.s.attach(c)
	c.s.step(coord.OfConn{Event: conn.Opened{VAD: true}})
	t.Cleanup(func() { c.s.release() })
	return c
}

// TestFullBuffer: the input buffer has a limit. Here the limit is one second.
func TestFullBuffer(t *testing.T) {
	full := make([]int16, format.InputRate)
	small := func(t *testing.T) *caller {
		t.Helper()
		c := byHand(t)
		var err error
		c.s.input, err = input.New(len(full))
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		c.s.input.Configure(c.s.settings.TurnDetection())
		return c
	}

	story(t, "a turn that is longer than the buffer is committed, and goes on in the next", func(t *testing.T) {
		c := small(t)
		c.s.step(coord.OfTurn{Event: turn.Onset{}})
		c.s.audio(full)
		c.g.Expect(c.s.input.Len()).To(gomega.Equal(len(full)))
		c.s.audio(make([]int16, 480))
		c.g.Expect(c.s.input.Len()).To(gomega.Equal(480))
		first(c, "input_audio_buffer.committed")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
	})

	story(t, "without turn detection the client gets one error", func(t *testing.T) {
		c := small(t)
		c.s.step(coord.OfConn{Event: conn.SetVAD{On: false}})
		c.s.audio(full)
		c.s.audio(make([]int16, 480))
		c.s.audio(make([]int16, 480))
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("input_audio_buffer_full"))
		c.g.Expect(c.count("error")).To(gomega.Equal(1))
		c.g.Expect(c.s.input.Len()).To(gomega.Equal(len(full)), "the audio in the buffer stays")
		c.s.input.Clear()
		c.s.audio(make([]int16, 480))
		c.g.Expect(c.s.input.Len()).To(gomega.Equal(480))
	})
}

// TestQueue: a session that cannot keep up drops audio, and no events.
func TestQueue(t *testing.T) {
	g := gomega.NewWithT(t)
	q := newQueue()
	taken := 0
	for q.offer(idleTimeout{uint64(taken)}) {
		taken++
	}
	g.Expect(taken).To(gomega.Equal(queueSize*3/4 + 1))
	for i := taken; i < queueSize; i++ {
		g.Expect(q.post(idleTimeout{uint64(i)})).To(gomega.BeTrue())
	}
	close(q.ending)
	g.Expect(q.post(idleTimeout{})).To(gomega.BeFalse(), "the session has ended: nobody waits for it")
	g.Expect(q.offer(idleTimeout{})).To(gomega.BeFalse())
	for i := range queueSize {
		g.Expect(<-q.events).To(gomega.Equal(event(idleTimeout{uint64(i)})), "in order, and none is lost")
	}
}
