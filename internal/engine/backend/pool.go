package backend

// This file has the pool of back-end processes.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Options configure a Pool. Command is required.
type Options struct {
	// Command returns the command of one back-end process. The Pool sets its standard streams.
	Command func() *exec.Cmd
	// Stage is the stage that errors name; "" means pipeline.StageTranscriber.
	Stage string
	// Max limits the processes, and so the utterances at a time; 0 means 4. Further utterances wait for Busy.
	Max int
	// Idle is how many idle processes are kept; 0 means 2.
	Idle int
	// Busy limits how long an utterance waits until fewer than Max run; 0 means 5 s.
	Busy time.Duration
	// Hang is the time without progress after which a process is killed; 0 means 10 s.
	Hang time.Duration
	// Start limits how long a new process may take until it can work; 0 means 30 s, because it loads a model.
	Start time.Duration
	// Logger gets the standard error of the processes. nil discards it.
	Logger *slog.Logger
}

// Limits of the back-off between starts of processes that fail.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Pool is a pipeline.Transcriber whose utterances run in processes of their own, or a pipeline.Synthesizer whose clauses do, by what its
// processes serve: an Engine or a Speaker. If a process crashes, its utterance is tried once
// more in another process, with the audio from its begin. A Pool is safe for concurrent use. The caller must close it.
type Pool struct {
	o    Options
	free *semaphore.Weighted

	mu       sync.Mutex
	idle     []*process
	failures int       // how many processes have failed in a row
	notUntil time.Time // no process is started before this time
	closed   bool
	info     Info

	ctx     context.Context //nolint:containedctx // it limits the utterances of the pool, not one call
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewPool returns a pool without processes. Warm or the first utterance starts one.
func NewPool(o Options) *Pool {
	if o.Stage == "" {
		o.Stage = pipeline.StageTranscriber
	}
	if o.Max == 0 {
		o.Max = 4
	}
	if o.Idle == 0 {
		o.Idle = 2
	}
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	if o.Hang == 0 {
		o.Hang = 10 * time.Second
	}
	if o.Start == 0 {
		o.Start = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Pool{o: o, free: semaphore.NewWeighted(int64(o.Max))}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Warm starts a process if there is none, and returns when it can work.
func (p *Pool) Warm(ctx context.Context) error {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer p.free.Release(1)
	proc, err := p.take(ctx)
	if err != nil {
		return p.stage(err)
	}
	p.giveBack(proc)
	return nil
}

// enter begins one piece of work and takes one of the Max places for it. Close cancels the returned context and waits for the work.
// At its end the caller releases the place and then calls leave.
func (p *Pool) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil, p.stage(pipeline.ErrClosed)
	}
	p.running.Add(1)
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(p.ctx, cancel)
	leave = sync.OnceFunc(func() {
		stop()
		cancel()
		p.running.Done()
	})
	if err := p.acquire(ctx); err != nil {
		leave()
		return nil, nil, err
	}
	return ctx, leave, nil
}

// Info returns the description that the engine gave; zero before the first process ran.
func (p *Pool) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}

// Close ends all utterances and processes and waits for them. It may be called again.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	p.cancel()
	for _, proc := range idle {
		proc.close()
	}
	p.running.Wait()
	return nil
}

// Open implements pipeline.Transcriber. It waits at most Busy for a place and at most Start for a new process.
func (p *Pool) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	u := &utterance{
		recognition: newRecognition(c.Live, cancel), pool: p, ctx: ctx, leave: leave,
		config: Config{Model: c.Model, Language: c.Language, Prompt: c.Prompt, Live: c.Live, Words: c.Words},
	}
	if err := u.begin(); err != nil {
		cancel()
		p.free.Release(1)
		leave()
		return nil, p.stage(err)
	}
	u.running.Go(u.out.run)
	u.running.Go(u.run)
	return u, nil
}

// stage wraps err as an error of the pool's stage, unless it is one of a stage.
func (p *Pool) stage(err error) error { return wrap(p.o.Stage, err) }

func wrap(stage string, err error) error {
	if as := new(pipeline.StageError); errors.As(err, &as) {
		return err
	}
	return &pipeline.StageError{Stage: stage, Err: err}
}

// acquire takes one of the Max places. It waits at most Busy.
func (p *Pool) acquire(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, p.o.Busy)
	defer cancel()
	if err := p.free.Acquire(wait, 1); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return p.stage(fmt.Errorf("%w: all %d processes are at work", pipeline.ErrBusy, p.o.Max))
	}
	return nil
}

// take returns an idle process or starts a new one.
func (p *Pool) take(ctx context.Context) (*process, error) {
	for {
		p.mu.Lock()
		n := len(p.idle)
		if p.closed {
			p.mu.Unlock()
			return nil, pipeline.ErrClosed
		}
		if n == 0 {
			wait := time.Until(p.notUntil)
			p.mu.Unlock()
			return p.start(ctx, wait)
		}
		proc := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if proc.alive() {
			return proc, nil
		}
		proc.close()
	}
}

// start waits for the back-off and then starts a process.
func (p *Pool) start(ctx context.Context, wait time.Duration) (*process, error) {
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	proc, err := start(ctx, p.o.Command, p.o.Start, p.o.Logger)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.failed()
		return nil, err
	}
	p.info, p.failures = proc.info, 0
	return proc, nil
}

// failed makes the next start wait longer. The caller holds mu.
func (p *Pool) failed() {
	p.notUntil = time.Now().Add(min(minBackoff<<min(p.failures, 10), maxBackoff))
	p.failures++
}

// giveBack takes back a process that is between utterances. It keeps at most Idle processes and ends the others.
func (p *Pool) giveBack(proc *process) {
	p.mu.Lock()
	if keep := !p.closed && len(p.idle) < p.o.Idle; keep {
		p.idle = append(p.idle, proc)
		p.mu.Unlock()
		return
	}
	p.mu.Unlock()
	proc.close()
}

// broken kills a process that cannot be used any more.
func (p *Pool) broken(proc *process, err error) {
	p.o.Logger.Warn("a back-end process is replaced", "err", err)
	p.mu.Lock()
	p.failed()
	p.mu.Unlock()
	proc.kill()
	proc.close()
}

// retry reports whether an utterance that failed with err may succeed in a new process.
func retry(err error) bool {
	return errors.Is(err, ErrCrashed) || errors.Is(err, ErrProtocol) || errors.Is(err, ErrFrameTooLarge)
}
