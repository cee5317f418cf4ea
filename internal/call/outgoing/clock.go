package outgoing

import (
	"sync/atomic"
	"time"
)

// The clock of a call's outgoing frames: one every 20 ms.

const (
	// FrameTime is the length of a frame.
	FrameTime = 20 * time.Millisecond
	// maxLate is how late the clock may be and still have the missing frames sent in a burst: a client's jitter buffer takes three
	// frames. When it is later, it leaves a gap in time, but not in the audio.
	maxLate = 3 * FrameTime
	// wakeTime is the grid of the times at which all calls send. So the processor wakes up once for the frames of many calls.
	wakeTime = 5 * time.Millisecond
)

// Clock has a frame sent every 20 ms of wall clock. Every deadline is the first one plus a whole number of frames, so that delays do not
// add up. The zero value is ready.
type Clock struct {
	Late    atomic.Uint64 // frames that were sent more than a frame's time too late
	Skipped atomic.Uint64 // frames that were not sent, because the clock was too late
}

// Pace is what a Clock calls.
type Pace struct {
	Send  func()      // every 20 ms
	Skip  func(n int) // n frames are left out
	Wake  <-chan struct{}
	Woken func() // for each token in Wake
}

// Run calls the functions of p until stop is closed, one at a time.
func (c *Clock) Run(stop <-chan struct{}, p Pace) {
	deadline := onGrid(time.Now())
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-p.Wake:
			p.Woken()
			continue
		case <-timer.C:
		}
		next, n := c.CatchUp(deadline, time.Now())
		if n > 0 {
			p.Skip(n)
		}
		p.Send()
		deadline = next.Add(FrameTime)
		timer.Reset(time.Until(deadline))
	}
}

// onGrid returns the first multiple of wakeTime at or after t.
func onGrid(t time.Time) time.Time {
	return t.Add((wakeTime - time.Duration(t.UnixNano())%wakeTime) % wakeTime)
}

// CatchUp counts late frames and returns the deadline of the next frame: the given one, or a later one if the clock is too late
// to catch up. skipped is how many frames are left out then.
func (c *Clock) CatchUp(deadline, now time.Time) (next time.Time, skipped int) {
	late := now.Sub(deadline)
	if late > FrameTime {
		c.Late.Add(1)
	}
	if late <= maxLate {
		return deadline, 0
	}
	skipped = int(late / FrameTime)
	c.Skipped.Add(uint64(skipped))
	return deadline.Add(time.Duration(skipped) * FrameTime), skipped
}
