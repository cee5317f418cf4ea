package speaking

// The estimate of what a client has played that plays by itself.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const second = voice.Samples(room.OutputRate)

// A client that plays by itself gets its audio at once. The clock says how much of it was played.
func TestAClientPacedOutputEstimatesByTheClock(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	var sent int
	var end time.Duration
	e := &clientPaced{
		now: func() time.Time { return now }, emit: func(pcm []int16) { sent += len(pcm) },
		drained: func(_ uint64, in time.Duration) { end = in },
	}
	e.Begin(1)
	e.Write(make([]int16, 2*room.OutputRate))
	g.Expect(sent).To(gomega.Equal(2*room.OutputRate), "the client gets audio at once")
	now = now.Add(500 * time.Millisecond)
	g.Expect(e.Sent()).To(gomega.Equal(second / 2))
	e.End()
	g.Expect(end).To(gomega.Equal(1500 * time.Millisecond))

	g.Expect(e.Hold()).To(gomega.Equal(second / 2))
	now = now.Add(time.Second)
	g.Expect(e.Sent()).To(gomega.Equal(second/2), "held: time does not count")
	e.Resume(2, 0)
	g.Expect(end).To(gomega.Equal(1500 * time.Millisecond))
	now = now.Add(time.Minute)
	g.Expect(e.Sent()).To(gomega.Equal(2*second), "never more than there was")
}

func TestAHeldClientPacedOutputKeepsItsAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	var sent int
	e := &clientPaced{now: func() time.Time { return now }, emit: func(pcm []int16) { sent += len(pcm) }, drained: func(uint64, time.Duration) {}}
	e.Begin(1)
	e.Hold()
	e.Write(make([]int16, room.OutputRate))
	g.Expect(sent).To(gomega.BeZero())
	e.Resume(2, 0)
	g.Expect(sent).To(gomega.Equal(room.OutputRate))
	e.Hold()
	e.Write(make([]int16, room.OutputRate))
	g.Expect(e.Drop()).To(gomega.BeZero())
	e.Resume(3, 0)
	g.Expect(sent).To(gomega.Equal(room.OutputRate), "what was dropped never comes")
}
