package bench

// This file starts servers in processes of their own, reads the memory and the processor time of a process, and measures the memory of a call.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/antiphon-rt/antiphon/internal/bare"
	"github.com/antiphon-rt/antiphon/wire"
)

// memoryCalls is the number of calls that are held to measure the memory of one.
const memoryCalls = 20

// child is a server in a process of its own, so that its memory and processor time do not contain those of its clients.
type child struct {
	cmd *exec.Cmd
	url string
}

// startChild starts a server with further flags, and waits until it listens and has held one call.
func startChild(ctx context.Context, flags ...string) (*child, error) {
	all, number := strconv.Itoa(MaxSessions), strconv.Itoa(anyNumber)
	c, err := start(ctx, append([]string{
		"serve", "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--log-level", "error",
		"--max-sessions", all, "--calls-per-address", all, "--call-attempts", "100000", "--max-late", "0", "--max-cpu", "0",
		"--requests-per-minute", number, "--tokens-per-minute", number, "--events-per-second", strconv.Itoa(anyRate),
	}, flags...)...)
	if err != nil {
		return nil, err
	}
	if err := warmUp(ctx, c.url); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// start starts this program again as a server, and waits until it listens.
func start(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self, args...)}
	c.cmd.Stderr = os.Stderr
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("the server said %q", line), err, c.cmd.Process.Kill(), c.cmd.Wait())
	}
	c.url = url
	return c, nil
}

func (c *child) stop() error {
	return errors.Join(c.cmd.Process.Signal(syscall.SIGTERM), c.cmd.Wait())
}

// resident returns the physical memory of a process, in bytes. It works on Linux alone.
func resident(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		if kb, ok := bytes.CutPrefix(line, []byte("VmRSS:")); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(string(kb)), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("the system does not say how much memory a process has")
}

// cost is how long the threads of a process ran, and how long they waited for a processor.
type cost struct{ ran, waited time.Duration }

// consumed returns the cost of a process. It works on Linux alone. The waits are those of the threads that there are.
func consumed(pid int) (c cost, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return c, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return c, errors.New("the system does not say how much time a process took")
	}
	user, err1 := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	const ticks = 100 // a second: USER_HZ of every Linux
	c.ran = time.Duration(user+system) * time.Second / ticks
	threads, err3 := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range threads {
		line, err := os.ReadFile(name)
		if fields := strings.Fields(string(line)); err == nil && len(fields) == 3 { // else the thread has ended
			waited, _ := strconv.ParseInt(fields[1], 10, 64) // a number: the system wrote it
			c.waited += time.Duration(waited)
		}
	}
	return c, errors.Join(err1, err2, err3)
}

func mb(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/(1<<20)) }

// printMemory writes how much memory a call takes in the server: while nobody speaks, and after the agent has spoken.
func printMemory(ctx context.Context, w io.Writer, talk time.Duration) (err error) {
	if _, err := resident(os.Getpid()); err != nil {
		_, err = fmt.Fprintf(w, "Memory: not measured: %v\n", err)
		return err
	}
	reference, err := bareMemory(ctx)
	if err != nil {
		return err
	}
	server, err := startChild(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	before, err := resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	calls, err := dialMany(ctx, server.url, memoryCalls)
	defer func() { err = errors.Join(err, closeAll(calls)) }()
	if err != nil {
		return err
	}
	idle, err := resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if err := c.ask("say 40 words"); err != nil {
			return err
		}
	}
	if err := pause(ctx, talk); err != nil {
		return err
	}
	talking, err := resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Memory a call, resident, of %d calls (goal 1.0 MB):\n"+
		"  reference: a bare pion peer  %s\n  silent  %s  (x %.1f)\n  the agent speaks  %s  (x %.1f)\n  the server itself  %s\n\n",
		memoryCalls, mb(reference), mb((idle-before)/memoryCalls), float64((idle-before)/memoryCalls)/float64(reference),
		mb((talking-before)/memoryCalls), float64((talking-before)/memoryCalls)/float64(reference), mb(before))
	return err
}

// warmUp holds one short call, after which the server has made its one-time allocations.
func warmUp(ctx context.Context, url string) error {
	c, err := dial(ctx, url, turnSettings)
	if err != nil {
		return err
	}
	err = c.ask("x")
	if err == nil {
		_, err = await[*wire.OutputAudioBufferStopped](ctx, c)
	}
	return errors.Join(err, c.close())
}

// bareMemory returns the memory of one connected pion peer that does nothing, in bytes. It measures in a new process, because
// this process has free memory left from other measurements.
func bareMemory(ctx context.Context) (int64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, self, "bench", "--bare", strconv.Itoa(memoryCalls)).Output()
	if err != nil {
		return 0, fmt.Errorf("measuring bare peers: %w", err)
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// PrintBare writes the memory of one connected pion peer, in bytes, measured with n of them. A first pair is not counted: it
// makes the one-time allocations.
func PrintBare(ctx context.Context, w io.Writer, n int) (err error) {
	var peers []*bare.Peer
	defer func() {
		for _, p := range peers {
			err = errors.Join(err, p.Close())
		}
	}()
	pair := func() error {
		caller, called, err := bare.Pair(ctx)
		if err == nil {
			peers = append(peers, caller, called)
		}
		return err
	}
	if err := pair(); err != nil {
		return err
	}
	before, err := resident(os.Getpid())
	if err != nil {
		return err
	}
	for range max(n/2, 1) {
		if err := pair(); err != nil {
			return err
		}
	}
	after, err := resident(os.Getpid())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, (after-before)/int64(len(peers)-2))
	return err
}

// dialMany places n calls, callsAtATime at a time. It also returns calls with an error: those that are up.
func dialMany(ctx context.Context, url string, n int) ([]*call, error) {
	calls, errs := make([]*call, n), make([]error, n)
	var all sync.WaitGroup
	places := make(chan struct{}, callsAtATime)
	for i := range n {
		all.Go(func() {
			places <- struct{}{}
			calls[i], errs[i] = dial(ctx, url, turnSettings)
			<-places
		})
	}
	all.Wait()
	var up []*call
	for _, c := range calls {
		if c != nil {
			up = append(up, c)
		}
	}
	return up, errors.Join(errs...)
}

// closeAll closes all calls and waits for them.
func closeAll(calls []*call) error {
	errs := make([]error, len(calls))
	var all sync.WaitGroup
	for i, c := range calls {
		all.Go(func() { errs[i] = c.close() })
	}
	all.Wait()
	return errors.Join(errs...)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
