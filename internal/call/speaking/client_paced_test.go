package speaking

// The estimate of what a client has played that plays by itself.

import (
	"math/rand/v2"
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

// TestTheEstimateIsWhatAClientPlays: in any order of calls the estimate is what a client has played that plays one response after another, without a pause between them.
func TestTheEstimateIsWhatAClientPlays(t *testing.T) {
	const ms = voice.Samples(room.OutputRate / 1000)
	g := gomega.NewWithT(t)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		var now time.Time
		var gen uint64
		var queue []uint64                   // what the client has to play: the response of each millisecond
		played := map[uint64]voice.Samples{} // of a response
		running, live := false, false
		o := &clientPaced{
			now: func() time.Time { return now },
			emit: func(pcm []int16) {
				for range len(pcm) / int(ms) {
					queue = append(queue, gen)
				}
			},
			drained: func(_ uint64, in time.Duration) {
				g.Expect(in).To(gomega.Equal(time.Duration(len(queue))*time.Millisecond), "seed %d", seed)
			},
		}
		for range 60 {
			switch what := r.IntN(8); {
			case what == 0 && running == live: // what is held is not followed by another response
				gen++
				running, live = true, true
				o.Begin(gen)
			case what < 4:
				o.Write(make([]int16, int(ms)*r.IntN(300)))
			case what == 4:
				o.End()
			case what == 5:
				running = false
				o.Hold()
			case what == 6:
				running = live
				o.Resume(gen, 0)
			case what == 7 && r.IntN(3) == 0:
				running, live, queue = false, false, nil
				o.Drop()
			}
			for range r.IntN(200) {
				now = now.Add(time.Millisecond)
				if running && len(queue) > 0 {
					played[queue[0]] += ms
					queue = queue[1:]
				}
			}
			if live {
				g.Expect(o.Sent()).To(gomega.Equal(played[gen]), "seed %d", seed)
			}
		}
	}
}
