package bench

// The benchmark's own measurements: quantiles, late frames, and the times of speech.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

func TestQuantile(t *testing.T) {
	g := gomega.NewWithT(t)
	values := []time.Duration{5, 1, 4, 2, 3}
	g.Expect(quantile(values, 0.5)).To(gomega.Equal(time.Duration(3)))
	g.Expect(quantile(values, 0.95)).To(gomega.Equal(time.Duration(5)))
	g.Expect(quantile(values[:1], 0.95)).To(gomega.Equal(time.Duration(5)))
	g.Expect(values[0]).To(gomega.Equal(time.Duration(5)), "the values keep their order")
}

func TestLatenessCountsWhenABufferRunsDry(t *testing.T) {
	begin := time.Unix(1000, 0)
	for name, row := range map[string]struct {
		at      []int // ms
		n, late int
	}{
		"on time":                        {[]int{0, 20, 40, 60}, 4, 0},
		"a little late":                  {[]int{0, 20, 75, 80}, 4, 0},
		"a pause and a burst":            {[]int{0, 20, 140, 141, 142, 143}, 6, 1},
		"a pause that nothing makes up":  {[]int{0, 20, 140, 160, 180}, 5, 1},
		"two pauses":                     {[]int{0, 100, 120, 220}, 4, 2},
		"frames before the time of note": {[]int{-500, -480, 0, 20}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var frames []native.HeardFrame
			for _, at := range row.at {
				frames = append(frames, native.HeardFrame{At: begin.Add(time.Duration(at) * time.Millisecond)})
			}
			var l lateness
			l.add(frames, begin)
			g.Expect([]int{len(l.behind), len(l.moments)}).To(gomega.Equal([]int{row.n, row.late}))
		})
	}
}

// Late frames that come at about one time are told together: they have one cause.
func TestLateFramesAreToldByTheirTimes(t *testing.T) {
	g := gomega.NewWithT(t)
	var l lateness
	g.Expect(l.stalls()).To(gomega.BeEmpty())
	for _, ms := range []int{4050, 300, 4000, 4140} {
		l.moments = append(l.moments, time.Duration(ms)*time.Millisecond)
	}
	g.Expect(l.stalls()).To(gomega.Equal("3 after 4.0 s, 1 after 0.3 s"))
	for s := range 9 {
		l.moments = append(l.moments, time.Duration(10+s)*time.Second)
	}
	g.Expect(l.stalls()).To(gomega.And(gomega.HavePrefix("3 after 4.0 s, 1 after 0.3 s, 1 after 10.0 s"), gomega.HaveSuffix("and at 3 other times")))
}

func TestMicrophoneKnowsWhenItSpoke(t *testing.T) {
	g := gomega.NewWithT(t)
	var m microphone
	said, err := m.Speak([]int16{1, 1, 1, 1, 0, 0})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	before := time.Now()
	m.Frame(make([]int16, native.FrameSize))
	after := time.Now()
	<-said
	g.Expect(m.over.Sub(m.begun)).To(gomega.BeNumerically("~", 4*time.Second/native.Rate, 2))
	g.Expect(m.begun).To(gomega.And(
		gomega.BeTemporally(">=", before.Add(-native.FrameTime)), gomega.BeTemporally("<=", after.Add(-native.FrameTime)),
	))
}

// On a busy machine the goroutines of ended calls end late: their number does not sink for more than a second.
func TestTheGoroutinesOfCallsMayEndLate(t *testing.T) {
	g := gomega.NewWithT(t)
	began := time.Now()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := 12
		if time.Since(began) < 1500*time.Millisecond {
			n = 95
		}
		_, _ = fmt.Fprintf(w, "go_goroutines %d\n", n) // the client sees an error
	}))
	defer server.Close()
	own, err := os.FindProcess(os.Getpid())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := &child{url: server.URL, cmd: &exec.Cmd{Process: own}}
	after, err := c.settledTo(t.Context(), usage{goroutines: 12})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(after.goroutines).To(gomega.Equal(12))
}
