package main

// The row "heap": how much memory a session of the SDK holds after half an hour of talk on a virtual clock.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	talkTime   = 30 * time.Minute
	talkWarm   = 10 * time.Minute // until everything that has a limit has come to it
	talkEvery  = 5 * time.Minute  // between two looks
	talkShown  = 60               // entries of the transcript that are kept
	frameTime  = 10 * time.Millisecond
	frameSize  = rig.SpeechRate / 100
	ticksFrame = 480 // of the RTP clock
)

// usage is what a session holds at a moment.
type usage struct {
	at                        time.Duration
	heap                      uint64
	goroutines, timers, heard int
}

// heap lets a session talk for half an hour in no time, and looks what it holds.
func heap(h *house, _ options, r *results) error {
	spoken, err := h.spoken(phrases)
	if err != nil {
		return err
	}
	t := &talker{person: spoken, agent: spoken[2].Floats(), ear: sdk.NewBargeInDetector()}
	all, err := t.talk()
	if err != nil {
		return err
	}
	table := table{
		title: "A call of thirty minutes, accelerated", head: []string{"minute", "heap kB", "goroutines", "timers", "barge-ins so far"},
		notes: []string{fmt.Sprintf(
			"A session of the SDK and its detector run frame by frame against sdktest, with turns, responses, coughs and barge-ins. The session keeps %d entries. The heap is that of the whole process.", talkShown)},
	}
	for _, u := range all {
		table.rows = append(table.rows, []string{
			fmt.Sprint(u.at.Minutes()), kB(int(u.heap)), fmt.Sprint(u.goroutines), fmt.Sprint(u.timers), fmt.Sprint(u.heard), //nolint:gosec // a heap is no such size
		})
	}
	r.add(table)
	first, last := all[0], all[len(all)-1]
	growth := float64(last.heap)/float64(first.heap) - 1
	flat := growth < 0.03 && last.goroutines <= first.goroutines && last.timers <= first.timers
	r.judge(target{
		what: fmt.Sprintf("heap and handles, minute %.0f to %.0f", first.at.Minutes(), last.at.Minutes()), want: "no growth", hard: true, met: flat,
		got: fmt.Sprintf("%+.1f %%, %+d goroutines, %+d timers", 100*growth, last.goroutines-first.goroutines, last.timers-first.timers),
	})
	return nil
}

// talker is a session with somebody who talks, on a clock of its own.
type talker struct {
	person  []rig.Sound
	agent   []float32
	ear     *sdk.BargeInDetector
	server  *sdktest.Server
	mark    uint32
	failure error
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
		t.server.Sent() // takes them
		if t.server.Clock.Now() >= next {
			all = append(all, t.look(session))
			next += talkEvery
		}
	}
	return all, t.failure
}

// look lets the garbage go first.
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

// turn is a question, and an answer in which there is a cough, or an interruption, or neither.
func (t *talker) turn(n int) {
	t.hear(t.person[n%len(t.person)], false)
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
		t.hear(t.person[(n+1)%len(t.person)], true)
		reply.Interrupt(fmt.Sprintf("item_%d_more", n), 3*time.Second, "This is what there is to say")
	default:
		t.hear(rig.Silence(2*time.Second), true)
		reply.End()
	}
	t.hear(rig.Silence(time.Second), false)
}

// reject answers the candidate that the session has told of, if it has.
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

// play lets so many frames pass.
func (t *talker) play(frames int) {
	for range frames {
		t.mark += ticksFrame
		t.server.Heard(t.mark)
		t.server.Clock.Advance(frameTime)
	}
}

// hear lets the microphone hear a sound, while the agent speaks or not.
func (t *talker) hear(sound rig.Sound, playing bool) {
	mic := sound.Floats()
	silence := make([]float32, frameSize)
	for at := 0; at+frameSize <= len(mic); at += frameSize {
		agent := silence
		if playing {
			from := at % (len(t.agent) - frameSize)
			agent = t.agent[from : from+frameSize]
		}
		if e := t.ear.Frame(mic[at:at+frameSize], agent, playing).Event(sdk.PlayedPosition{Timestamp: t.mark}, true); e != nil {
			t.server.Tell(e)
		}
		t.play(1)
	}
}
