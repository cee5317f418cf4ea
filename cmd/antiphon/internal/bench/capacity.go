package bench

// This file measures how many calls one processor serves: the capacity campaign.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	// capacityStep is by how many calls the campaign grows.
	capacityStep = 50
	// onTime is the 99th percentile of lateness up to which the server counts as on time.
	onTime = 20 * time.Millisecond
	// lateAfter is how much after its due time a frame counts as late: two frames, as long as a small jitter buffer.
	lateAfter = 2 * native.FrameTime
	// loadTurn is the length of one turn under load; the agent speaks for 40 % of it.
	loadTurn = 5 * time.Second
)

// loadRequest requests the response of a turn: "One two three four, five six seven." is 35 characters of 60 ms, which are 2.1 s.
const loadRequest = "say 7 words"

// printCapacity holds more and more calls, up to most, each number for the given time, and writes a line for each number. It stops
// when the server is not on time any more. The server has one processor and the clients have another, where the system allows that.
func printCapacity(ctx context.Context, w io.Writer, most int, each time.Duration) (err error) {
	server, apart, err := startApart(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := warmUp(ctx, server.url); err != nil {
		return err
	}
	before, err := resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	where := "server and clients share this machine's processors"
	if apart {
		where = "the server has one processor, the clients have another"
	}
	fmt.Fprintf(w, "Capacity: the agent speaks 40 %% of each call; %s. Lateness is that of frames at the clients.\n"+
		"  %6s %11s %18s %9s %9s %15s %12s\n", where, "calls", "processors", "calls a processor", "p50", "p99", "late over 40 ms", "memory a call")
	var calls []*call
	defer func() { err = errors.Join(err, closeAll(calls)) }()
	for n := min(capacityStep, most); n <= most; n += capacityStep {
		more, err := dialMany(ctx, server.url, n-len(calls))
		calls = append(calls, more...)
		if err != nil {
			return err
		}
		l, err := hold(ctx, server, calls, each)
		if err != nil {
			return err
		}
		l.memory = (l.memory - before) / int64(n)
		l.print(w, n)
		if quantile(l.lateness, 0.99) > onTime {
			_, err = fmt.Fprintf(w, "  At %d calls the 99th percentile is above %v: that is the limit on this machine.\n\n", n, onTime)
			return err
		}
	}
	_, err = fmt.Fprintf(w, "  The server was on time with all %d calls.\n\n", most)
	return err
}

// load is what one number of calls cost.
type load struct {
	share    float64 // processors of the server
	lateness []time.Duration
	memory   int64 // resident, in bytes
}

func (l *load) print(w io.Writer, n int) {
	late := 0
	for _, d := range l.lateness {
		if d > lateAfter {
			late++
		}
	}
	fmt.Fprintf(w, "  %6d %11.2f %18.0f %9s %9s %14.2f%% %12s\n", n, l.share, float64(n)/l.share,
		quantile(l.lateness, 0.5).Round(100*time.Microsecond), quantile(l.lateness, 0.99).Round(100*time.Microsecond),
		100*float64(late)/float64(max(1, len(l.lateness))), mb(l.memory))
}

// hold has all calls take turns for the given time, and returns what that cost.
func hold(ctx context.Context, server *child, calls []*call, within time.Duration) (*load, error) {
	before, err := consumed(server.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	var all sync.WaitGroup
	failed := make([]error, len(calls))
	for i, c := range calls {
		all.Go(func() {
			failed[i] = c.underLoad(ctx, time.Duration(i)*loadTurn/time.Duration(len(calls)), begin.Add(within))
		})
	}
	all.Wait()
	took := time.Since(begin)
	after, err := consumed(server.cmd.Process.Pid)
	if err := errors.Join(append(failed, err)...); err != nil {
		return nil, err
	}
	l := &load{share: float64(after-before) / float64(took)}
	for _, c := range calls {
		l.lateness = append(l.lateness, lateness(c.speaker.Frames(), begin)...)
	}
	l.memory, err = resident(server.cmd.Process.Pid)
	return l, err
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
