package smartturn

// The detector: it finds the model, and asks it in a process of its own.

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/models"
	"github.com/antiphon-rt/antiphon/internal/engine/ownprocess"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Config configures a Detector. The zero value takes what `antiphon models get smart-turn` has fetched.
type Config struct {
	// Models is the folder of the machine's models; "" means models.DefaultDir.
	Models string
	// Logger gets warnings and errors. nil discards them.
	Logger *slog.Logger

	// library and model are the folders of ONNX Runtime and of the model; "" means those of the models. Tests set them.
	library, model string
}

// Install is the command that fetches ONNX Runtime and the model.
const Install = "antiphon models get smart-turn"

const (
	name = "smart-turn"
	// engine and purpose are what the catalogue of models says that the library and the model are for.
	engine  = "engine"
	purpose = "end of turn"

	maxProcesses = 2                      // each takes 84 MB
	maxOpen      = 64                     // questions at a time
	answerWithin = 500 * time.Millisecond // then nobody waits for the answer any more
	busy         = answerWithin           // how long a question may wait for a process
	hang         = 5 * time.Second        // without progress, then the process is killed
	startWithin  = time.Minute            // a new process loads the library and the model
)

// Detector is a pipeline.EndJudge.
type Detector struct {
	stage ownprocess.Stage
	open  atomic.Int32

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// places are the folders that a process needs.
type places struct{ Library, Model string }

// find returns the folders. Its error says what is missing.
func (c Config) find() (places, error) {
	store, err := models.Open(c.Models)
	if err != nil {
		return places{}, err
	}
	p := places{Library: c.library, Model: c.model}
	for what, to := range map[string]*string{engine: &p.Library, purpose: &p.Model} {
		if *to == "" {
			_, *to, _ = store.Find(what, "")
		}
		if st, err := os.Stat(*to); err != nil || !st.IsDir() {
			return places{}, fmt.Errorf("%w: Smart Turn and ONNX Runtime", models.ErrNotThere)
		}
	}
	return p, nil
}

// New returns a Detector. A missing library or model is no error of New: Component says what is missing, and Judge gives no answers. The first
// question, or Warm, starts a process.
func New(c Config) (*Detector, error) {
	command, err := ownprocess.Command(processEnv, func() places {
		p, _ := c.find() // the process reports what is missing
		return p
	})
	if err != nil {
		return nil, fmt.Errorf("smartturn: %w", err)
	}
	pool := backend.NewPool(backend.Options{
		Stage: pipeline.StageEndOfTurn, Max: maxProcesses, Idle: 1, Busy: busy, Hang: hang, Start: startWithin, Command: command, Logger: c.Logger,
	})
	return &Detector{stage: ownprocess.Stage{
		Stage: pipeline.StageEndOfTurn, Name: name, Pool: pool, Install: Install,
		Find: func() error {
			_, err := c.find()
			return err
		},
	}}, nil
}

func (d *Detector) Component() pipeline.Component { return d.stage.Component() }

func (d *Detector) Warm(ctx context.Context) error { return d.stage.Warm(ctx) }

func (d *Detector) Judge(pcm []float32) <-chan float64 {
	answer := make(chan float64, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.open.Load() >= maxOpen {
		close(answer)
		return answer
	}
	d.open.Add(1)
	d.running.Go(func() {
		defer d.open.Add(-1)
		defer close(answer)
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		defer cancel()
		if p, ok := d.ask(ctx, pcm); ok {
			answer <- p
		}
	})
	return answer
}

// ask returns the model's answer. ok is false if there is none: the model is missing, is too slow, or has failed.
func (d *Detector) ask(ctx context.Context, pcm []float32) (p float64, ok bool) {
	t, err := d.stage.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return 0, false
	}
	defer func() { _ = t.Close() }() // an error was a result
	if t.Write(pcm) != nil || t.CloseInput() != nil {
		return 0, false
	}
	select {
	case r := <-t.Results():
		if r.Err != nil || len(r.Words) != 1 {
			return 0, false
		}
		return r.Words[0].Prob, true
	case <-ctx.Done():
		return 0, false
	}
}

func (d *Detector) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	err := d.stage.Pool.Close()
	d.running.Wait()
	return err
}
