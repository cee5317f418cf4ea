package listenbench

// Smart Turn, as late as the processor time of its work makes it.

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/smartturn"
)

// judge is an endofturn.Judge whose answers come in the time of a turn. Only one goroutine may use it.
type judge struct {
	engine *smartturn.Engine
	runs   int
	took   time.Duration // processor time of all runs

	now    time.Duration // in the turn
	due    time.Duration // when the open answer comes
	p      float64
	answer chan float64 // nil: no answer is open
	err    error
}

// newJudge loads the model of the folder of models. It returns nil if the model is not there.
func newJudge() (*judge, error) {
	const folder = models + "smart-turn-v3"
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	e, err := smartturn.NewEngine(models+"sherpa-onnx-linux-amd64", folder, 1)
	return &judge{engine: e}, err
}

// judged returns what an estimator with Smart Turn says of the turns.
func judged(all []heard, j *judge) (found [][]estimate, err error) {
	for i := range all {
		found = append(found, all[i].estimates(endofturn.Judged(endofturn.New("en"), j.ask), j))
	}
	fmt.Printf("\n# With Smart Turn: %d runs, %.1f ms of processor time each\n\n", j.runs, 1000*j.took.Seconds()/float64(max(1, j.runs)))
	return found, j.err
}

// byHeard ends a turn when the newest answer of Smart Turn alone reaches the threshold, or after the fallback.
func byHeard(name string, threshold float64, fallback time.Duration) policy {
	p := byEstimate(name, threshold, fallback)
	return policy{name, func(s silence, found []estimate) (time.Duration, bool) {
		var heard []estimate
		for _, e := range found {
			if odds := e.values[len(e.values)-1].Value; !math.IsNaN(odds) {
				e.p = 1 / (1 + math.Exp(-odds))
				heard = append(heard, e)
			}
		}
		return p.cut(s, heard)
	}}
}

// ask implements endofturn.Judge.
func (j *judge) ask(pcm []float32) <-chan float64 {
	before := processorTime()
	p, err := j.engine.Probability(pcm)
	took := processorTime() - before
	j.runs++
	j.took += took
	j.err = errors.Join(j.err, err)
	j.p, j.due, j.answer = p, j.now+took, make(chan float64, 1)
	return j.answer
}

// at gives the answer if it is due.
func (j *judge) at(now time.Duration) {
	if j.now = now; j.answer != nil && now >= j.due {
		j.answer <- j.p
		j.answer = nil
	}
}

// reset begins another turn.
func (j *judge) reset() { j.now, j.answer = 0, nil }
