package backend

// This file starts, reads and ends one back-end process.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/confine"
)

// process is a running back-end process. It works on one utterance at a time.
type process struct {
	timed  bool // it has opened an utterance with times of words
	cmd    *exec.Cmd
	in     *os.File      // standard input of the process: a pipe whose writes have deadlines
	frames chan frame    // frames from the process; closed at their end
	quit   chan struct{} // closed when nobody reads frames any more
	once   sync.Once
	joined sync.WaitGroup
	hung   atomic.Bool
	info   Info
	err    error // why frames was closed; valid after that
}

type frame struct {
	kind kind
	body []byte
}

// start runs the command and waits at most patience for its hello frame.
func start(ctx context.Context, command func() *exec.Cmd, patience time.Duration, log *slog.Logger) (*process, error) {
	cmd := command()
	out, err1 := cmd.StdoutPipe()
	complaints, err2 := cmd.StderrPipe()
	theirs, in, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("back end: %w", err)
	}
	cmd.Stdin = theirs
	ownProcessGroup(cmd)
	err := confine.Start(cmd)
	if e := theirs.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("back end: %w", err), in.Close())
	}
	p := &process{cmd: cmd, in: in, frames: make(chan frame, 16), quit: make(chan struct{})}
	var piped sync.WaitGroup
	piped.Go(func() { logLines(complaints, log) })
	piped.Go(func() { p.read(out) })
	p.joined.Go(func() {
		piped.Wait()
		if err := cmd.Wait(); err != nil {
			log.Debug("a back-end process ended", "err", err)
		}
	})
	watch := p.watch(patience)
	defer watch.Stop()
	f, err := p.next(ctx)
	if err == nil && f.kind != kindHello {
		err = fmt.Errorf("%w: frame %q in place of the greeting", ErrProtocol, byte(f.kind))
	}
	if err == nil {
		err = json.Unmarshal(f.body, &p.info)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// logLines writes the standard error of the process to the log.
func logLines(r io.Reader, log *slog.Logger) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		log.Info("back end", "says", lines.Text())
	}
	_, _ = io.Copy(io.Discard, r) // a line that is too long must not block the process
}

// read passes the frames of the process on until they end.
func (p *process) read(r io.Reader) {
	defer close(p.frames)
	in := bufio.NewReader(r)
	for {
		k, body, err := readFrame(in)
		if err != nil {
			p.err = err
			return
		}
		select {
		case p.frames <- frame{k, body}:
		case <-p.quit:
			p.err = ErrCrashed
			return
		}
	}
}

// next returns the next frame of the process, or the reason why there is none.
func (p *process) next(ctx context.Context) (frame, error) {
	select {
	case f, ok := <-p.frames:
		if !ok {
			return frame{}, p.why()
		}
		return f, nil
	case <-ctx.Done():
		return frame{}, ctx.Err()
	}
}

// why returns the error that ended the frames.
func (p *process) why() error {
	switch {
	case p.hung.Load():
		return ErrHung
	case errors.Is(p.err, ErrProtocol) || errors.Is(p.err, ErrFrameTooLarge):
		return p.err
	}
	return fmt.Errorf("%w: %w", ErrCrashed, p.err)
}

// watch kills the process after the time patience, unless the returned timer is stopped before.
func (p *process) watch(patience time.Duration) *time.Timer {
	return time.AfterFunc(patience, func() {
		p.hung.Store(true)
		p.kill()
	})
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // fails if the process has ended already

// close ends the process and waits for it and its goroutines. A process that is between utterances ends when its input is closed.
// After 1 s it is killed.
func (p *process) close() {
	p.once.Do(func() {
		close(p.quit)
		_ = p.in.Close() // fails if the process has ended already
		late := time.AfterFunc(time.Second, p.kill)
		p.joined.Wait()
		late.Stop()
	})
}

// alive reports whether the process can probably take another utterance.
func (p *process) alive() bool {
	select {
	case <-p.frames: // the process has sent a frame between utterances, or has ended
		return false
	default:
		return true
	}
}
