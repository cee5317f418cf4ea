package backend

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

// Options are what a Pool is made of. Command is required.
type Options struct {
	// Command makes the command of one back-end process. Its standard streams are the Pool's.
	Command func() *exec.Cmd
	// Max bounds the processes, and so the utterances at a time; 0 takes 4. More wait for Busy.
	Max int
	// Idle is how many processes are kept warm; 0 takes 2.
	Idle int
	// Busy is how long an utterance waits for a process; 0 takes 5 s.
	Busy time.Duration
	// Hang is the time without progress after which a process is killed; 0 takes 10 s.
	Hang time.Duration
	// Start is how long a new process may take until it can work; 0 takes 30 s: it loads a model, maybe on a busy machine.
	Start time.Duration
	// Logger gets what the processes complain about. nil discards.
	Logger *slog.Logger
}

// Back-off between starts of processes that fail.
const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Pool is a pipeline.Transcriber whose utterances run in processes: a crash costs at most one utterance, and that is tried
// once more with what was said so far. It is safe for concurrent use. Close it.
type Pool struct {
	o    Options
	free *semaphore.Weighted

	mu       sync.Mutex
	idle     []*process
	failures int       // in a row
	notUntil time.Time // the next start
	closed   bool
	info     Info

	ctx     context.Context //nolint:containedctx // the life of the pool's utterances, not of a call
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewPool makes a pool without any process: Warm, or the first utterance, starts one.
func NewPool(o Options) *Pool {
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

// Warm starts a process, unless one is there, and returns when it can work.
func (p *Pool) Warm(ctx context.Context) error {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	defer p.free.Release(1)
	proc, err := p.take(ctx)
	if err != nil {
		return stage(err)
	}
	p.giveBack(proc)
	return nil
}

// enter takes one of the places that Max gives, for a work that Close ends and waits for. The work calls leave at its end, and
// gives the place back itself.
func (p *Pool) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, nil, stage(pipeline.ErrClosed)
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

// Info is what the engine said of itself; zero before the first process ran.
func (p *Pool) Info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.info
}

// Close ends every utterance and process, and joins them. It is idempotent.
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

// Open implements pipeline.Transcriber. It waits for a process that can work, at most Busy for a place and Start for a process.
func (p *Pool) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	u := &utterance{
		pool: p, ctx: ctx, cancel: cancel, leave: leave, closed: make(chan struct{}),
		config: Config{Model: c.Model, Language: c.Language, Prompt: c.Prompt, Live: c.Live}, in: newQueue(room(c.Live)),
	}
	u.out = newOutbox(u.closed)
	if err := u.begin(); err != nil {
		cancel()
		p.free.Release(1)
		leave()
		return nil, stage(err)
	}
	u.running.Go(u.out.run)
	u.running.Go(u.run)
	return u, nil
}

func stage(err error) error {
	return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: err}
}

// acquire takes one of the places that Max gives.
func (p *Pool) acquire(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, p.o.Busy)
	defer cancel()
	if err := p.free.Acquire(wait, 1); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return stage(fmt.Errorf("%w: %d utterances are being recognised", pipeline.ErrBusy, p.o.Max))
	}
	return nil
}

// take is an idle process or a new one.
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

// start starts a process, not before the back-off is over.
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

// giveBack keeps a process that is between utterances, or ends it.
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

// broken ends a process that cannot be used any more.
func (p *Pool) broken(proc *process, err error) {
	p.o.Logger.Warn("a back-end process is replaced", "err", err)
	p.mu.Lock()
	p.failed()
	p.mu.Unlock()
	proc.kill()
	proc.close()
}

// retry says whether what went wrong may go right in a fresh process.
func retry(err error) bool {
	return errors.Is(err, ErrCrashed) || errors.Is(err, ErrProtocol) || errors.Is(err, ErrFrameTooLarge)
}
