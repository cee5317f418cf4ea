package bench

// This file has the load of one call in the capacity campaign, and how late its frames come.

import (
	"context"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	// lateAfter is how much after its due time a frame counts as late: two frames, as long as a small jitter buffer.
	lateAfter = 2 * native.FrameTime
	// loadTurn is the length of one turn under load; the agent speaks for 40 % of it.
	loadTurn = 5 * time.Second
)

// loadRequest requests the response of a turn: "One two three four, five six seven." is 35 characters of 60 ms, which are 2.1 s.
const loadRequest = "say 7 words"

// underLoad waits for offset and then takes one turn every loadTurn, until the given time.
func (c *call) underLoad(ctx context.Context, offset time.Duration, until time.Time) error {
	if err := pause(ctx, offset); err != nil {
		return err
	}
	for time.Now().Before(until) {
		next := time.Now().Add(loadTurn)
		if err := c.ask(loadRequest); err != nil {
			return err
		}
		if _, err := await[*wire.OutputAudioBufferStopped](ctx, c); err != nil {
			return err
		}
		if err := pause(ctx, time.Until(next)); err != nil {
			return err
		}
	}
	return nil
}

// lateness returns for each frame that came after since how much after its due time it came. Each frame is due native.FrameTime after
// the one before it. An early frame, or one that is late by more than lateAfter, moves the due times of the frames that follow, as in a
// jitter buffer.
func lateness(frames []native.HeardFrame, since time.Time) []time.Duration {
	var late []time.Duration
	var due time.Time
	begin, _ := slices.BinarySearchFunc(frames, since, func(f native.HeardFrame, t time.Time) int { return f.At.Compare(t) })
	for i, f := range frames[begin:] {
		behind := f.At.Sub(due)
		if i == 0 || behind < 0 {
			behind, due = 0, f.At
		} else if behind > lateAfter {
			due = f.At
		}
		late = append(late, behind)
		due = due.Add(native.FrameTime)
	}
	return late
}
