//go:build !js

package native

// The pacer of a call, which sends one frame every 20 ms, with the call's reports of events and levels.

import (
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
)

// maxBehind is how many frames are made up for when the machine was busy. A longer gap is left out.
const maxBehind = 25

// pace calls tick every FrameTime until stop is closed. The times are counted from the beginning, not from the last call.
func pace(stop <-chan struct{}, tick func()) {
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		now := time.Now()
		if now.Sub(due) > maxBehind*FrameTime {
			due = now
		}
		for !due.After(now) {
			tick()
			due = due.Add(FrameTime)
		}
		timer.Reset(time.Until(due))
	}
}

// eventSink gives events to the session, and none after stop.
type eventSink struct {
	sink func(sdk.PeerEvent)

	mu      sync.Mutex
	cond    *sync.Cond
	sending int
	stopped bool
}

func newEventSink(sink func(sdk.PeerEvent)) *eventSink {
	t := &eventSink{sink: sink}
	t.cond = sync.NewCond(&t.mu)
	return t
}

func (t *eventSink) send(e sdk.PeerEvent) {
	t.mu.Lock()
	if t.stopped {
		t.mu.Unlock()
		return
	}
	t.sending++
	t.mu.Unlock()
	t.sink(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sending--
	if t.sending == 0 {
		t.cond.Broadcast()
	}
}

// stop waits until no event is being given to the session.
func (t *eventSink) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	for t.sending > 0 {
		t.cond.Wait()
	}
}

// levelMeter reports how loud both sides are, every third frame.
type levelMeter struct {
	events *eventSink
	frames int
	mic    float64

	mu    sync.Mutex
	agent float64
}

// microphoneFrame takes a frame of the user's sound, once every FrameTime.
func (m *levelMeter) microphoneFrame(pcm []int16) {
	m.mic = max(m.mic, dbfs(pcm))
	if m.frames++; m.frames%3 != 0 {
		return
	}
	m.mu.Lock()
	agent := m.agent
	m.agent = -120
	m.mu.Unlock()
	m.events.send(sdk.LevelsMeasured{Levels: sdk.Levels{Mic: meterLevel(m.mic), Agent: meterLevel(agent)}})
	m.mic = -120
}

// agentFrame takes a frame of the agent's sound.
func (m *levelMeter) agentFrame(pcm []int16) {
	level := dbfs(pcm)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agent = max(m.agent, level)
}
