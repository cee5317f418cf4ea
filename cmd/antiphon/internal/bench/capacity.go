package bench

// This file measures how many calls one processor serves: the capacity campaign.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// capacityStep is by how many calls the campaign grows.
	capacityStep = 50
	// onTime is the 99th percentile of lateness up to which the server counts as on time.
	onTime = 20 * time.Millisecond
)

// measureCapacity holds calls on a server of its own, and prints what they cost: more and more calls, or all for the whole time.
// The server has one processor and the clients have another, where the system allows that.
func measureCapacity(ctx context.Context, w io.Writer, o Options) (err error) {
	profiles, err := newProfiles(o.Profile)
	if err != nil {
		return err
	}
	reference, late, err := bareCapacity(ctx, min(o.Sessions, capacityStep), o.Time/4)
	if err != nil {
		return err
	}
	server, apart, err := startApart(func() (*child, error) { return startChild(ctx, profiles.flags()...) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	before, err := server.settled(ctx)
	if err != nil {
		return err
	}
	where := "server and clients share this machine's processors"
	if apart {
		where = "the server has one processor, the clients have another"
	}
	fmt.Fprintf(w, "The agent speaks 40 %% of each call; %s. Lateness is that of frames at the clients.\n"+
		"Reference: bare pion, which sends each packet back, serves %.0f calls a processor. %d of %d packets came back after more than %v.\n",
		where, reference, len(late.moments), len(late.behind), lateAfter)
	if len(late.moments) > 0 {
		fmt.Fprintf(w, "          Late: %s.\n", late.stalls())
	}
	c := &campaign{server: server, before: before, profiles: profiles, w: w, reference: reference}
	if o.Soak {
		err = c.soak(ctx, o.Sessions, o.Time)
	} else {
		err = c.grow(ctx, o.Sessions, o.Time/2)
	}
	if err = errors.Join(err, c.hangUp()); err != nil {
		return err
	}
	after, err := server.settledTo(ctx, before)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "  Before the calls and after them: %d and %d goroutines, %s and %s resident.\n\n",
		before.goroutines, after.goroutines, mb(before.resident), mb(after.resident))
	return err
}

// campaign holds calls on a server.
type campaign struct {
	server   *child
	before   usage // what the server used before the calls
	profiles profiles
	w        io.Writer
	calls    []*call

	reference float64 // calls a processor of bare pion
}

// usage is what a server uses.
type usage struct {
	resident   int64 // bytes
	goroutines int
}

// raise makes it n calls.
func (c *campaign) raise(ctx context.Context, n int) error {
	more, err := dialMany(ctx, c.server.url, n-len(c.calls))
	c.calls = append(c.calls, more...)
	return err
}

func (c *campaign) hangUp() error { return closeAll(c.calls) }

// grow holds more and more calls, up to most, each number for the given time, and writes a line for each number. It stops when the server
// is not on time any more.
func (c *campaign) grow(ctx context.Context, most int, each time.Duration) error {
	printLoadHead(c.w, "calls")
	for n := 0; n < most; {
		n = min(n+capacityStep, most)
		if err := c.raise(ctx, n); err != nil {
			return err
		}
		profiled := c.profiles.take(ctx, each)
		l, err := c.hold(ctx, each)
		if err = errors.Join(err, <-profiled); err != nil {
			return err
		}
		l.print(c.w, fmt.Sprint(n), c.reference)
		if quantile(l.lateness.behind, 0.99) > onTime {
			_, err = fmt.Fprintf(c.w, "  At %d calls the 99th percentile is above %v: that is the limit on this machine.\n", n, onTime)
			return err
		}
	}
	_, err := fmt.Fprintf(c.w, "  The server was on time with all %d calls.\n", most)
	return err
}

// soakStep is how often a soak writes a line.
const soakStep = time.Minute

// soak holds n calls for the given time, and writes a line every minute.
func (c *campaign) soak(ctx context.Context, n int, within time.Duration) error {
	if err := c.raise(ctx, n); err != nil {
		return err
	}
	fmt.Fprintf(c.w, "Soak of %d calls:\n", n)
	printLoadHead(c.w, "after")
	for passed := time.Duration(0); passed < within; {
		step := min(soakStep, within-passed)
		profiled := c.profiles.take(ctx, step)
		l, err := c.hold(ctx, step)
		if err = errors.Join(err, <-profiled); err != nil {
			return err
		}
		passed += step
		l.print(c.w, passed.String(), c.reference)
	}
	return nil
}

// load is what one number of calls cost in some time.
type load struct {
	calls    int
	server   float64 // processors of the server
	clients  float64 // processors of the clients
	lateness lateness
	memory   int64 // resident memory a call, in bytes
	usage    usage
	waited   [2]time.Duration // how long threads of the server and of the clients waited for a processor
}

const loadRow = "  %7s %10s %17s %12s %10s %8s %8s %15s %13s %10s %10s\n"

func printLoadHead(w io.Writer, first string) {
	fmt.Fprintf(w, loadRow, first, "processors", "calls a processor", "of bare pion", "of clients", "p50", "p99", "late over 40 ms", "memory a call", "resident", "goroutines")
}

// print writes the row. reference is how many calls a processor of bare pion serves.
func (l *load) print(w io.Writer, first string, reference float64) {
	late := len(l.lateness.moments)
	short := func(q float64) string { return quantile(l.lateness.behind, q).Round(100 * time.Microsecond).String() }
	fmt.Fprintf(w, loadRow, first, fmt.Sprintf("%.2f", l.server), fmt.Sprintf("%.0f", float64(l.calls)/l.server),
		fmt.Sprintf("%.2f", float64(l.calls)/l.server/reference), fmt.Sprintf("%.2f", l.clients),
		short(0.5), short(0.99), fmt.Sprintf("%d of %d", late, len(l.lateness.behind)), mb(l.memory), mb(l.usage.resident), fmt.Sprint(l.usage.goroutines))
	if late > 0 {
		fmt.Fprintf(w, "          Late: %s. Threads of the server waited %v in all for the processor, those of the clients %v.\n",
			l.lateness.stalls(), l.waited[0].Round(time.Millisecond), l.waited[1].Round(time.Millisecond))
	}
}

// hold has all calls take turns for the given time, and returns what that cost.
func (c *campaign) hold(ctx context.Context, within time.Duration) (*load, error) {
	cost := func() (of [2]cost, err error) {
		server, err1 := consumed(c.server.cmd.Process.Pid)
		own, err2 := consumed(os.Getpid())
		return [2]cost{server, own}, errors.Join(err1, err2)
	}
	before, err := cost()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	var all sync.WaitGroup
	failed := make([]error, len(c.calls))
	for i, call := range c.calls {
		all.Go(func() {
			failed[i] = call.underLoad(ctx, time.Duration(i)*loadTurn/time.Duration(len(c.calls)), begin.Add(within))
		})
	}
	all.Wait()
	took := time.Since(begin)
	after, err := cost()
	if err := errors.Join(append(failed, err)...); err != nil {
		return nil, err
	}
	share := func(of int) float64 { return float64(after[of].ran-before[of].ran) / float64(took) }
	l := &load{calls: len(c.calls), server: share(0), clients: share(1)}
	for of := range l.waited {
		l.waited[of] = after[of].waited - before[of].waited
	}
	for _, call := range c.calls {
		l.lateness.add(call.speaker.Frames(), begin)
	}
	l.usage, err = c.server.usage(ctx)
	l.memory = (l.usage.resident - c.before.resident) / int64(len(c.calls))
	return l, err
}
