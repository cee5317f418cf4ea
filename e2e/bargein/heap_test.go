package bargein

// The benchmark of the heap: how much memory a session of the SDK holds after half an hour of talk on a virtual clock.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	talkTime   = 30 * time.Minute
	talkWarm   = 10 * time.Minute // after this time everything with a limit has reached it
	talkEvery  = 5 * time.Minute  // the time between two measurements
	talkShown  = 60               // how many entries of the transcript are kept
	frameTime  = 10 * time.Millisecond
	frameSize  = rig.SpeechRate / 100
	ticksFrame = 480 // ticks of the RTP clock in a frame
)

// usage is what a session holds at one moment.
type usage struct {
	at                        time.Duration
	heap                      uint64
	goroutines, timers, heard int
}

// BenchmarkHeap simulates half an hour of talk on a virtual clock, and measures what the session holds, which keeps talkShown entries. A session of the
// SDK and its detector run frame by frame against sdktest, with turns, responses, coughs and barge-ins. The heap is that of the whole process.
func BenchmarkHeap(b *testing.B) {
	spoken, err := speech(b.Context(), phrases)
	if err != nil {
		b.Fatal(err)
	}
	t := &talker{user: spoken, agent: spoken[2].Floats(), detector: sdk.NewBargeInDetector()}
	all, err := t.talk()
	if err != nil {
		b.Fatal(err)
	}
	for _, u := range all {
		b.Run(fmt.Sprintf("minute %v", u.at.Minutes()), func(b *testing.B) {
			b.ReportMetric(float64(u.heap)/1000, "heap-kB")
			figures.Count(b, "goroutines", u.goroutines)
			figures.Count(b, "timers", u.timers)
			figures.Count(b, "barge-ins-so-far", u.heard)
		})
	}
	first, last := all[0], all[len(all)-1]
	growth := float64(last.heap)/float64(first.heap) - 1
	if growth >= 0.03 || last.goroutines > first.goroutines || last.timers > first.timers {
		b.Errorf("from %+v to %+v: the heap has grown by %+.1f %%", first, last, 100*growth)
	}
}

// talker is a session on a virtual clock, with a simulated user who talks.
type talker struct {
	user     []rig.Sound
	agent    []float32
	detector *sdk.BargeInDetector
	server   *sdktest.Server
	mark     uint32
	failure  error
}

// Helper implements sdktest.TB.
func (t *talker) Helper() {}

// Fatalf implements sdktest.TB.
func (t *talker) Fatalf(format string, args ...any) {
	t.failure = errors.Join(t.failure, fmt.Errorf(format, args...))
}

func (t *talker) talk() (all []usage, err error) {
	t.server = sdktest.NewServer(t)
	session := t.server.Connect(sdk.Options{Limits: sdk.Limits{Entries: talkShown}})
	if session == nil {
		return nil, t.failure
	}
	defer func() { err = errors.Join(err, session.Close(context.Background())) }()
	next := talkWarm
	for turn := 0; t.server.Clock.Now() <= talkTime && t.failure == nil; turn++ {
		t.turn(turn)
		t.server.Sent() // removes them
		if t.server.Clock.Now() >= next {
			all = append(all, t.look(session))
			next += talkEvery
		}
	}
	return all, t.failure
}

// look collects garbage and then measures.
func (t *talker) look(session *sdk.Session) usage {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{
		at: t.server.Clock.Now().Truncate(talkEvery), heap: m.HeapAlloc, goroutines: runtime.NumGoroutine(), timers: t.server.Clock.Waiting(),
		heard: session.Snapshot().Interruptions.Candidates,
	}
}

// turn simulates a question and an answer, with a cough, an interruption or neither during the answer.
func (t *talker) turn(n int) {
	t.hear(t.user[n%len(t.user)], false)
	t.server.Speak(fmt.Sprintf("item_%d", n), "tell me more about that")
	reply := t.server.Begin(fmt.Sprintf("resp_%d", n))
	reply.Say("This is what there is to say about it, and it is not short. ")
	t.hear(rig.Silence(3*time.Second), true)
	switch n % 3 {
	case 0:
		t.server.Sent()
		t.hear(rig.Join(rig.Cough(), rig.Silence(400*time.Millisecond)), true)
		t.reject()
		t.hear(rig.Silence(2*time.Second), true)
		reply.End()
	case 1:
		t.hear(t.user[(n+1)%len(t.user)], true)
		reply.Interrupt(fmt.Sprintf("item_%d_more", n), 3*time.Second, "This is what there is to say")
	default:
		t.hear(rig.Silence(2*time.Second), true)
		reply.End()
	}
	t.hear(rig.Silence(time.Second), false)
}

// reject rejects the candidate that the session has reported, if there is one.
func (t *talker) reject() {
	for _, e := range t.server.Sent() {
		c, is := e.(*wire.AntiphonBargeInCandidate)
		if !is {
			continue
		}
		t.server.Send(&wire.AntiphonAck{Acknowledges: c.ID(), RTPTimestamp: int(t.mark)})
		t.play(10)
		t.server.Send(&wire.AntiphonBargeInRejected{Candidate: c.Candidate})
	}
}

// play lets this many frames pass.
func (t *talker) play(frames int) {
	for range frames {
		t.mark += ticksFrame
		t.server.Heard(t.mark)
		t.server.Clock.Advance(frameTime)
	}
}

// hear gives a sound to the session's detector, frame by frame. playing says whether the agent speaks.
func (t *talker) hear(sound rig.Sound, playing bool) {
	mic := sound.Floats()
	silence := make([]float32, frameSize)
	for at := 0; at+frameSize <= len(mic); at += frameSize {
		agent := silence
		if playing {
			from := at % (len(t.agent) - frameSize)
			agent = t.agent[from : from+frameSize]
		}
		if e := t.detector.Frame(mic[at:at+frameSize], agent, playing).Event(sdk.PlayedPosition{Timestamp: t.mark}, true); e != nil {
			t.server.Tell(e)
		}
		t.play(1)
	}
}
