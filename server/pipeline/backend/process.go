package backend

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
)

// process is a running back end: one utterance at a time.
type process struct {
	cmd    *exec.Cmd
	in     *os.File      // its standard input: a pipe whose writes have deadlines
	frames chan frame    // what it says; closed when it says no more
	quit   chan struct{} // closed: nobody listens any more
	once   sync.Once
	joined sync.WaitGroup
	hung   atomic.Bool
	info   Info
	err    error // why frames ended; read after it is closed
}

type frame struct {
	kind kind
	body []byte
}

// start runs the command and waits for its hello.
func start(ctx context.Context, command func() *exec.Cmd, patience time.Duration, log *slog.Logger) (*process, error) {
	cmd := command()
	out, err1 := cmd.StdoutPipe()
	complaints, err2 := cmd.StderrPipe()
	theirs, in, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("back end: %w", err)
	}
	cmd.Stdin = theirs
	err := cmd.Start()
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

// logLines gives what the process complains about to the log.
func logLines(r io.Reader, log *slog.Logger) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		log.Info("back end", "says", lines.Text())
	}
	_, _ = io.Copy(io.Discard, r) // a line that is too long must not block the process
}

// read passes its frames on until they end.
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

// next is its next frame, or why there is none.
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

// why says what ended the frames.
func (p *process) why() error {
	switch {
	case p.hung.Load():
		return ErrHung
	case errors.Is(p.err, ErrProtocol) || errors.Is(p.err, ErrFrameTooLarge):
		return p.err
	}
	return fmt.Errorf("%w: %w", ErrCrashed, p.err)
}

// watch kills the process unless it is stopped in time.
func (p *process) watch(patience time.Duration) *time.Timer {
	return time.AfterFunc(patience, func() {
		p.hung.Store(true)
		p.kill()
	})
}

func (p *process) kill() { _ = p.cmd.Process.Kill() } // it may have ended by itself

// close ends the process and joins all that belongs to it. A process that is between utterances ends by itself when its
// input does; one that does not is killed.
func (p *process) close() {
	p.once.Do(func() {
		close(p.quit)
		_ = p.in.Close() // it may be gone
		late := time.AfterFunc(time.Second, p.kill)
		p.joined.Wait()
		late.Stop()
	})
}

// alive says whether it can be expected to take another utterance.
func (p *process) alive() bool {
	select {
	case <-p.frames: // a frame between utterances, or the end
		return false
	default:
		return true
	}
}
