package trace

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// The whole session of a trace: its events go through the composition again, the machines must have taken its steps and no
// others, and the session must have performed its effects, each once and in order.

// composed is the composed session of a log. The zero value is for a log in which no event of it has come yet.
type composed struct {
	// alone: it is a response out of band, whose machines follow no event of a session.
	alone  bool
	taken  bool // an event has been taken
	state  coord.State
	due    []coord.Step // that the machines are to take now
	frames []frame      // whose effects are being performed; what performs an effect may have the machines take another event
	done   bool         // the trace has the effects that were performed
}

// frame has the effects of one event that are still to be performed.
type frame struct {
	of      string
	effects []machine.Named
}

func (w *composed) begin(of string, effects []machine.Named) {
	if len(effects) > 0 {
		w.frames = append(w.frames, frame{of, effects})
	}
}

func (c *Checker) takeEvent(w *composed, l line) error {
	e, err := l.Took.event()
	if err != nil {
		return err
	}
	if len(w.due) > 0 {
		return fmt.Errorf("it takes %s, before the %s has taken %s", e.Name(), w.due[0].Machine, coordtest.Text(w.due[0].Event))
	}
	if !w.taken {
		w.taken, w.state = true, coord.New(*l.Config)
	}
	if w.state.Config != *l.Config {
		return fmt.Errorf("its settings are %+v, and nothing changed them from %+v", *l.Config, w.state.Config)
	}
	from := w.state
	var effects []coord.Effect
	w.state, effects, w.due = coord.Next(from, *l.At, e)
	w.begin(e.Name(), effects)
	known := false
	for _, s := range c.slices {
		has, what := s.Ask(from, e, w.state, effects)
		if what != "" {
			return errors.New("it is no step of the specification " + what)
		}
		known = known || has
	}
	switch {
	case len(c.slices) == 0:
	case known:
		c.figures.Composed++
	case len(w.due) == 1: // the specification of that machine has its step
		c.figures.Alone++
	default:
		c.figures.ComposedBeyond++
	}
	return nil
}

// step compares a step of one machine in the log with the composition's.
func (w *composed) step(machine string, st step) error {
	if w.alone {
		return nil
	}
	if len(w.due) == 0 {
		return errors.New("no event led to this step")
	}
	want := w.due[0]
	w.due = w.due[1:]
	is := coord.Step{Machine: machine, From: st.from, Event: st.event, To: st.to, Effects: st.effects, Action: st.action, Why: st.why}
	if len(is.Effects) == 0 && len(want.Effects) == 0 {
		is.Effects, want.Effects = nil, nil
	}
	if !reflect.DeepEqual(is, want) {
		return fmt.Errorf("the composition has the %s take %s here", want.Machine, coordtest.Text(want.Event))
	}
	return nil
}

// own has the effects of the composition itself.
var own = map[string]reflect.Type{"Pause": reflect.TypeFor[coord.Pause]()}

// performed checks an effect that the session has performed, according to the log.
func (w *composed) performed(l line) error {
	effects := own
	if l.Performed.Of != "session" {
		k, known := kinds[l.Performed.Of]
		if !known {
			return errors.New("there is no such machine")
		}
		effects = k.effects
	}
	f, err := l.Performed.of(effects)
	if err != nil {
		return err
	}
	w.done = true
	last := len(w.frames) - 1
	switch {
	case last < 0:
		return fmt.Errorf("it performs %s, for which nothing asked", coordtest.Text(f))
	case w.frames[last].effects[0] != f:
		return fmt.Errorf("it performs %s, where %s of %s is due", coordtest.Text(f), coordtest.Text(w.frames[last].effects[0]), w.frames[last].of)
	}
	if w.frames[last].effects = w.frames[last].effects[1:]; len(w.frames[last].effects) == 0 {
		w.frames = w.frames[:last]
	}
	return nil
}

// ends returns an error if something is missing at the end of a log. A log may end while a session goes on.
func (w *composed) ends() error {
	_, closed := w.state.Conn.(conn.Closed)
	switch {
	case !closed:
		return nil
	case len(w.due) > 0:
		return fmt.Errorf("the %s never takes %s", w.due[0].Machine, coordtest.Text(w.due[0].Event))
	case w.done && len(w.frames) > 0:
		return fmt.Errorf("it never performs %s of %s", coordtest.Text(w.frames[0].effects[0]), w.frames[0].of)
	}
	return nil
}

func (p partOf) event() (coord.Event, error) {
	if p.Of == "settings" {
		v, err := p.of(map[string]reflect.Type{"Configure": reflect.TypeFor[coord.Configure]()})
		if err != nil {
			return nil, err
		}
		return v.(coord.Configure), nil
	}
	k, known := kinds[p.Of]
	if !known {
		return nil, errors.New("there is no machine " + p.Of)
	}
	v, err := p.of(k.events)
	if err != nil {
		return nil, err
	}
	switch e := v.(type) {
	case conn.Event:
		return coord.OfConn{Event: e}, nil
	case turn.Event:
		return coord.OfTurn{Event: e}, nil
	case response.Event:
		return coord.OfResponse{Event: e}, nil
	case playout.Event:
		return coord.OfPlayout{Event: e}, nil
	case synthesis.Event:
		return coord.OfSynthesis{Event: e}, nil
	case transcription.Event:
		return coord.OfTranscription{Event: e}, nil
	}
	return nil, errors.New("it is an event of no machine")
}
