package session

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
)

const second = voice.Samples(format.OutputRate)

func TestHeardText(t *testing.T) {
	said := alignment{
		{text: "One, two, ", from: 0, to: second, done: true},
		{text: "three, four, ", from: second, to: 2 * second, done: true},
		{text: "five.", from: 2 * second, to: 2 * second},
	}
	for name, c := range map[string]struct {
		at   voice.Samples
		want string
	}{
		"nothing":                      {0, ""},
		"the first word":               {second / 2, "One,"},
		"the first clause":             {second, "One, two,"},
		"into the second":              {second + second*6/10, "One, two, three,"},
		"to the clause in the making":  {2 * second, "One, two, three, four,"},
		"far beyond what is generated": {10 * second, "One, two, three, four, five."},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(said.heardText(c.at)).To(gomega.Equal(c.want))
		})
	}
}

func TestHeardTextOfAClauseThatHasNoAudioYet(t *testing.T) {
	g := gomega.NewWithT(t)
	said := alignment{{text: "One, ", from: 0, to: second, done: true}, {text: "two.", from: -1}}
	g.Expect(said.heardText(5 * second)).To(gomega.Equal("One,"))
}

// estimate is what a client that plays by itself has probably heard.
func TestEstimate(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	var sent int
	var end time.Duration
	e := &estimate{
		now: func() time.Time { return now }, emit: func(pcm []int16) { sent += len(pcm) },
		drained: func(_ uint64, in time.Duration) { end = in },
	}
	e.Begin(1)
	e.Write(make([]int16, 2*format.OutputRate))
	g.Expect(sent).To(gomega.Equal(2*format.OutputRate), "the client gets audio at once")
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

func TestEstimateKeepsWhatComesWhileHeld(t *testing.T) {
	g := gomega.NewWithT(t)
	now := time.Unix(0, 0)
	var sent int
	e := &estimate{now: func() time.Time { return now }, emit: func(pcm []int16) { sent += len(pcm) }, drained: func(uint64, time.Duration) {}}
	e.Begin(1)
	e.Hold()
	e.Write(make([]int16, format.OutputRate))
	g.Expect(sent).To(gomega.BeZero())
	e.Resume(2, 0)
	g.Expect(sent).To(gomega.Equal(format.OutputRate))
	e.Hold()
	e.Write(make([]int16, format.OutputRate))
	g.Expect(e.Drop()).To(gomega.BeZero())
	e.Resume(3, 0)
	g.Expect(sent).To(gomega.Equal(format.OutputRate), "what was dropped never comes")
}
