package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// The recorders of events and transitions.

// Limits of the lines that wait to be written.
const (
	maxLines     = 8192
	maxLineBytes = 32 << 20
)

// recorder writes one JSON object a line, from a goroutine of its own: a slow disk does not hold up the calls. Lines that come when too
// many wait are dropped, and a line in their place says how many. A recorder is safe for concurrent use. Its owner closes it.
type recorder struct {
	name    string // of the flag that names the file, for metrics
	log     *slog.Logger
	out     io.Writer
	lines   chan []byte
	bytes   atomic.Int64  // how many bytes wait to be written
	dropped atomic.Int64  // lines since the last one that was written
	lost    atomic.Uint64 // all lines that were dropped
	quit    chan struct{}
	once    sync.Once
	done    chan struct{} // closed when nothing more is written
}

// newRecorder returns a recorder that writes to out. name is its name in the metrics.
func newRecorder(name string, out io.Writer, log *slog.Logger) *recorder {
	r := &recorder{name: name, log: log, out: out, lines: make(chan []byte, maxLines), quit: make(chan struct{}), done: make(chan struct{})}
	go r.run()
	return r
}

// close writes what waits. It returns when all is written, or with the error of ctx.
func (r *recorder) close(ctx context.Context) error {
	r.once.Do(func() { close(r.quit) })
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("server: the recording is not written to its end: %w", ctx.Err())
	}
}

// write appends one line.
func (r *recorder) write(line any) {
	text, err := json.Marshal(line)
	if err != nil {
		r.log.Error("a line of the recording cannot be written", "err", err)
		return
	}
	if r.bytes.Add(int64(len(text))) > maxLineBytes {
		r.drop(text)
		return
	}
	select {
	case r.lines <- append(text, '\n'):
	default:
		r.drop(text)
	}
}

// drop counts a line for which there is no room.
func (r *recorder) drop(text []byte) {
	r.bytes.Add(-int64(len(text)))
	r.dropped.Add(1)
	r.lost.Add(1)
}

// run writes the lines until the recorder is closed and nothing waits, or until a write fails. It logs once that recording stopped, and
// takes lines on, so that nobody waits.
func (r *recorder) run() {
	defer close(r.done)
	failed := false
	for {
		select {
		case text := <-r.lines:
			failed = r.put(text, failed)
		case <-r.quit:
			for {
				select {
				case text := <-r.lines:
					failed = r.put(text, failed)
				default:
					r.sayDropped(failed)
					return
				}
			}
		}
	}
}

// put writes a line, and before it how many were dropped. It reports whether writing has failed.
func (r *recorder) put(text []byte, failed bool) bool {
	r.bytes.Add(1 - int64(len(text)))
	if failed {
		return true
	}
	if r.sayDropped(false) {
		return true
	}
	if _, err := r.out.Write(text); err != nil {
		r.log.Error("recording stopped", "err", err)
		return true
	}
	return false
}

// sayDropped writes and logs how many lines were dropped since the last one. It reports whether writing has failed.
func (r *recorder) sayDropped(failed bool) bool {
	n := r.dropped.Swap(0)
	if n == 0 || failed {
		return failed
	}
	r.log.Warn("the recording lacks lines: the disk is too slow", "lines", n)
	_, err := fmt.Fprintf(r.out, "{\"t\":%q,\"dropped\":%d}\n", time.Now().Format(time.RFC3339Nano), n)
	if err != nil {
		r.log.Error("recording stopped", "err", err)
	}
	return err != nil
}

// event records one event of the protocol. A text that is not JSON is recorded as a string.
func (r *recorder) event(session, dir string, text []byte) {
	raw := json.RawMessage(text)
	if !json.Valid(text) {
		raw, _ = json.Marshal(string(text)) // a string always marshals
	}
	r.write(struct {
		T       time.Time       `json:"t"`
		Session string          `json:"session"`
		Dir     string          `json:"dir"`
		Event   json.RawMessage `json:"event"`
	}{time.Now(), session, dir, raw})
}

