package bench

// This file measures many calls at a time.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
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

// printLoad holds n calls for about the given time. The agent speaks 40 % of it. printLoad then writes how much processor time
// the server took, and how many frames came late.
func printLoad(ctx context.Context, w io.Writer, n int, within time.Duration) (err error) {
	server, err := startChild(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	calls, err := dialMany(ctx, server.url, n)
	defer func() { err = errors.Join(err, closeAll(calls)) }()
	if err != nil {
		return err
	}
	cpu, err := consumed(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	var all sync.WaitGroup
	failed := make(chan error, n)
	for i, c := range calls {
		all.Go(func() { failed <- c.underLoad(ctx, time.Duration(i)*loadTurn/time.Duration(n), begin.Add(within)) })
	}
	all.Wait()
	for range calls {
		err = errors.Join(err, <-failed)
	}
	if err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := consumed(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	frames, late := 0, 0
	for _, c := range calls {
		f, l := lateness(c.speaker.Frames(), begin)
		frames, late = frames+f, late+l
	}
	share := float64(after-cpu) / float64(took)
	_, err = fmt.Fprintf(w, "Load: %d calls for %v took %.2f processors of the server: %.0f calls a processor (goal 100).\n"+
		"  %d of %d frames came more than %v late; clients and server share this machine.\n",
		n, took.Round(time.Second), share, float64(n)/share, late, frames, lateAfter)
	return err
}

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

// lateness returns how many frames came after since, and how many of those came late: more than lateAfter after their due time,
// so that a small jitter buffer would have run empty. Each frame is due native.FrameTime after the one before it. A late frame, or an
// early one, moves the due times of the frames that follow, as in a jitter buffer.
func lateness(frames []native.HeardFrame, since time.Time) (n, late int) {
	var due time.Time
	for _, f := range frames {
		if f.At.Before(since) {
			continue
		}
		n++
		if behind := f.At.Sub(due); n == 1 || behind < 0 {
			due = f.At
		} else if behind > lateAfter {
			late++
			due = f.At
		}
		due = due.Add(native.FrameTime)
	}
	return n, late
}
