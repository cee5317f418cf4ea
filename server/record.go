package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
)

// The recorders of events and transitions.

// recorder writes one JSON object a line. It is safe for concurrent use.
type recorder struct {
	log    *slog.Logger
	mu     sync.Mutex
	out    io.Writer
	failed bool
}

func newRecorder(out io.Writer, log *slog.Logger) *recorder { return &recorder{out: out, log: log} }

// write appends one line. After the first error it logs once that recording stopped.
func (r *recorder) write(line any) {
	text, err := json.Marshal(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	if err != nil && !r.failed {
		r.failed = true
		r.log.Error("recording stopped", "err", err)
	}
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

// step records one transition of one machine.
func (r *recorder) step(session string, st coord.Step) {
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
	}{
		time.Now(), session, st.Machine,
		named{st.From.Name(), st.From},
		named{st.Event.Name(), st.Event},
		st.Action, st.Why,
		named{st.To.Name(), st.To},
		effects,
	})
}