// named is a state, an event or an effect, with its name and its fields.
type named struct {
	Name string        `json:"name"`
	Data machine.Named `json:"data"`
}

// StepWriter writes the steps of machines that belong to no session into a trace, as Watch.Trace does with those of sessions. It is safe for concurrent use. Its owner
// closes it.
type StepWriter struct{ lines *recorder }

// NewStepWriter returns a StepWriter. out may also be Watch.Trace if its writes do not overlap, as those of a file do not.
func NewStepWriter(out io.Writer, log *slog.Logger) *StepWriter {
	return &StepWriter{newRecorder("trace", out, log)}
}

// Write writes one step of the machine with that name. For a machine whose states are in the store, found and stored are the revisions of its state before and after
// the step; 0 for none. It does not block: see Watch.
func (w *StepWriter) Write(name string, step coord.Step, found, stored uint64) {
	w.lines.machineStep(name, step, found, stored)
}

// Close writes what waits, until ctx is done.
func (w *StepWriter) Close(ctx context.Context) error { return w.lines.close(ctx) }

// step records one transition of one machine of a session.
func (r *recorder) step(session string, st coord.Step) { r.machineStep(session, st, 0, 0) }

func (r *recorder) machineStep(session string, st coord.Step, found, stored uint64) {
	effects := make([]named, len(st.Effects))
	for i, f := range st.Effects {
		effects[i] = named{f.Name(), f}
	}
	r.write(struct {
		T       time.Time `json:"t"`
		Session string    `json:"session"`
		Machine string    `json:"machine"`
		From    named     `json:"from"`
		Event   named     `json:"event"`
		Action  string    `json:"action,omitempty"`
		Why     string    `json:"why,omitempty"`
		To      named     `json:"to"`
		Effects []named   `json:"effects"`
		Found   uint64    `json:"found,omitempty"`
		Stored  uint64    `json:"stored,omitempty"`
	}{
		time.Now(), session, st.Machine,
		named{st.From.Name(), st.From},
		named{st.Event.Name(), st.Event},
		st.Action, st.Why,
		named{st.To.Name(), st.To},
		effects, found, stored,
	})
}

// took records an event that the machines take, how much of the response on air was sent, and the settings then.
func (r *recorder) took(session string, at playout.Position, e coord.Event, met coord.State) {
	of, event := part(e)
	r.write(struct {
		T       time.Time        `json:"t"`
		Session string           `json:"session"`
		Took    partOf           `json:"took"`
		At      playout.Position `json:"at"`
		Config  coord.Config     `json:"config"`
	}{time.Now(), session, partOf{of, named{event.Name(), event}}, at, met.Config})
}

// performed records an effect that a session has performed.
func (r *recorder) performed(session string, f coord.Effect) {
	of := ""
	switch f.(type) {
	case conn.Effect:
		of = "conn"
	case turn.Effect:
		of = "turn"
	case response.Effect:
		of = "response"
	case playout.Effect:
		of = "playout"
	case synthesis.Effect:
		of = "synthesis"
	case transcription.Effect:
		of = "transcription"
	case coord.Pause:
		of = "session"
	}
	r.write(struct {
		T         time.Time `json:"t"`
		Session   string    `json:"session"`
		Performed partOf    `json:"performed"`
	}{time.Now(), session, partOf{of, named{f.Name(), f}}})
}

// partOf is an event or an effect with its machine.
type partOf struct {
	Of string `json:"of"`
	named
}

// part returns the machine of an event, and the event without its wrapper. A change of the settings is of no machine.
func part(e coord.Event) (of string, event machine.Named) {
	switch e := e.(type) {
	case coord.OfConn:
		return "conn", e.Event
	case coord.OfTurn:
		return "turn", e.Event
	case coord.OfResponse:
		return "response", e.Event
	case coord.OfPlayout:
		return "playout", e.Event
	case coord.OfSynthesis:
		return "synthesis", e.Event
	case coord.OfTranscription:
		return "transcription", e.Event
	case coord.Configure:
		return "settings", e
	}
	return "", nil
}
