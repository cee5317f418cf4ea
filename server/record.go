package server

import (
	"encoding/json"
	"io"
	"log/slog"
	"sync"
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

// part is the machine of an event, and the event without its wrapper. A change of the settings is of no machine.
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
