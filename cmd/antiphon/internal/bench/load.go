package bench

// This file has the load of one call in the capacity campaign, and how late its frames come.

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// lateness has how late frames came, and when those came that were later than lateAfter, since the measurement began.
type lateness struct{ behind, moments []time.Duration }

// add adds the frames of a call that came after since. Each frame is due native.FrameTime after the one before it. An early frame, or one that is late by more than
// lateAfter, moves the due times of the frames that follow, as in a jitter buffer.
func (l *lateness) add(frames []native.HeardFrame, since time.Time) {
	var due time.Time
	begin, _ := slices.BinarySearchFunc(frames, since, func(f native.HeardFrame, t time.Time) int { return f.At.Compare(t) })
	for i, f := range frames[begin:] {
		behind := f.At.Sub(due)
		if i == 0 || behind < 0 {
			behind, due = 0, f.At
		} else if behind > lateAfter {
			due = f.At
		}
		l.frame(f.At.Sub(since), behind)
		due = due.Add(native.FrameTime)
	}
}

// frame counts a frame that came at a time, and how late.
func (l *lateness) frame(at, behind time.Duration) {
	l.behind = append(l.behind, behind)
	if behind > lateAfter {
		l.moments = append(l.moments, at)
	}
}

const (
	// stall is how far apart late frames may be that have one cause.
	stall = 100 * time.Millisecond
	// maxStalls is how many of them are told one by one.
	maxStalls = 8
)

// stalls says when frames came later than lateAfter, and how many, the most first. Many at one time are of something that held up all calls.
func (l *lateness) stalls() string {
	type one struct {
		at     time.Duration
		frames int
	}
	var all []one
	var last time.Duration
	for _, at := range slices.Sorted(slices.Values(l.moments)) {
		if len(all) == 0 || at-last > stall {
			all = append(all, one{at: at})
		}
		all[len(all)-1].frames++
		last = at
	}
	slices.SortStableFunc(all, func(a, b one) int { return b.frames - a.frames })
	var text []string
	for _, s := range all[:min(len(all), maxStalls)] {
		text = append(text, fmt.Sprintf("%d after %.1f s", s.frames, s.at.Seconds()))
	}
	if rest := len(all) - len(text); rest > 0 {
		text = append(text, fmt.Sprintf("and at %d other times", rest))
	}
	return strings.Join(text, ", ")
}
